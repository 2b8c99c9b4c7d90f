"""How the fleet stood, hour by hour: what the band above the roster shows."""

from __future__ import annotations

from datetime import datetime, timedelta

from roster import queries
from roster.models import PresenceHour, SweepRun

from . import sweeps

NAME = "presence_hours"


def count(period: timedelta, now: datetime) -> SweepRun | None:
    """Counts the fleet for the hour of ``now``, over an earlier count of the same hour. One of the hub's sweeps, run
    every ``period``, so one that is late is told like the others; None where another is still running."""
    this = sweeps.start(NAME, now, period)
    if this is None:
        return None
    with sweeps.ended(this, now):
        tallies = queries.counts(now)
        counts = {tally.word: tally.n for tally in tallies}
        hour = now.replace(minute=0, second=0, microsecond=0)
        PresenceHour.objects.update_or_create(hour=hour, defaults=counts | {"counted_at": now})
        this.looked_at = queries.total(tallies)
    return this
