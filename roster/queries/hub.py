"""What the hub knows about itself: sweeps that are late, and when it was away."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db.models import Max, QuerySet

from roster.models import HubUptime, SweepRun

LATE_PERIODS, LATE_LEAST = 3, timedelta(seconds=30)  # a worker that is restarted is no reason to call for a person
WORTH_TELLING = timedelta(minutes=1)  # an outage that is shorter is a restart


def late_after(period: timedelta) -> timedelta:
    """How long after its last run a sweep of this period is late."""
    return max(LATE_PERIODS * period, LATE_LEAST)


def late_sweeps(periods: dict[str, timedelta], now: datetime) -> dict[str, datetime]:
    """The sweeps that are three periods late, and when each last ran (or when it should have begun to)."""
    up = HubUptime.objects.order_by("-id").values_list("up_at", flat=True).first()
    longest = late_after(max(periods.values()))
    ran = _last_runs(SweepRun.objects.filter(name__in=periods, started_at__gt=now - longest))
    missing = [name for name in periods if name not in ran and (up is None or up <= now - longest)]
    if missing:  # seldom, and only then are all their runs looked through
        ran |= _last_runs(SweepRun.objects.filter(name__in=missing))
    since = {name: max(filter(None, (ran.get(name), up)), default=now) for name in periods}
    return {name: moment for name, moment in since.items() if now - moment > late_after(periods[name])}


def _last_runs(runs: QuerySet[SweepRun]) -> dict[str, datetime]:
    return dict(runs.values_list("name").annotate(last=Max("started_at")))


def last_outage(now: datetime, shown_for: timedelta = timedelta(hours=24)) -> HubUptime | None:
    """The newest outage worth telling about, while it is recent."""
    return next(iter(reversed(outages(now - shown_for, limit=10))), None)


def outages(since: datetime, limit: int = 50) -> list[HubUptime]:
    """The newest outages worth telling about that ended after ``since``, oldest first."""
    recent = list(HubUptime.objects.filter(down_at__isnull=False, up_at__gt=since).order_by("-id")[:limit])
    return [each for each in reversed(recent) if each.up_at - each.down_at >= WORTH_TELLING]
