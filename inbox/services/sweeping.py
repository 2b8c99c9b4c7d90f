"""The drain-ACK sweep: leases that lapsed, on mail and on prompts, mail that expired, senders to be told, mail to be
archived.

It takes the oldest due first, so many at a time, each inbox in a short transaction of its own; one that cannot be
settled is counted and never stops the rest.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import QuerySet

from inbox import rules, turns
from inbox.models import IS_UNTOLD, Delivery, Exchange, Lease
from roster.models import SweepRun
from roster.services import sweeps

from .exchanges import settle_queue
from .settling import settle_inbox, tell_sender

NAME = "drain_ack"


@dataclass(frozen=True)
class Plan:
    """How often the sweep runs, how many inboxes, notices and messages one run takes, and when acked mail is archived."""

    period: timedelta
    batch: int
    archive_after: timedelta


def run(plan: Plan, now: datetime) -> SweepRun | None:
    """One run at ``now``; None where another is still running."""
    this = sweeps.start(NAME, now, plan.period)
    if this is None:
        return None
    with sweeps.ended(this, now):
        sweeps.each(this, _due_inboxes(plan.batch, now), lambda key: settle_inbox(key, now))
        sweeps.each(this, _lapsed_queues(plan.batch, now), lambda key: settle_queue(key, now))
        sweeps.each(this, _untold(plan.batch), lambda seq: tell_sender(seq, now))
        this.edges += archive(now - plan.archive_after, now, plan.batch)
    return this


def _due_inboxes(batch: int, now: datetime) -> list[int]:
    lapsed = Lease.objects.filter(closed_at=None, until__lte=now).order_by("until")
    expired = Delivery.objects.filter(state=rules.WAITING, expires_at__lte=now).order_by("expires_at")
    return list(dict.fromkeys(_first(lapsed, "agent", batch) + _first(expired, "recipient", batch)))[:batch]


def _lapsed_queues(batch: int, now: datetime) -> list[int]:
    """The agents with a prompt whose runner's lease has lapsed."""
    lapsed = Exchange.objects.filter(state=turns.RUNNING, lease_until__lte=now).order_by("lease_until")
    return _first(lapsed, "target", batch)


def _untold(batch: int) -> list[int]:
    """The messages with deaths that their senders do not know of."""
    return _first(Delivery.objects.filter(IS_UNTOLD).order_by("pk"), "message", batch)


def _first(rows: QuerySet, column: str, batch: int) -> list[int]:
    """The first so many values of ``column``, each once however many rows have it: what cannot be settled must not take
    the place of others. Grouped by the database, the rows would not be found by their index."""
    found: dict[int, None] = {}
    while len(found) < batch:
        more = rows.exclude(**{f"{column}__in": found}).values_list(column, flat=True)[:batch]
        found |= dict.fromkeys(more)
        if len(more) < batch:
            break
    return list(found)[:batch]


def archive(before: datetime, now: datetime, batch: int) -> int:
    """Archives mail that was acked until ``before``, unchanged and still readable; returns how much. What nobody acked
    is never archived by time (P29)."""
    old = Delivery.objects.filter(state=rules.ACKED, acked_at__lte=before).order_by("acked_at").values("pk")[:batch]
    return Delivery.objects.filter(pk__in=old, state=rules.ACKED).update(state=rules.ARCHIVED, archived_at=now)
