"""Charts as plain numbers, for the SVG that the templates write. Pure: facts in, places out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from .queries import DISABLED, Hour
from .timeline import Segment

WIDTH, HEIGHT = 10, 30  # of an hour in the band, in units of its view box, which the template has too
LEAST = 1  # height of the smallest count that is not zero, so that one agent among thousands can be seen
LENGTH, BRIEFEST, BETWEEN = 1440, 4, 2  # of a lane, of the shortest segment to be seen, and between two segments


@dataclass(frozen=True, slots=True)
class Bar:
    word: str
    y: float
    height: float


@dataclass(frozen=True, slots=True)
class Column:
    """One hour of the band: where it stands, its bars from the ground up, and the hour itself."""

    x: int
    bars: tuple[Bar, ...]
    hour: Hour


def band(hours: Sequence[Hour]) -> list[Column]:
    """The hours as stacked columns; the fullest one is ``HEIGHT`` high."""
    most = max((hour.total for hour in hours), default=0)
    return [Column(at * WIDTH, _stack(hour, most), hour) for at, hour in enumerate(hours)]


def _stack(hour: Hour, most: int) -> tuple[Bar, ...]:
    here = [tally for tally in hour.counts if tally.n and tally.word != DISABLED]
    room = HEIGHT - LEAST * len(here)
    top, bars = HEIGHT, []
    for tally in here:
        height = round(LEAST + room * tally.n / most, 2)
        top = round(top - height, 2)
        bars.append(Bar(tally.word, top, height))
    return tuple(bars)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a segment stands in its lane."""

    x: float
    width: float
    segment: Segment


@dataclass(frozen=True, slots=True)
class Lane:
    name: str
    places: tuple[Place, ...]


def lane(name: str, segments: Sequence[Segment], start: datetime, now: datetime) -> Lane:
    """The segments side by side on a lane that is ``LENGTH`` long from ``start`` to ``now``. One too short to be seen
    is widened to the left, over the end of the segment before it."""
    scale = LENGTH / (now - start).total_seconds()
    return Lane(name, tuple(_place(each, (each.begin - start).total_seconds() * scale, scale) for each in segments))


def _place(segment: Segment, x: float, scale: float) -> Place:
    width = segment.seconds * scale - BETWEEN
    if width < BRIEFEST:
        x, width = max(0, x + width - BRIEFEST), BRIEFEST
    return Place(round(x, 1), round(width, 1), segment)
