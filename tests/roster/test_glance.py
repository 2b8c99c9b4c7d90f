"""What stands above the pages is counted once for all who look, and never older than it says."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from roster import glance, queries
from tests import make

pytestmark = pytest.mark.django_db


def seconds(n: float) -> timedelta:
    return timedelta(seconds=n)


def live(seen: glance.Glance) -> int:
    return seen.counts[0].n


def test_the_same_fleet_is_counted_once_in_five_seconds(now, django_assert_num_queries):
    first = glance.glance(1, now)
    with django_assert_num_queries(0):
        assert glance.glance(1, now + seconds(4.9)) is first
    assert glance.glance(1, now + seconds(5)) is not first


def test_a_fleet_that_moves_is_counted_again_after_twenty_times_what_counting_took(now, monkeypatch):
    first = glance.glance(1, now)
    make.agent("echo", now, liveness_mode="async")
    for cost, kept in ((0.01, 0.2), (1, glance.OLDEST)):
        monkeypatch.setattr(glance, "_kept", replace(first, cost=cost))
        assert live(glance.glance(2, now + seconds(kept - 0.001))) == 0
        assert live(glance.glance(2, now + seconds(kept))) == 1


def test_a_clock_that_was_set_back_keeps_no_old_count_alive(now):
    first = glance.glance(1, now)
    assert glance.glance(1, now - timedelta(hours=1)) is not first


def test_who_needs_somebody_stands_by_urgency_and_then_by_age(now):
    """Who says error comes before who is silent, however long that has been so."""
    make.agent("quiet", now - timedelta(hours=9), liveness_mode="always-on", expected_interval=60)
    for slug, minutes in (("newer", 5), ("oldest", 20), ("older", 10)):
        make.agent(slug, now - timedelta(minutes=minutes), status="error", liveness_mode="async")
    assert [need.row.id for need in queries.needs_you(now)] == ["oldest", "older", "newer", "quiet"]
