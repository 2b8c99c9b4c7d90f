"""Looks of people into what is another's: who, whose, when, but not each page of it."""

from __future__ import annotations

from datetime import datetime, timedelta

from roster.models import Agent, Event

ONE_LOOK = timedelta(minutes=10)  # reading on in the same place is the same look


def is_new(kind: str, by: str, agent: Agent | None, now: datetime) -> bool:
    """Whether a look of ``by``, told by an event of ``kind`` about ``agent``, is another than the last one."""
    return not Event.objects.filter(kind=kind, by=by[:80], agent=agent, at__gt=now - ONE_LOOK).exists()
