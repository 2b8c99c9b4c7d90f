"""A letter as somebody asks the hub to send it, before it has a number. Pure; standard library only."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from datetime import UTC, datetime

GROUP = "group:"
EVERYBODY = "live"


@dataclass(frozen=True, slots=True)
class Letter:
    """``to`` holds ids, or one address of many: ``group:NAME`` or ``live``, with ``many`` set."""

    to: tuple[str, ...]
    body: str
    subject: str = ""
    in_reply_to: int | None = None
    importance: str = "normal"
    expires_at: datetime | None = None
    many: bool = False

    @property
    def group(self) -> str | None:
        """The name of the group it is addressed to, if it is."""
        return self.to[0].removeprefix(GROUP) if self.many and self.to[0] != EVERYBODY else None

    @property
    def size(self) -> int:
        """Bytes of the body, which is what the limits count."""
        return len(self.body.encode())

    def digest(self) -> str:
        """What tells this letter from any other that comes under the same Idempotency-Key."""
        expires = self.expires_at.astimezone(UTC).isoformat() if self.expires_at else None
        told = [list(self.to), self.many, self.body, self.subject, self.in_reply_to, self.importance, expires]
        return hashlib.sha256(json.dumps(told).encode()).hexdigest()


def addressed(to: str | list[str]) -> tuple[tuple[str, ...], bool]:
    """The recipients that ``to`` names, each once and in its order, and whether it is an address of many."""
    if isinstance(to, str):
        return (to,), is_many(to)
    return tuple(dict.fromkeys(to)), False


def is_many(address: str) -> bool:
    return address == EVERYBODY or address.startswith(GROUP)
