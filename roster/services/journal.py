"""The append-only journal and the roster's version: every change that anybody can see goes through here."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from django.db import connection, transaction

from roster import events
from roster.models import Agent, Counter, Event

from .rows import insert

RAISE = f'UPDATE "{Counter._meta.db_table}" SET "value" = "value" + %s WHERE "name" = %s RETURNING "value"'


def happened(
    kind: str,
    by: str,
    at: datetime,
    *,
    agent: Agent | None = None,
    before=None,
    before_since: datetime | None = None,
    after=None,
    reason: str = "",
) -> Event:
    """An event that is not yet written; ``before_since`` is when the state ``before`` began. Texts are cut to what their
    columns hold."""
    told = {"before": before, "before_since": before_since, "after": after}
    return Event(kind=kind, by=by[:80], at=at, agent=agent, reason=reason[:500], **told)


def next_version(name: str = "roster", numbers: int = 1) -> int:
    """Raises the counter ``name`` by so many ``numbers`` and returns the last of them. Its row stays locked until the
    transaction ends, so that the order of the numbers is the order of the commits."""
    with connection.cursor() as cursor:
        cursor.execute(RAISE, [numbers, name])
        row = cursor.fetchone()
        if row is None:
            Counter.objects.get_or_create(pk=name)
            cursor.execute(RAISE, [numbers, name])
            row = cursor.fetchone()
    return row[0]


def append(version: int, happenings: Iterable[Event]) -> None:
    """Inserts events under roster version ``version``, taken in the same transaction; pages hear after the commit."""
    insert(list(happenings))
    transaction.on_commit(lambda: events.nudge(version))


def write(*happenings: Event, changed: Iterable[int] = ()) -> int:
    """Appends events and marks the agents ``changed`` (primary keys) with the next roster version, which it returns.

    Must run inside the transaction of the change itself.
    """
    version = next_version()
    if changed:
        Agent.objects.filter(pk__in=list(changed)).update(changed=version)
    append(version, happenings)
    return version
