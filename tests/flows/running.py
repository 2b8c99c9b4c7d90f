"""`agora run-node` as its own process against a real hub, with a command that a test lets go on."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

from tests import hubs

# Says what it was told. A prompt that begins with "wait" is answered once the gate was opened; "die" never.
ANSWERS = """
import json, os, signal, sys
told = json.load(sys.stdin)
body = told["prompt"]["body"]
if body.startswith("wait"):
    open(sys.argv[1]).read()
if body.startswith("die"):
    os.kill(os.getpid(), signal.SIGKILL)
print(json.dumps({"engram": told["engram"], "asked": body, "by": told["prompt"]["caller"],
                  "before": [each["prompt"] for each in told["history"]]}))
"""


class Runner:
    """The runners of one agent, logged in with ``token`` in a home of their own."""

    def __init__(self, home: Path, url: str, token: str):
        home.mkdir()
        self.env = {"HOME": str(home), "PATH": os.environ["PATH"], "PYTHONPATH": str(hubs.ROOT)}
        self.gate, self.processes = home / "gate", []
        os.mkfifo(self.gate)
        words = ["login", "--hub", url, "--token-stdin"]
        subprocess.run(self._line(*words), env=self.env, input=token, text=True, check=True, capture_output=True)

    def start(self, *options: str) -> subprocess.Popen:
        command = [sys.executable, "-c", ANSWERS, str(self.gate)]
        line = self._line("run-node", *options, "--", *command)
        process = subprocess.Popen(line, env=self.env, stderr=subprocess.PIPE, text=True)
        self.processes.append(process)
        return process

    def open_gate(self) -> None:
        """Lets the command that waits go on; waits for one to wait."""
        self.gate.open("w").close()

    def close(self) -> None:
        for process in self.processes:
            process.kill()
            process.communicate()
        # what a killed runner left behind
        os.close(os.open(self.gate, os.O_RDWR | os.O_NONBLOCK))

    @staticmethod
    def _line(*words: str) -> list[str]:
        return [sys.executable, "-m", "agora_node", *words]


@contextmanager
def enrolled(hub: hubs.Hub, slug: str, folder: Path):
    """A runner that is logged in with the token of a new node, and gone afterwards."""
    with hub.client() as admin:
        token = admin.post("/api/nodes", json={"slug": slug}).raise_for_status().json()["token"]
    runner = Runner(folder / slug, hub.url, token)
    try:
        yield runner
    finally:
        runner.close()
