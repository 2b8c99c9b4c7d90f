"""A whole hub for tests that need real processes: started as a user starts it, stopped and checked for leftovers."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import httpx

from tests.services import wait_until

ROOT = Path(__file__).resolve().parent.parent


@dataclass
class Hub:
    """A running hub: its address, what it wrote of itself, and a client for its API."""

    data: Path
    process: subprocess.Popen
    log: Path

    @property
    def up(self) -> dict:
        return json.loads((self.data / "up.json").read_text())

    @property
    def url(self) -> str:
        return self.up["url"]

    @cached_property
    def admin_token(self) -> str:
        return self.command("token", "create", "person", "admin")

    def client(self, token: str | None = None, **options) -> httpx.Client:
        """A client with ``token``, or as the first admin, who may register and read."""
        headers = {"Authorization": f"Bearer {token or self.admin_token}"}
        return httpx.Client(base_url=self.url, headers=headers, timeout=30, **options)

    def command(self, *words: str) -> str:
        """The output of a management command, run beside the hub."""
        done = subprocess.run([sys.executable, "manage.py", *words], cwd=ROOT, env=environment(self.data), check=True,
                              capture_output=True, text=True)  # fmt: skip
        return done.stdout.strip()

    def register(self, slug: str, **body) -> str:
        """Registers an agent and returns its own token."""
        with self.client() as client:
            answer = client.put(f"/api/agents/{slug}", json={"status": "idle", **body})
        assert answer.status_code == 201, answer.text
        return answer.json()["token"]

    def stop(self) -> int:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        return self.process.wait(20)


def environment(data: Path, **more: str) -> dict[str, str]:
    """The environment of a hub of its own: nothing of the tests' settings leaks into it."""
    mine = ("DJANGO_SETTINGS_MODULE", "REDIS_URL", "DATABASE_URL", "AGORA_SECRET_KEY")
    kept = {name: value for name, value in os.environ.items() if name not in mine}
    return {**kept, "AGORA_DATA": str(data), **more}


def start(data: Path, *words: str, **more: str) -> Hub:
    """Starts a hub on a free port and waits until it says that it is ready."""
    log = data / "test-up.log"
    with log.open("w") as output:
        process = subprocess.Popen([sys.executable, "manage.py", "up", "--port", "0", "--data", str(data), *words],
                                   cwd=ROOT, env=environment(data, **more), stdout=output, stderr=output)  # fmt: skip
    hub = Hub(data, process, log)

    def ready():
        assert process.poll() is None, f"the hub ended at its start:\n{log.read_text()}"
        return (data / "up.json").exists()

    wait_until(ready, 60, "the hub's start")
    return hub


@contextmanager
def running(data: Path, *words: str, **more: str):
    hub = start(data, *words, **more)
    try:
        yield hub
    finally:
        hub.stop()
