"""Whether a node can be reached: a pure function of its last call. Standard library only."""

from __future__ import annotations

from datetime import datetime, timedelta

MISSED = 3  # of a node's intervals without a call
LEAST = timedelta(seconds=20)


def limit(interval: int) -> timedelta:
    """How long a node that calls every ``interval`` seconds may be silent (design section 4)."""
    return max(MISSED * timedelta(seconds=interval), LEAST)


def unreachable_since(contact_at: datetime | None, interval: int, now: datetime) -> datetime | None:
    """Since when a node is out of reach: its last call, where that is too long ago. One that never called is not."""
    if contact_at is None or now - contact_at <= limit(interval):
        return None
    return contact_at
