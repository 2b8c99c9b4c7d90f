"""Signing off: a goodbye is known at once, and a late one never hides a newer session."""

import pytest

from roster import access, schemas
from roster.models import Agent, Event
from roster.services import batch, registry
from tests import make

from .fleet import edges, hours, minutes, open_anomalies, seconds, shown, sweep, sweep_all, word

pytestmark = pytest.mark.django_db


def sign_off(token: str, slug: str, at, session=None) -> Agent:
    return registry.sign_off(access.caller(access.digest(token)), slug, session, at)


LEFT = {"ephemeral": "expired", "async": "dormant", "always-on": "silent"}


@pytest.mark.parametrize("mode", LEFT)
def test_a_goodbye_is_known_at_once_and_recorded_once_F125(mode, now):
    """Signed off is told apart from lost contact for ever; only an always-on agent's goodbye is an anomaly."""
    _, token = make.agent("analyst", now, liveness_mode=mode)
    left = now + minutes(5)
    sign_off(token, "analyst", left)
    for later in (left, left + minutes(5), left + hours(1), left + hours(24 * 7)):
        told = shown("analyst", later)
        assert (told["presence"], told["presence_reason"]) == (LEFT[mode], "signed off")
        assert told["presence_since"] == schemas.stamp(left)
        sweep_all(later)
    assert edges("analyst")[1:] == [("live", LEFT[mode])]
    assert open_anomalies() == (["analyst"] if mode == "always-on" else [])
    assert Event.objects.filter(kind="signed_off").count() == 1


def test_a_members_goodbye_and_return_read_alike_in_a_batch_and_alone(now):
    """An ephemeral agent whose profile makes it a member is dormant when it is away, however it came to say so."""
    make.profile("scribe", liveness_mode="async")
    make.agent("scribe", now, status="dormant", liveness_mode="ephemeral")
    _, _, raw = make.node("alder")
    node = access.caller(access.digest(raw))
    assert (word("scribe", now), edges("scribe")[1:]) == ("dormant", [("live", "dormant")])
    batch.record(node, [batch.Entry("scribe", "idle")], now + minutes(1))
    batch.record(node, [batch.Entry("scribe", "dormant")], now + minutes(2))
    assert edges("scribe")[2:] == [("dormant", "live"), ("live", "dormant")]
    assert Agent.objects.get(slug="scribe").recorded == word("scribe", now + minutes(2)) == "dormant"


def test_a_heartbeat_after_a_goodbye_is_a_return(now):
    _, token = make.agent("analyst", now, liveness_mode="async")
    sign_off(token, "analyst", now + minutes(5))
    back = make.beat(token, now + minutes(6))
    assert (back.before.word, back.before.reason) == ("dormant", "signed off")
    assert edges("analyst")[1:] == [("live", "dormant"), ("dormant", "live")]
    assert word("analyst", now + minutes(7)) == "live"


def test_a_heartbeat_that_says_dormant_is_a_goodbye(now):
    """The old hub's agents signed off by a status word."""
    _, token = make.agent("analyst", now, liveness_mode="async", status="working: notes")
    make.beat(token, now + minutes(1), status="dormant")
    told = shown("analyst", now + minutes(1))
    assert (told["presence"], told["status"], told["task"]) == ("dormant", "dormant", None)
    assert edges("analyst")[1:] == [("live", "dormant")]


def test_the_goodbye_of_an_old_session_does_not_hide_the_new_one_F082(now):
    """S1 loses its network, S2 starts and beats, 45 s later S1's goodbye arrives."""
    _, token = make.agent("analyst", now, liveness_mode="async", session="S1", host="alder")
    make.beat(token, now + seconds(30), status="idle", session="S2", host="birch")
    sign_off(token, "analyst", now + seconds(75), "S1")
    told = shown("analyst", now + seconds(75))
    assert (told["presence"], told["status"]) == ("live", "idle")
    assert [each["session"] for each in told["sessions"]] == ["S2"]
    sign_off(token, "analyst", now + seconds(80), "S2")
    assert word("analyst", now + seconds(80)) == "dormant"


def test_a_late_goodbye_does_not_wake_an_agent_that_is_gone(now):
    _, token = make.agent("analyst", now, liveness_mode="async", session="S1")
    make.beat(token, now + seconds(1), session="S2")
    sweep(now + hours(2))
    sign_off(token, "analyst", now + hours(3), "S1")
    assert word("analyst", now + hours(3)) == "dormant"
    assert edges("analyst")[1:] == [("live", "dormant")]
