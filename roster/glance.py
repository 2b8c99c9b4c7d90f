"""What stands above every page, kept a moment for everybody who looks: counting a large fleet costs more than listing
fifty of it."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from datetime import datetime, timedelta

from . import queries
from .models import Anomaly
from .plans import PERIODS
from .services import guard

OLDEST = 5.0  # seconds that what is shown may be old
SHARE = 20  # how much longer than it took to make it a glance is kept while the fleet moves on: a twentieth of the time


@dataclass(frozen=True, slots=True)
class Notice:
    """A line above the page, and from when to when it holds. ``release`` offers a manager the button that lets held
    edges go."""

    level: str
    key: str
    text: str
    since: datetime | None = None
    until: datetime | None = None
    release: bool = False


@dataclass(frozen=True, slots=True)
class Glance:
    """The fleet and the hub at ``at``, when the roster stood at ``version``; ``cost`` are the seconds it took."""

    version: int
    at: datetime
    counts: list[queries.Tally]
    needs_you: list[queries.Need]
    hours: list[queries.Hour]
    notices: list[Notice]
    cost: float

    @property
    def total(self) -> int:
        return queries.total(self.counts)

    def shows_the_same(self, other: Glance) -> bool:
        """Whether a page that shows ``other`` has nothing to change, the moment of counting apart."""
        return all(getattr(self, name) == getattr(other, name) for name in ("counts", "needs_you", "hours", "notices"))

    def holds(self, version: int, now: datetime) -> bool:
        """Whether it may still be shown at ``now``, the roster being at ``version`` by then."""
        keep = OLDEST if version == self.version else min(OLDEST, SHARE * self.cost)
        return abs(now - self.at) < timedelta(seconds=keep)


_lock = threading.Lock()
_kept: Glance | None = None


def glance(version: int, now: datetime) -> Glance:
    """The present glance, made anew when it is too old; one thread makes it for all."""
    global _kept
    with _lock:
        if _kept is None or not _kept.holds(version, now):
            _kept = _look(version, now)
        return _kept


def _look(version: int, now: datetime) -> Glance:
    began = time.perf_counter()
    counts, needs = queries.counts(now), queries.needs_you(now)
    hours, told = queries.last_hours(now), notices(now)
    return Glance(version, now, counts, needs, hours, told, time.perf_counter() - began)


def notices(now: datetime) -> list[Notice]:
    """What everybody who looks at a page has to know about the hub itself."""
    found = [
        Notice("alarm", f"sweep-{name}", f"The sweep {name} is late. Presence shown here is still right.", since)
        for name, since in queries.late_sweeps(PERIODS, now).items()
    ]
    for held in Anomaly.objects.filter(kind=guard.KIND, closed_at=None):
        text = (
            f"{held.evidence['would_flip']} of {held.evidence['live']} live agents went silent at once: suspected "
            "hub-side fault. What is shown is computed and right; recording and announcing it is held for a while."
        )
        found.append(Notice("alarm", "held", text, held.opened_at, release="released_by" not in held.evidence))
    if down := queries.last_outage(now):
        text = "The hub was down for a while; nobody's silence in it was counted."
        found.append(Notice("info", "outage", text, down.down_at, down.up_at))
    return found
