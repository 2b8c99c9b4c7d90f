"""Letters on their way to the hub, kept on this machine in the order they were written.

A letter is stored before it is first sent, and removed once the hub has answered for it, so neither a lost answer nor
a killed process loses one. It holds no token. Who sends, and when: carrying.py.
"""

import json
import os
import sqlite3
from collections import namedtuple
from contextlib import contextmanager
from datetime import datetime, timezone

from agora_node.config import prepare
from agora_node.errors import HubError, UsageError

LARGEST = 64 * 1024 * 1024
LOCK_TIMEOUT = 10.0
TABLE = """
CREATE TABLE IF NOT EXISTS outbox (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, hub TEXT NOT NULL, speaker TEXT NOT NULL,
    letter TEXT NOT NULL, kept_at TEXT NOT NULL, refusal TEXT
)"""
COLUMNS = "id, hub, speaker, letter, kept_at, refusal"


class OutboxFull(UsageError):
    """Nothing was stored: the disk space that the outbox may take is used up."""


class Entry(namedtuple("Entry", "id hub speaker letter kept_at refusal")):
    """`letter` is the body of the call, `refusal` what the hub said against it as a dict (None: it waits to be sent)."""

    @property
    def to(self):
        """Whom it is for, as one text."""
        to = self.letter["to"]
        return to if isinstance(to, str) else ", ".join(to)

    @property
    def error(self):
        """The refusal as the error it was when it came."""
        return HubError(**self.refusal)

    @property
    def why(self):
        """The refusal in words."""
        late = self.letter.get("expires_at") and self.error.detail.get("field") == "expires_at"
        return f"it expired at {self.letter['expires_at']}, before it was sent" if late else str(self.error)


class Outbox:
    """The outbox in the SQLite file `path`, made when missing (0600). A context manager; every method may raise UsageError."""

    def __init__(self, path):
        self.path = path
        prepare(path)
        with self._told():
            _make(path)
            self._db = sqlite3.connect(path, timeout=LOCK_TIMEOUT, isolation_level=None)
            # EXTRA: a commit is on the disk when it returns, the removal of the journal that makes it one included.
            self._db.execute("PRAGMA synchronous = EXTRA")
            self._db.execute(TABLE)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._db.close()

    def add(self, key, sender, letter):
        """Store `letter` (a dict) of `sender` under `key`, behind all others; raises OutboxFull."""
        text, now = json.dumps(letter), datetime.now(timezone.utc).isoformat(timespec="seconds")
        with self._at_once():
            if self._taken() + len(text) > LARGEST:
                raise OutboxFull(
                    f"the outbox is full ({LARGEST >> 20} MiB in {self.path}), nothing was kept: see `agora outbox`, "
                    "and send or forget what it holds"
                )
            self._db.execute(f"INSERT INTO outbox ({COLUMNS}) VALUES (?, ?, ?, ?, ?, NULL)", (key, *sender, text, now))

    def _taken(self):
        """Bytes of the file in use; pages that became free are used again."""
        pages, free, size = (self._db.execute(f"PRAGMA {each}").fetchone()[0] for each in
                             ("page_count", "freelist_count", "page_size"))  # fmt: skip
        return (pages - free) * size

    def first(self, sender):
        """The Entry of `sender` that is to be sent next, or None."""
        found = self._entries("WHERE hub = ? AND speaker = ? AND refusal IS NULL ORDER BY number LIMIT 1", sender)
        return found[0] if found else None

    def get(self, key):
        """The Entry under `key`, or None."""
        found = self._entries("WHERE id = ?", (key,))
        return found[0] if found else None

    def refused(self, sender):
        """How many of `sender` were refused."""
        counted = "SELECT count(*) FROM outbox WHERE hub = ? AND speaker = ? AND refusal IS NOT NULL"
        with self._told():
            return self._db.execute(counted, sender).fetchone()[0]

    def all(self):
        """Every Entry in order, those of other senders and the refused ones too."""
        return self._entries("ORDER BY number")

    def done(self, key):
        """Remove the entry, if it is there: it needs no more sending."""
        with self._told():
            self._db.execute("DELETE FROM outbox WHERE id = ?", (key,))

    def refuse(self, key, error):
        """Keep the entry, but out of the way: `error` (HubError) is what the hub said against it."""
        told = {name: getattr(error, name) for name in ("code", "message", "status", "request_id", "detail")}
        with self._told():
            self._db.execute("UPDATE outbox SET refusal = ? WHERE id = ?", (json.dumps(told), key))

    def again(self, keys):
        """Put refused entries back in line, behind all others; raises UsageError, nothing done, when one is unknown."""
        with self._at_once():
            for key in keys:
                self._require(key)
                self._db.execute(
                    "UPDATE outbox SET refusal = NULL, number = (SELECT max(number) + 1 FROM outbox) "
                    "WHERE id = ? AND refusal IS NOT NULL",
                    (key,),
                )

    def remove(self, keys):
        """Remove these entries; raises UsageError, nothing done, when one is unknown."""
        with self._at_once():
            for key in keys:
                self._require(key)
                self._db.execute("DELETE FROM outbox WHERE id = ?", (key,))

    def _require(self, key):
        if not self._db.execute("SELECT 1 FROM outbox WHERE id = ?", (key,)).fetchone():
            raise UsageError(f"the outbox holds nothing with the id {key}; nothing was changed")

    def _entries(self, rest, values=()):
        with self._told():
            rows = self._db.execute(f"SELECT {COLUMNS} FROM outbox {rest}", values).fetchall()
        return [Entry(*row[:3], json.loads(row[3]), row[4], json.loads(row[5] or "null")) for row in rows]

    @contextmanager
    def _at_once(self):
        with self._told():
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                self._db.execute("ROLLBACK")
                raise
            self._db.execute("COMMIT")

    @contextmanager
    def _told(self):
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            raise UsageError(f"the outbox {self.path} cannot be used: {error}") from None


def _make(path):
    """Create the file readable by its owner alone, and see to it that its name is on the disk too."""
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        return
    folder = os.open(os.path.dirname(path), os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
