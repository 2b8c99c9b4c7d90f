"""Waits for the end of a pipe and then kills the process groups named in it. Run as a program: `watchdog.py FD`."""

import os
import signal
import sys


def watch(lines, kill=os.killpg) -> None:
    """Read `+pid` (hold) and `-pid` (release) lines to their end, then kill every group still held."""
    held: set[int] = set()
    for line in lines:
        if line.startswith("+"):
            held.add(int(line[1:]))
        else:
            held.discard(int(line[1:]))
    for pid in held:
        try:
            kill(pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            continue


if __name__ == "__main__":
    with open(int(sys.argv[1]), encoding="ascii") as pipe:
        watch(pipe)
