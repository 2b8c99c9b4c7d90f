"""Several web processes: what was received first may be written last."""

from datetime import timedelta

import pytest

from roster import access
from roster.models import Agent, Event
from roster.services import presence, registry, sweeps
from tests import make

pytestmark = pytest.mark.django_db


def seconds(n: float) -> timedelta:
    return timedelta(seconds=n)


def test_an_older_heartbeat_that_is_written_late_undoes_no_newer_one(now):
    _, token = make.agent("echo", now, liveness_mode="async")
    make.beat(token, now + seconds(10), status="busy")
    make.beat(token, now + seconds(8), status="idle")
    after = Agent.objects.get()
    assert (after.status, after.last_seen) == ("busy", now + seconds(10))


def test_a_heartbeat_received_before_a_goodbye_does_not_wake_the_agent_again(now):
    _, token = make.agent("echo", now, liveness_mode="async")
    registry.sign_off(access.caller(access.digest(token)), "echo", None, now + seconds(10))
    make.beat(token, now + seconds(9))
    assert Agent.objects.get().recorded == "dormant"
    make.beat(token, now + seconds(11))
    assert Agent.objects.get().recorded == "live"


def test_a_clock_that_stepped_back_is_no_delay(now):
    _, token = make.agent("echo", now, liveness_mode="async")
    make.beat(token, now - timedelta(hours=1), status="busy")
    assert Agent.objects.get().last_seen == now - timedelta(hours=1)


def test_a_damaged_row_costs_its_own_heartbeat_and_no_other(now):
    _, damaged = make.agent("echo", now)
    _, whole = make.agent("nova", now)
    Agent.objects.filter(slug="echo").update(heard={"key": "no entry"})
    said = presence.beats.Said(status="busy", session="other")
    group = [presence.Beat(access.digest(token), None, said, now + seconds(60)) for token in (damaged, whole)]
    first, second = presence.record(group)
    assert isinstance(first, Exception)
    assert (second.agent.slug, Agent.objects.get(slug="nova").status) == ("nova", "busy")


def test_nobody_waits_for_a_retired_agent(now):
    from roster.plans import plan

    make.agent("echo", now, liveness_mode="always-on")
    Agent.objects.update(lifecycle="retired")
    sweeps.run(plan(sweeps.DORMANCY), now + timedelta(days=1))
    assert not Event.objects.filter(kind="presence", after="silent").exists()
