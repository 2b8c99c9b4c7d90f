"""Starts a supervisor over stand-in children in a process of its own."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.services import wait_until as until

PROGRAM = Path(__file__).with_name("supervised.py")


def is_alive(pid: int) -> bool:
    """Whether the process runs; one that ended and waits to be collected does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state not in "ZX"


class Supervised:
    """The running program, its children's pids as last written, and its output so far."""

    def __init__(self, folder: Path, case: dict):
        self.pid_file = folder / "pids.json"
        self.out, self.err = folder / "out.txt", folder / "err.txt"
        file = folder / "case.json"
        file.write_text(json.dumps({"pids": str(self.pid_file), **case}))
        with self.out.open("w") as out, self.err.open("w") as err:
            self.process = subprocess.Popen([sys.executable, str(PROGRAM), str(file)], stdout=out, stderr=err)
        self.names = {child["name"] for child in case["children"]}

    def pids(self) -> dict[str, int]:
        """The children's pids, once all have been started."""
        return until(lambda: self.pid_file.exists() and self._complete())

    def _complete(self) -> dict[str, int] | None:
        pids = json.loads(self.pid_file.read_text())
        return pids if set(pids) == self.names else None

    def printed(self) -> str:
        return self.out.read_text()


@pytest.fixture
def supervised(tmp_path):
    """Start a case; whatever the test leaves running is ended."""
    started = []

    def start(children: list[dict], **case) -> Supervised:
        started.append(Supervised(tmp_path, {"children": children, **case}))
        return started[-1]

    yield start
    for running in started:
        running.process.kill()
        running.process.wait()
