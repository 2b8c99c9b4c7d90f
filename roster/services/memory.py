"""Memory: what an agent writes down for itself. It only grows, and no other agent sees it (R84)."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction

from roster import access
from roster.errors import Invalid
from roster.models import Agent, MemoryEntry
from roster.queries.employment import Remembered

from . import journal, presence
from .looks import is_new

LONGEST = 64 * 1024  # bytes of UTF-8 of one entry
LONGEST_KIND = 64  # characters


@transaction.atomic
def remember(
    who: access.Caller, slug: str, kind: str, text: str, now: datetime, as_slug: str | None = None
) -> Remembered:
    """Adds an entry to the memory of ``slug``, which ``who`` is or may speak for; it counts as being seen.

    Raises NotFound, Retired, Invalid.
    """
    agent = access.keeper(who, slug, as_slug)
    kind = kind.strip()
    if not 0 < len(kind) <= LONGEST_KIND:
        raise Invalid("kind", f"has 1 to {LONGEST_KIND} characters")
    if not text.strip():
        raise Invalid("text", "says nothing")
    if (size := len(text.encode())) > LONGEST:
        raise Invalid("text", f"has {size:,} bytes, {LONGEST:,} at most")
    entry = MemoryEntry.objects.create(agent=agent, kind=kind, text=text, at=now)
    work = presence.Work()
    presence.called(agent, now, work)
    work.write()
    return Remembered(entry.pk, kind, text, now)


@transaction.atomic
def looked_at(by: str, agent: Agent, now: datetime) -> None:
    """Journals that the manager ``by`` looked into the memory of ``agent``."""
    if is_new("memory_looked_at", by, agent, now):
        journal.write(journal.happened("memory_looked_at", by, now, agent=agent))
