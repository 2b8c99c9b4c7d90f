"""One Python environment folder: is it whole, what was installed into it, and who is using it."""

import contextlib
import fcntl
import hashlib
import json
import os
import sys
from pathlib import Path
from typing import Iterator

# Both locks lie inside the folder, because it is the one place that version control already ignores.
INSTALL_LOCK = ".agora-install.lock"
USE_LOCK = ".agora-use.lock"
STAMP = ".agora-stamp.json"


def running_version() -> str:
    """The running Python's version as `3.11`: packages are bound to this much of it and to no more."""
    return "%d.%d" % sys.version_info[:2]


class Environment:
    """A virtual environment at `folder`, for the Python `version` (`3.11`)."""

    def __init__(self, folder: Path, version: str):
        self.folder = folder
        self.version = version

    @property
    def python(self) -> Path:
        return self.folder / "bin" / "python"

    def is_running(self) -> bool:
        """Whether this very process runs inside the environment."""
        return self.folder.is_dir() and os.path.samefile(self.folder, sys.prefix)

    def is_usable(self) -> bool:
        """Whether it has a Python that can be started (its base may have been removed), of the wanted version."""
        return os.access(self.python, os.X_OK) and self._made_for() == self.version

    def fits(self, requirements: Path) -> bool:
        """Whether `requirements` is installed, by the stamp alone: no process is started."""
        return self.is_usable() and self._stamps().get(requirements.name) == self._digest(requirements)

    def stamp(self, *requirements: Path) -> None:
        """Note that these files are installed."""
        stamps = self._stamps() | {file.name: self._digest(file) for file in requirements}
        fresh = self.folder / (STAMP + ".new")
        fresh.write_text(json.dumps(stamps, indent=1), encoding="utf-8")
        fresh.replace(self.folder / STAMP)

    def unstamp(self) -> None:
        """From here on the environment is half-made until it is stamped again."""
        (self.folder / STAMP).unlink(missing_ok=True)

    @contextlib.contextmanager
    def installing(self) -> Iterator[None]:
        """Let one process at a time change the environment; others wait here."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with open(self.folder / INSTALL_LOCK, "w", encoding="utf-8") as lock:
            if not _try_lock(lock.fileno(), fcntl.LOCK_EX):
                print("agora: another start is preparing the environment; waiting for it.", file=sys.stderr, flush=True)
                fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def hold(self) -> int:
        """Keep the environment from being remade while this process lives; returns the descriptor that does it."""
        lock = os.open(self.folder / USE_LOCK, os.O_RDWR | os.O_CREAT, 0o600)
        fcntl.flock(lock, fcntl.LOCK_SH)
        return lock

    def is_held(self) -> bool:
        """Whether a hub is running out of this environment."""
        path = self.folder / USE_LOCK
        if not path.exists():
            return False
        with open(path, encoding="utf-8") as lock:
            return not _try_lock(lock.fileno(), fcntl.LOCK_EX)

    def _stamps(self) -> dict[str, str]:
        try:
            return dict(json.loads((self.folder / STAMP).read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            return {}

    def _digest(self, requirements: Path) -> str:
        return hashlib.sha256(requirements.read_bytes() + self.version.encode()).hexdigest()

    def _made_for(self) -> str:
        try:
            lines = (self.folder / "pyvenv.cfg").read_text(encoding="utf-8").splitlines()
        except OSError:
            return ""
        settings = {key.strip(): value.strip() for key, _, value in (line.partition("=") for line in lines)}
        version = settings.get("version") or settings.get("version_info", "")
        return ".".join(version.split(".")[:2])


def _try_lock(descriptor: int, kind: int) -> bool:
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
