"""The fleet hour by hour: counted by a sweep of its own, shown as the band of the last 24 hours."""

from __future__ import annotations

from datetime import timedelta

import pytest

from roster import drawing, queries
from roster.models import Agent, PresenceHour
from roster.services import hours as hourly
from tests import make

from .fleet import many, minutes

pytestmark = pytest.mark.django_db
PERIOD = timedelta(minutes=5)


def shown(now) -> list[int]:
    """How many live agents each of the last 24 hours shows; -1 where nobody counted."""
    return [hour.counts[0].n if hour.counts else -1 for hour in queries.last_hours(now)]


def test_an_hour_shows_what_was_counted_last_in_it_and_an_hour_nobody_counted_shows_nothing(now):
    many(2, now)
    hourly.count(PERIOD, now)
    make.agent("late", now + minutes(10), liveness_mode="async")
    hourly.count(PERIOD, now + minutes(10))
    assert shown(now + minutes(10))[-1] == 3
    assert PresenceHour.objects.count() == 1
    hourly.count(PERIOD, now + minutes(125))
    assert shown(now + minutes(125))[-3:] == [3, -1, 0]
    assert queries.last_hours(now)[-1].counted_at == now + minutes(10)


def test_a_second_count_at_the_same_time_is_left_to_the_first(now):
    from roster.services import sweeps

    sweeps.start(hourly.NAME, now, PERIOD)
    assert hourly.count(PERIOD, now) is None


def test_the_band_stacks_each_hour_on_the_ground_and_shows_one_among_thousands():
    def hour(**counted):
        tallies = tuple(queries.Tally(word, counted.get(word, 0)) for word in queries.SHOWN_WORDS)
        return queries.Hour(None, tallies)

    full, small, none = drawing.band([hour(live=9_999, unknown=1), hour(live=5_000), queries.Hour(None)])
    assert [bar.word for bar in full.bars] == ["live", "unknown"]
    assert full.bars[0].y + full.bars[0].height == drawing.HEIGHT
    assert full.bars[1].y == pytest.approx(0, abs=0.02) and full.bars[1].height >= drawing.LEAST
    assert small.bars[0].height == pytest.approx(drawing.HEIGHT / 2, abs=1)
    assert none.bars == () and none.x == 2 * drawing.WIDTH


def test_a_count_looks_at_each_agent_once_the_disabled_too(now):
    many(2, now)
    Agent.objects.update(enabled=False)
    assert hourly.count(PERIOD, now).looked_at == 2
