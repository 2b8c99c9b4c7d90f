"""What tells other programs about the running hub: the lock on its data folder, and `up.json`."""

import contextlib
import fcntl
import json
import os
from pathlib import Path
from typing import Iterator

from .errors import Refusal


@contextlib.contextmanager
def usable(data: Path) -> Iterator[None]:
    """Turns what the file system refuses inside the folder `data` into a Refusal."""
    try:
        yield
    except OSError as error:
        raise Refusal(f"the data folder {data} cannot be used: {error.strerror}.") from None


class Claim:
    """The exclusive hold on a data folder; it ends with the process, however that ends."""

    def __init__(self, data: Path):
        """Take the folder, making it when absent. Raises Refusal when a hub runs on it or it cannot be written."""
        self.data = data
        with usable(data):
            # It holds secrets: for this user alone, where we are the ones to make it.
            data.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._lock = os.open(data / "up.lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Refusal(self._taken()) from None
        # Left by a hub that was killed: a program that waits for up.json must not read the old one.
        self.withdraw()

    def sign(self, url: str) -> None:
        """Leave a note in the lock for whoever starts a second hub. Raises Refusal when there is no room for it."""
        with usable(self.data):
            os.ftruncate(self._lock, 0)
            os.pwrite(self._lock, json.dumps({"pid": os.getpid(), "url": url}).encode(), 0)

    def publish(self, handle: dict) -> None:
        """Write `up.json` (mode 0600) in one step: a reader sees the old one or the new one, never a part.

        Raises Refusal when it cannot be written; the old one stays.
        """
        fresh = self.data / "up.json.new"
        with usable(self.data):
            fresh.unlink(missing_ok=True)
            with open(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
                json.dump(handle, file, indent=1)
            fresh.replace(self.data / "up.json")

    def withdraw(self) -> None:
        """Remove `up.json`."""
        (self.data / "up.json").unlink(missing_ok=True)

    def _taken(self) -> str:
        advice = "Stop it first, or start this one with another --data."
        try:
            note = json.loads(os.pread(self._lock, 4096, 0))
            where = f"process {note['pid']}, {note['url']}"
        except (ValueError, KeyError, TypeError):
            where = "it is just starting"
        return f"a hub already runs on {self.data} ({where}). {advice}"
