"""A command that answers one prompt: JSON on its standard input, the answer on its standard output."""

import json
import os
import signal
import subprocess
import threading
from collections import namedtuple
from contextlib import suppress

from agora_node import clock
from agora_node.words import harmless_text, span

LARGEST_ANSWER = 256 * 1024
TAIL, TAIL_LINES = 1500, 20
CHUNK = 65536
LAST_BYTES = 1.0  # seconds that the end itself, and reading what was written by then, may take
HIDDEN = ("AGORA_TOKEN",)

# One of the two is None.
Outcome = namedtuple("Outcome", "answer error")


class Child:
    """`argv`, started with `told` on its input, in a process group of its own: a signal from the terminal spares it.

    It may take `seconds`. What it leaves running in its group ends with it. The hub's token is not in its environment.
    """

    def __init__(self, argv, told, seconds):
        self._argv, self._seconds = argv, seconds
        self._due = clock.elapsed() + seconds
        self._out, self._err, self._too_long = bytearray(), bytearray(), False
        self._process, self._trouble = None, None
        self._start(json.dumps(told).encode("ascii") + b"\n")

    def _start(self, told):
        env = {name: value for name, value in os.environ.items() if name not in HIDDEN}
        pipe = subprocess.PIPE
        try:
            self._process = subprocess.Popen(
                self._argv, stdin=pipe, stdout=pipe, stderr=pipe, env=env, start_new_session=True
            )
        except OSError as error:
            self._trouble = f"{self._argv[0]} cannot be started: {error.strerror}"
            return
        work = ((self._tell, (told,)), (self._hear, ()), (self._overhear, ()))
        self._threads = [threading.Thread(target=target, args=args, daemon=True) for target, args in work]
        for thread in self._threads:
            thread.start()

    def wait(self, seconds):
        """The Outcome, or None when it goes on after `seconds`."""
        if self._process is None:
            return Outcome(None, self._trouble)
        try:
            code = self._process.wait(min(seconds, max(0.0, self._due - clock.elapsed())))
        except subprocess.TimeoutExpired:
            if self._too_long:
                return self.stop(f"its answer is longer than {LARGEST_ANSWER // 1024} kB")
            return self.stop(f"it took longer than {span(self._seconds)}") if clock.elapsed() >= self._due else None
        self._end()
        return self._outcome(code)

    def stop(self, why):
        """End it and all it started at once; returns the Outcome that says `why`."""
        if self._process is not None:
            self._end()
        return Outcome(None, why)

    def _end(self):
        until = clock.elapsed() + LAST_BYTES
        # One that has become another user may not be ours to end: it is left alone then, not waited for.
        with suppress(ProcessLookupError, PermissionError, subprocess.TimeoutExpired):
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait(LAST_BYTES)
        for thread in self._threads:
            thread.join(max(0.0, until - clock.elapsed()))

    def _outcome(self, code):
        if code:
            last = bytes(self._err).decode("utf-8", "replace").split("\n")[-TAIL_LINES - 1 :]
            tail = harmless_text("\n".join(last).strip())[-TAIL:]
            return Outcome(None, f"{_ended(code)}{f': {tail}' if tail else ''}")
        if self._too_long:
            return Outcome(None, f"its answer is longer than {LARGEST_ANSWER // 1024} kB")
        try:
            text = bytes(self._out).decode("utf-8").rstrip("\r\n")
        except UnicodeDecodeError:
            return Outcome(None, "its answer is not UTF-8 text")
        return Outcome(text, None) if text.strip() else Outcome(None, "it answered nothing")

    def _tell(self, told):
        # A command need not read what it is told.
        with suppress(OSError):
            with self._process.stdin as stdin:
                stdin.write(told)

    def _hear(self):
        while chunk := self._process.stdout.read1(CHUNK):
            if len(self._out) + len(chunk) > LARGEST_ANSWER:
                self._too_long = True
                return
            self._out += chunk

    def _overhear(self):
        while chunk := self._process.stderr.read1(CHUNK):
            self._err = (self._err + chunk)[-TAIL:]


def _ended(code):
    if code > 0:
        return f"exit code {code}"
    try:
        return f"it was ended by {signal.Signals(-code).name}"
    except ValueError:
        return f"it was ended by signal {-code}"
