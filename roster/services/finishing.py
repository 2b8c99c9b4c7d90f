"""The employment sweep: retires who drained and is empty, drains clones whose lifetime ended, and calls a person where a
drain takes too long. It never forces: each agent goes by the same services as a manager's verbs (R98, R109)."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Exists, OuterRef

from roster import states, work
from roster.models import Agent, Anomaly, Node, SweepRun
from roster.stamps import stamp

from . import anomalies, lifecycle, sweeps

NAME = "employment"
LATE, ORPHAN = "late_drain", "node_without_agent"
EXPIRED = "its lifetime ended"


def run(period: timedelta, late: timedelta, now: datetime) -> SweepRun | None:
    """One run at ``now``; who has drained for longer than ``late`` is an anomaly. None where another still runs."""
    this = sweeps.start(NAME, now, period)
    if this is None:
        return None
    with sweeps.ended(this, now):
        ended = Agent.objects.filter(expires_at__lte=now, lifecycle__in=(states.HIRED, states.ACTIVE))
        sweeps.each(this, _keys(ended.order_by("expires_at")), lambda key: _expire(key, now))
        draining = Agent.objects.filter(lifecycle=states.DRAINING)
        sweeps.each(this, _keys(draining.order_by("lifecycle_since")), lambda key: lifecycle.settle(key, now))
        for key in _keys(draining.filter(lifecycle_since__lt=now - late)):
            _tell_late(key, now)
        _watch_nodes(now)
    return this


def _keys(agents) -> list[int]:
    return list(agents.values_list("pk", flat=True))


@transaction.atomic
def _expire(key: int, now: datetime) -> bool:
    """Drains the clone ``key``, unless somebody was faster: it finishes what it has, like anybody who is drained."""
    rows = Agent.objects.select_for_update(no_key=True).filter(pk=key, expires_at__lte=now)
    agent = rows.filter(lifecycle__in=(states.HIRED, states.ACTIVE)).first()
    if agent is None:
        return False
    lifecycle.begin_drain(agent, by="hub", now=now, reason=EXPIRED)
    return True


@transaction.atomic
def _tell_late(key: int, now: datetime) -> None:
    agent = Agent.objects.select_for_update(no_key=True).filter(pk=key, lifecycle=states.DRAINING).first()
    if agent is None:
        return
    held = work.registered().held(agent, now)
    evidence = {"queued": held.queued, "running": held.running, "leased": held.leased}
    anomalies.keep_anomaly(LATE, agent.slug, now, agent=agent, draining_since=stamp(agent.lifecycle_since), **evidence)


def _watch_nodes(now: datetime) -> None:
    """A node without an agent is a fault that only a hand in the database can make (R126)."""
    own = Agent.objects.filter(home_node=OuterRef("pk"), kind="node")
    orphans = list(Node.objects.filter(~Exists(own), lifecycle="enrolled").values_list("slug", flat=True))
    for slug in orphans:
        anomalies.open_anomaly(ORPHAN, slug, now)
    Anomaly.objects.filter(kind=ORPHAN, closed_at=None).exclude(subject__in=orphans).update(closed_at=now)
