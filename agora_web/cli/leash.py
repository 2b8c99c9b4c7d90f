"""Lets no child outlive the supervisor, even when it is killed with SIGKILL."""

import ctypes
import os
import signal
import subprocess
import sys
from typing import Callable

PR_SET_PDEATHSIG = 1


def make_leash() -> "KernelLeash | WatchdogLeash":
    """The kernel's own leash where there is one (Linux), elsewhere a small process that watches."""
    return KernelLeash() if sys.platform == "linux" else WatchdogLeash()


class KernelLeash:
    """Linux kills the child when its parent dies. SIGKILL, because a hung child may not heed a softer word."""

    def __init__(self):
        # Looked up here: between fork and exec nothing may be imported.
        self._prctl = ctypes.CDLL(None, use_errno=True).prctl

    def before_exec(self) -> Callable[[], None]:
        """What the forked child runs before it becomes its program."""
        parent, prctl = os.getpid(), self._prctl

        def bind() -> None:
            prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
            # The parent may have died before the line above.
            if os.getppid() != parent:
                os._exit(1)

        return bind

    def hold(self, pid: int) -> None:
        """Nothing to do: the kernel holds it."""

    def release(self, pid: int) -> None:
        """Nothing to do: the kernel forgets it."""

    def close(self) -> None:
        """Nothing to do."""


class WatchdogLeash:
    """A process of its own that reads a pipe; when the pipe ends it kills the groups that are still held."""

    def __init__(self):
        reader, self._writer = os.pipe()
        command = [sys.executable, "-I", "-S", os.path.join(os.path.dirname(__file__), "watchdog.py"), str(reader)]
        self._process = subprocess.Popen(command, pass_fds=[reader], stdin=subprocess.DEVNULL, start_new_session=True)
        os.close(reader)

    def before_exec(self) -> None:
        """Nothing needs to run in the child."""

    def hold(self, pid: int) -> None:
        """From now on the group `pid` dies with the supervisor."""
        self._tell(f"+{pid}\n")

    def release(self, pid: int) -> None:
        """The group `pid` has ended; its number may be given to somebody else."""
        self._tell(f"-{pid}\n")

    def close(self) -> None:
        """Let the watchdog end; what is still held is killed."""
        os.close(self._writer)
        self._process.wait()

    def _tell(self, line: str) -> None:
        try:
            os.write(self._writer, line.encode())
        except BrokenPipeError:
            # Somebody killed the watchdog. The hub goes on; only its own SIGKILL would leave children.
            pass
