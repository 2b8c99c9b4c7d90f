"""A recipient's own reading state. It is nobody else's business, and no sign of life (design rule 3)."""

from __future__ import annotations

from datetime import datetime

from inbox import access
from inbox.models import Delivery
from roster.access import Caller
from roster.models import Agent


def mark_read(who: Caller, seq: int, now: datetime, as_slug: str | None = None) -> datetime:
    """Marks message ``seq`` read in the caller's own inbox and returns when it was first. Raises NotFound, Retired."""
    agent = Agent.objects.get(pk=access.reader(who, as_slug))
    access.refuse_retired(agent)
    mine = Delivery.objects.filter(recipient=agent, message=seq)
    if not mine.filter(read_at=None).update(read_at=now) and not mine.exists():
        raise access.no_message(seq)
    return mine.values_list("read_at", flat=True).get()


def mark(agent: Agent, seqs: list[int], now: datetime) -> int:
    """Marks those of these messages that are in the inbox of ``agent`` read; returns how many were unread."""
    return Delivery.objects.filter(recipient=agent, message__in=seqs, read_at=None).update(read_at=now)
