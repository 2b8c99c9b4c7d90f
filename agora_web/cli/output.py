"""Everything the supervisor prints: its own sentences and the children's lines, each under its name."""

import os
import select

COLOURS = (36, 32, 33, 35, 34, 31)
# A pipe that select() calls writable takes at least this much without blocking.
SAFE_WRITE = 4096
WIDTH = 8
# Lines that tell a person nothing: what valkey and celery say at their ends, and about the kernel and root.
NOISE = (
    "Received SIGTERM scheduling shutdown",
    "is now ready to exit, bye bye",
    "Memory overcommit must be enabled",
    "SecurityWarning: You're running the worker with superuser privileges",
    "absolutely not recommended!",
    "Please specify a different user using the --uid option.",
    "User information: uid=",
    "_warn_or_raise_security_error(",
    "worker: Warm shutdown (MainProcess)",
    "warnings.warn(SecurityWarning(ROOT_DISCOURAGED",
)
# A child's line must not steer the terminal: control characters are shown as a dot.
INERT = {code: "." for code in (*range(9), *range(10, 32), *range(127, 160))}


class Output:
    """Writes whole lines to `descriptor` and never blocks: a reader that stalls loses lines, not the hub."""

    def __init__(self, descriptor: int):
        self.descriptor = descriptor
        self.coloured = os.isatty(descriptor) and "NO_COLOR" not in os.environ
        self.names: list[str] = []
        self.lost = 0

    def say(self, text: str) -> None:
        """Print the supervisor's own words, one line or several."""
        for line in text.splitlines():
            self._write(line)

    def relay(self, name: str, line: str) -> None:
        """Print one line of the child `name`, unless it is known noise."""
        line = line.rstrip().translate(INERT)
        if line and not any(noise in line for noise in NOISE):
            self._write(self._prefix(name) + line)

    def _prefix(self, name: str) -> str:
        label = f"{name:<{WIDTH}}| "
        if not self.coloured:
            return label
        if name not in self.names:
            self.names.append(name)
        return f"\x1b[{COLOURS[self.names.index(name) % len(COLOURS)]}m{label}\x1b[0m"

    def _write(self, line: str) -> None:
        if not select.select([], [self.descriptor], [], 0)[1]:
            self.lost += 1
            return
        if self.lost:
            line = f"({self.lost} lines were lost: nobody read them in time)\n{line}"
            self.lost = 0
        try:
            os.write(self.descriptor, line.encode(errors="replace")[: SAFE_WRITE - 1] + b"\n")
        except OSError:
            # Whoever read this is gone; the hub goes on without an audience.
            pass
