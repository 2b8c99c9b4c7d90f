"""What the hub knows about itself: sweeps that are late, and when it was away."""

from __future__ import annotations

from datetime import datetime, timedelta

from roster.models import HubUptime, SweepRun

LATE_PERIODS = 3


def late_sweeps(periods: dict[str, timedelta], now: datetime) -> dict[str, datetime]:
    """The sweeps that are three periods late, and when each last ran (or when it should have begun to)."""
    up = HubUptime.objects.order_by("-id").first()
    late = {}
    for name, period in periods.items():  # a seek in the index each, where one grouped query would read a week of runs
        ran = SweepRun.objects.filter(name=name).order_by("-started_at").values_list("started_at", flat=True).first()
        since = max(filter(None, (ran, up and up.up_at)), default=now)
        if now - since > LATE_PERIODS * period:
            late[name] = since
    return late


def last_outage(now: datetime, shown_for: timedelta = timedelta(hours=24)) -> HubUptime | None:
    """The newest outage worth telling about, while it is recent."""
    recent = HubUptime.objects.filter(down_at__isnull=False, up_at__gt=now - shown_for).order_by("-id")
    return next((each for each in recent[:10] if each.up_at - each.down_at >= timedelta(minutes=1)), None)
