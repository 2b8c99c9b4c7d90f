"""Runs a long step and keeps telling, on stderr, what is being done and for how many seconds."""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

# A terminal is redrawn; a log only gets a line now and then.
TERMINAL_SECONDS, LOG_SECONDS = 0.2, 10.0


class Outcome:
    """How a step ended: its exit code, everything it printed, and the seconds it took."""

    def __init__(self, code: int, text: str, seconds: float):
        self.code = code
        self.text = text
        self.seconds = seconds

    @property
    def ok(self) -> bool:
        return self.code == 0

    def last_words(self, lines: int = 6) -> str:
        return "\n".join(self.text.strip().splitlines()[-lines:])


def step(what: str, command: list[str], cwd: Path | None = None) -> Outcome:
    """Run `command` to its end under the heading `what`; a command that cannot be started is an outcome too."""
    started = time.monotonic()
    with tempfile.TemporaryFile() as printed:
        try:
            process = subprocess.Popen(
                command, cwd=cwd, stdin=subprocess.DEVNULL, stdout=printed, stderr=subprocess.STDOUT
            )
        except OSError as error:
            return Outcome(127, str(error), 0.0)
        _watch(what, process, started)
        printed.seek(0)
        text = printed.read().decode(errors="replace")
    return Outcome(process.returncode, text, time.monotonic() - started)


def _watch(what: str, process: subprocess.Popen, started: float) -> None:
    terminal = sys.stderr.isatty()
    pause = TERMINAL_SECONDS if terminal else LOG_SECONDS
    start, end = ("\r", "") if terminal else ("", "\n")
    _write(f"{start}agora: {what} ...{end}")
    try:
        while not _ended(process, pause):
            _write(f"{start}agora: {what} ... {time.monotonic() - started:.0f} s{end}")
    except BaseException:
        process.kill()
        process.wait()
        raise
    word = "done" if process.returncode == 0 else "not done"
    _write(f"{start}agora: {what}: {word} in {time.monotonic() - started:.1f} s\n")


def _ended(process: subprocess.Popen, seconds: float) -> bool:
    try:
        process.wait(timeout=seconds)
    except subprocess.TimeoutExpired:
        return False
    return True


def _write(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()
