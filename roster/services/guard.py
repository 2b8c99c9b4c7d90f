"""The guard against mass change (design rule 9): many at once is more likely the hub's fault than the agents'."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction

from roster import states
from roster.models import Agent, Anomaly

from . import anomalies, journal

KIND = "mass_change"


@dataclass(frozen=True)
class Limits:
    """Hold where more than ``share`` of the live agents, and at least ``least``, would flip; for ``hold`` at most."""

    share: float = 0.15
    least: int = 3
    hold: timedelta = timedelta(minutes=15)


def holds(sweep: str, flips: int, now: datetime, limits: Limits) -> bool:
    """Whether ``sweep`` must hold back the ``flips`` edges that it found. Opens, keeps or closes the hold."""
    hold = Anomaly.objects.filter(kind=KIND, subject=sweep, closed_at=None).first()
    live = Agent.objects.filter(recorded=states.LIVE).exclude(lifecycle=states.RETIRED).count()
    if flips < limits.least or flips <= limits.share * live:
        return _let_go(sweep, now, hold)
    if hold is None:
        _hold(sweep, now, would_flip=flips, live=live)
        return True
    if "released_by" in hold.evidence or now >= hold.opened_at + limits.hold:
        return _let_go(sweep, now, hold)
    return True


@transaction.atomic
def _hold(sweep: str, now: datetime, **evidence: int) -> None:
    anomalies.open_anomaly(KIND, sweep, now, **evidence)
    journal.write(journal.happened("edges_held", "hub", now, after={"sweep": sweep, **evidence}))


def _let_go(sweep: str, now: datetime, hold: Anomaly | None) -> bool:
    if hold is not None:
        anomalies.close_anomaly(KIND, sweep, now)
    return False


def held() -> list[Anomaly]:
    """The holds that wait for time or a manager."""
    return [each for each in Anomaly.objects.filter(kind=KIND, closed_at=None) if "released_by" not in each.evidence]


@transaction.atomic
def release(*, by: str, now: datetime) -> int:
    """A manager says that the change is real: the next sweep records it. Returns how many holds were released."""
    waiting = held()
    for each in waiting:
        Anomaly.objects.filter(pk=each.pk, closed_at=None).update(evidence=each.evidence | {"released_by": by})
        journal.write(journal.happened("hold_released", by, now, before={"sweep": each.subject}))
    return len(waiting)
