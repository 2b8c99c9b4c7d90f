"""One child process: started in its own group, its lines relayed, its group killed when it ends."""

import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Callable, NamedTuple

LONGEST_LINE = 64 * 1024


class Spec(NamedTuple):
    """What to run.

    name: its name in the output and in up.json. command: program and arguments. env: its whole environment.
    cwd: its folder. pass_fds: descriptors it inherits. foundation: the others lean on it, so it is stopped last.
    """

    name: str
    command: list[str]
    env: dict[str, str]
    cwd: Path
    pass_fds: tuple[int, ...] = ()
    foundation: bool = False


class Child:
    """A running, or ended, child. `code` is None while it runs."""

    def __init__(self, spec: Spec, loop, leash, relay: Callable[[str, str], None], listen_apart: bool = False):
        """relay(name, line) gets each line; with `listen_apart` stdout is kept in `answer` and only stderr relayed."""
        self.spec = spec
        self.code: int | None = None
        self.answer = b""
        self._loop, self._leash, self._relay = loop, leash, relay
        self._rests: dict[int, bytes] = {}
        self.started = time.monotonic()
        self._process = self._spawn(listen_apart)
        self.pid = self._process.pid
        leash.hold(self.pid)
        self._pipes = [pipe for pipe in (self._process.stdout, self._process.stderr) if pipe]
        for pipe in self._pipes:
            os.set_blocking(pipe.fileno(), False)
            loop.watch(pipe.fileno(), lambda pipe=pipe: self._read(pipe))
        self._apart = self._process.stdout if listen_apart else None

    def _spawn(self, listen_apart: bool) -> subprocess.Popen:
        return subprocess.Popen(
            self.spec.command,
            env=self.spec.env,
            cwd=self.spec.cwd,
            pass_fds=self.spec.pass_fds,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE if listen_apart else subprocess.STDOUT,
            # Its own session: a Ctrl-C at the terminal reaches the supervisor alone, which stops all in order.
            start_new_session=True,
            preexec_fn=self._leash.before_exec(),
        )

    def has_ended(self) -> bool:
        """Whether it has ended; when it just did, what is left of its group is killed and its last lines relayed."""
        if self.code is None and self._process.poll() is not None:
            self.signal_group(signal.SIGKILL)
            self._leash.release(self.pid)
            for pipe in list(self._pipes):
                self._read(pipe)
                self._close(pipe)
            self.code = self._process.returncode
        return self.code is not None

    def lived(self) -> float:
        """Seconds since it was started."""
        return time.monotonic() - self.started

    def ask_to_stop(self) -> None:
        """SIGTERM to the program itself, which knows how to end its own helpers."""
        if not self.has_ended():
            self._process.send_signal(signal.SIGTERM)

    def signal_group(self, number: int) -> None:
        """Send a signal to everything in its group, unless it ended: its number may be somebody else's by now."""
        if self.code is not None:
            return
        try:
            os.killpg(self.pid, number)
        except (ProcessLookupError, PermissionError):
            pass

    def _read(self, pipe) -> None:
        try:
            while data := os.read(pipe.fileno(), 65536):
                self._take(pipe, data)
        except BlockingIOError:
            return
        self._close(pipe)

    def _take(self, pipe, data: bytes) -> None:
        if pipe is self._apart:
            self.answer += data
            return
        *lines, rest = (self._rests.get(pipe.fileno(), b"") + data).split(b"\n")
        if len(rest) > LONGEST_LINE:
            lines, rest = [*lines, rest], b""
        self._rests[pipe.fileno()] = rest
        for line in lines:
            self._relay(self.spec.name, line.decode(errors="replace"))

    def _close(self, pipe) -> None:
        if pipe not in self._pipes:
            return
        self._pipes.remove(pipe)
        self._loop.unwatch(pipe.fileno())
        if rest := self._rests.pop(pipe.fileno(), b""):
            self._relay(self.spec.name, rest.decode(errors="replace"))
        pipe.close()
