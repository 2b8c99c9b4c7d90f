"""Since when an agent says what it says, when it last worked, and when the state before an event began."""

from __future__ import annotations

from datetime import timedelta

import pytest

from roster import queries
from roster.models import Event
from tests import make

from .fleet import minutes, sweep

pytestmark = pytest.mark.django_db


def row(now):
    return queries.one("echo", now)


def test_seen_and_last_worked_are_two_times_F136(now):
    """Six hours of idle heartbeats after its work: it was seen just now, and worked six hours ago."""
    _, token = make.agent("echo", now, status="working: notes", liveness_mode="async")
    assert row(now).last_worked == now
    make.beat(token, now + minutes(10), status="idle")
    for step in range(2, 38):
        make.beat(token, now + minutes(10) * step, status="idle")
    found = row(now + minutes(370))
    assert found.last_seen == now + minutes(370)
    assert found.last_worked == now + minutes(10)
    assert found.activity.since == now + minutes(10)


def test_work_that_nobody_ended_was_last_known_with_the_last_heartbeat_F136(now):
    _, token = make.agent("echo", now, status="working: notes", liveness_mode="async")
    make.beat(token, now + minutes(20), status="working: notes")
    gone = now + timedelta(hours=5)
    assert row(gone).last_worked == now + minutes(20)
    make.beat(token, gone, status="idle")
    assert row(gone).last_worked == now + minutes(20)
    assert row(gone).activity.since == gone


def test_saying_the_same_again_begins_nothing_anew(now):
    _, token = make.agent("echo", now, status="error", liveness_mode="async")
    make.beat(token, now + minutes(5), status="error")
    assert row(now + minutes(5)).activity.since == now
    need = queries.needs_you(now + minutes(5))[0]
    assert (need.row.id, need.since) == ("echo", now)


def test_an_edge_tells_since_when_the_state_before_it_held(now):
    """Whether the sweep recorded the departure or the agent came back before it."""
    _, token = make.agent("echo", now, liveness_mode="async", expected_interval=600)
    sweep(now + minutes(30))
    make.beat(token, now + minutes(40))
    make.beat(token, now + minutes(100))
    edges = Event.objects.filter(kind="presence").order_by("pk").values_list("before", "before_since", "after", "at")
    assert list(edges)[1:] == [
        ("live", now, "dormant", now + minutes(20)),
        ("dormant", now + minutes(20), "live", now + minutes(40)),
        ("dormant", now + minutes(60), "live", now + minutes(100)),
    ]
