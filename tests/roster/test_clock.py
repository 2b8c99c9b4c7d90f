"""Two hosts, two clocks, one hub (F144)."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from roster import clock, states

pytestmark = [pytest.mark.django_db, pytest.mark.core]
APART = timedelta(milliseconds=800)
CLOSE = timedelta(milliseconds=100)  # two questions to the database, on a busy machine


def host(off: timedelta) -> clock.Clock:
    return clock.Clock(lambda: timezone.now() + off)


def test_two_hosts_whose_clocks_are_800_ms_apart_agree_around_a_deadline_F144():
    """On PostgreSQL, which the core set runs on too, both follow its clock. SQLite has one host, whose clock is kept."""
    slow, fast = host(-APART / 2), host(APART / 2)
    for each in (slow, fast):
        each.follow()
    between = fast.now() - slow.now()
    if connection.vendor == "sqlite":
        assert APART - CLOSE < between < APART + CLOSE
        return
    assert abs(between) < CLOSE
    seen = timezone.now() - timedelta(hours=1)
    for early in (-CLOSE * 2, CLOSE * 2):  # the deadline just ahead of both hosts, and just behind them
        facts = states.Facts(mode="async", evidence_at=seen, deadline=timezone.now() - early)
        words = {states.presence(facts, each.now()).word for each in (slow, fast)}
        assert words == ({"dormant"} if early > timedelta() else {"live"})


def test_a_difference_smaller_than_the_question_took_moves_nothing():
    ours = clock.Clock()
    ours.follow()
    first = ours._ahead
    ours.follow()
    assert abs(ours._ahead - first) < CLOSE
