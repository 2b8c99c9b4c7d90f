"""How long between two beats: pure, so a whole outage passes in a loop."""

import pytest

from agora_node.pace import Pace


def latest(low, high):
    return high


def earliest(low, high):
    return low


def test_the_hubs_suggestion_counts_when_no_period_was_given():
    assert Pace().after_success(1733) == 1733


def test_a_given_period_wins_over_the_hubs_suggestion():
    assert Pace(60).after_success(1733) == 60


@pytest.mark.parametrize("told, wait", [(None, 300), ("soon", 300), (0, 300), (-4, 300), (0.01, 1), (1e12, 2592000)])
def test_an_odd_suggestion_neither_floods_the_hub_nor_stops_the_beats(told, wait):
    assert Pace().after_success(told) == wait


def test_tries_during_an_outage_slow_down_to_one_a_minute():
    pace = Pace(between=latest)
    assert [pace.after_failure() for _ in range(7)] == [2, 4, 8, 16, 32, 60, 60]


def test_the_first_success_ends_the_slowing_down():
    pace = Pace(5, between=latest)
    for _ in range(2000):
        pace.after_failure()
    pace.after_success()
    assert pace.after_failure() == 2


def test_a_pause_the_hub_asks_for_is_never_cut_short():
    assert Pace(5, between=earliest).after_failure(retry_after=90) == 90
    assert Pace(5, between=latest).after_failure(retry_after=90) == pytest.approx(108)


def test_a_fleet_that_lost_its_hub_in_one_moment_does_not_return_in_one_moment():
    waits = {Pace().after_failure() for _ in range(100)}
    assert len(waits) > 90
    assert all(1 <= wait <= 2 for wait in waits)
