"""Engrams: what an agent is told to be. Each edit is a new revision, and the next turn begins with the newest."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction

from roster import access
from roster.errors import Conflict, Invalid
from roster.models import Agent, EngramRevision
from roster.queries.employment import Engram, engram
from roster.stamps import stamp

from . import journal

LONGEST = 64 * 1024  # bytes of UTF-8


@transaction.atomic
def edit(who: access.Caller, slug: str, text: str, now: datetime, revision: int | None = None) -> Engram:
    """Gives the agent ``slug`` another engram. ``revision`` is the one that was edited, where the caller knows: a newer
    one is never overwritten unseen. The same text once more is no edit.

    Needs an admin. Raises Forbidden, NotFound, Retired, Invalid, and Conflict where it is stale.
    """
    access.require_role(who, "admin")
    agent = access.ai(slug)
    before = engram(agent)
    if revision not in (None, before.revision):
        raise stale(before)
    return before if text == before.text else write(agent, text, by=who.name, now=now)


def stale(newest: Engram) -> Conflict:
    """The refusal of an edit of an older revision than the ``newest``."""
    since = stamp(newest.at)
    said = f"The engram of {newest.agent} is at revision {newest.revision} by now, by {newest.author} at {since}."
    known = {"revision": newest.revision, "author": newest.author, "at": since}
    return Conflict(said, state="edited", allowed=[], code="stale", **known)


def write(agent: Agent, text: str, *, by: str, now: datetime) -> Engram:
    """Stores ``text`` as the next revision for ``agent``, whose row is locked or new. Raises Invalid."""
    text = checked(text)
    older = engram(agent)
    number = older.revision + 1
    EngramRevision.objects.create(agent=agent, number=number, text=text, author=by[:80], at=now)
    before = {"revision": older.revision, "characters": len(older.text)}
    after = {"revision": number, "characters": len(text)}
    edited = journal.happened("engram_edited", by, now, agent=agent, before=before, after=after)
    journal.write(edited, changed=[agent.pk])
    return Engram(agent.slug, number, text, by[:80], now)


def checked(text: str, field: str = "text") -> str:
    """``text`` itself, if it is not too long for an engram. Raises Invalid for ``field``."""
    size = len(text.encode())
    if size > LONGEST:
        raise Invalid(field, f"has {size:,} bytes, {LONGEST:,} at most")
    return text
