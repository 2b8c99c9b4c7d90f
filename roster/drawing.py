"""Charts as plain numbers, for the SVG that the templates write. Pure: facts in, places out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .queries import DISABLED, Hour

WIDTH, HEIGHT, GAP = 10, 30, 1  # of an hour in the band, in units of its view box
LEAST = 1  # height of the smallest count that is not zero, so that one agent among thousands can be seen


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
