"""Hub downtime is nobody's fault (design rule 8): the hub marks that it can hear, and on its return moves deadlines."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import F, QuerySet

from roster import states
from roster.models import Agent, HubUptime

from . import journal
from .presence import locked

IN_BOUNDS = {
    "expected_interval__range": (states.SHORTEST, states.LONGEST),
    "ttl__range": (states.SHORTEST, states.LONGEST),
}
STEP_ONCE = timedelta(minutes=10)  # within this, two processes that notice a step mean the same one
MISSED_MARKS = 3  # a restart quicker than this many marks is no outage


def mark(now: datetime) -> None:
    """A web process can hear at ``now``."""
    latest = HubUptime.objects.order_by("-id").first()
    if latest is not None:
        HubUptime.objects.filter(pk=latest.pk).update(alive_at=now)


@transaction.atomic
def begin(now: datetime, every: float) -> HubUptime:
    """A web process starts. If none has marked for ``MISSED_MARKS`` x ``every`` seconds the hub was down, and every
    deadline that had not passed by the last mark moves to ``now`` + the agent's own limit, once for that outage."""
    journal.next_version("uptime")  # two processes starting at once: the second finds the first one's stretch
    latest = HubUptime.objects.order_by("-id").first()
    if latest is not None and now - latest.alive_at <= timedelta(seconds=MISSED_MARKS * every):
        return latest
    stretch = HubUptime(up_at=now, alive_at=now, down_at=latest.alive_at if latest else None)
    if latest is not None:
        stretch.moved = move_deadlines(latest.alive_at, now)
    stretch.save()
    down = stretch.down_at.isoformat() if stretch.down_at else None
    started = journal.happened(
        "hub_started", "hub", now, before={"down_since": down}, after={"deadlines_moved": stretch.moved}
    )
    journal.write(started)
    return stretch


def move_deadlines(down_at: datetime, up_at: datetime) -> int:
    """Moves the deadlines that had not passed at ``down_at``; returns how many. One that had passed stays."""
    due = Agent.objects.filter(deadline__gte=down_at, evidence_at__lt=up_at, **IN_BOUNDS)
    locked(due)
    moved = 0
    for mode, seconds, rows in _by_limit(due):
        until = up_at + states.window(mode, seconds, seconds)
        moved += rows.update(deadline=until)
    return moved


def _by_limit(due: QuerySet):
    """The rows of ``due`` by their own limit: (mode, seconds, rows). Few groups, since few intervals are in use."""
    for mode in states.MODES:
        column = "ttl" if mode == states.EPHEMERAL else "expected_interval"
        rows = due.filter(liveness_mode=mode)
        for seconds in rows.order_by(column).values_list(column, flat=True).distinct():
            yield mode, seconds, rows.filter(**{column: seconds})


@transaction.atomic
def clock_stepped(step: timedelta, now: datetime) -> bool:
    """The wall clock jumped by ``step`` to ``now``: windows that were open move along, so that nobody is called gone
    for it. True in the one process that moves them; the others find it done."""
    journal.next_version("uptime")
    latest = HubUptime.objects.order_by("-id").first()
    if latest is None or (latest.stepped_at and abs(now - latest.stepped_at) < STEP_ONCE):
        return False
    HubUptime.objects.filter(pk=latest.pk).update(stepped_at=now, alive_at=now)
    open_windows = Agent.objects.filter(deadline__gte=now - step, **IN_BOUNDS)
    locked(open_windows)
    moved = open_windows.update(deadline=F("deadline") + step, check_after=F("check_after") + step)
    after = {"seconds": round(step.total_seconds()), "deadlines_moved": moved}
    journal.write(journal.happened("clock_stepped", "hub", now, after=after))
    return True


class StepWatch:
    """Compares the wall clock with one that never steps, between two looks of the same process."""

    def __init__(self):
        self._last: tuple[datetime, float] | None = None

    def look(self, now: datetime, steady: float) -> timedelta:
        """How far the wall clock ``now`` jumped since the last look, beside ``steady`` seconds of a steady clock."""
        last, self._last = self._last, (now, steady)
        if last is None:
            return timedelta()
        return now - last[0] - timedelta(seconds=steady - last[1])
