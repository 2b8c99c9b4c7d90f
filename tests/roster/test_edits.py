"""An admin's edit changes what is declared and what follows from it at once, and never what was seen."""

import pytest

from roster import states
from roster.errors import Conflict
from roster.models import Agent, Event
from roster.services import registry
from tests import make

from .fleet import edges, hours, minutes, open_anomalies, seconds, shown, sweep, word

pytestmark = pytest.mark.django_db


def edit(agent, now, **wanted) -> Agent:
    return registry.edit(agent, wanted, by="mira", now=now)


def test_an_edit_is_recorded_with_who_and_what(now):
    """P39, R16: the derived ``permanent`` follows the mode."""
    agent, _ = make.agent("echo", now, liveness_mode="async")
    edit(agent, now, display_name="Echo", liveness_mode="always-on")
    told = Event.objects.get(kind="edited")
    assert (told.by, told.before) == ("mira", {"display_name": "", "liveness_mode": "async"})
    assert told.after == {"display_name": "Echo", "liveness_mode": "always-on"}
    assert shown("echo", now)["permanent"] is True


def test_an_edit_that_changes_nothing_is_no_event(now):
    agent, _ = make.agent("echo", now, liveness_mode="async")
    known = Agent.objects.get().changed
    edit(agent, now, display_name="", liveness_mode="async")
    assert not Event.objects.filter(kind="edited").exists()
    assert Agent.objects.get().changed == known


def test_a_longer_interval_keeps_a_window_open_and_a_shorter_one_closes_it(now):
    agent, _ = make.agent("echo", now, liveness_mode="async", expected_interval=60)
    edit(agent, now + minutes(1), expected_interval=3600)
    assert word("echo", now + hours(2)) == "live" and sweep(now + hours(1)).edges == 0
    edit(agent, now + hours(1), expected_interval=600)
    assert word("echo", now + hours(1)) == "dormant"
    assert edges("echo")[1:] == [("live", "dormant")]
    assert sweep(now + hours(2)).edges == 0


def test_a_shorter_interval_is_looked_at_in_time(now):
    """The sweep does not wait for the moment at which it meant to look before the edit."""
    agent, _ = make.agent("echo", now, liveness_mode="async", expected_interval=states.LONGEST)
    edit(agent, now + minutes(1), expected_interval=60)
    assert sweep(now + minutes(3)).edges == 1


def test_an_edit_that_makes_an_agent_silent_opens_the_anomaly_and_one_that_does_not_closes_it(now):
    """R9, R10: a dormant member becomes always-on, then async again; then a live one, for the other direction."""
    agent, token = make.agent("echo", now, liveness_mode="async")
    sweep(now + hours(2))
    edit(agent, now + hours(2), liveness_mode="always-on")
    assert (word("echo", now + hours(2)), open_anomalies()) == ("silent", ["echo"])
    edit(agent, now + hours(2), liveness_mode="async")
    assert (word("echo", now + hours(2)), open_anomalies()) == ("dormant", [])
    make.beat(token, now + hours(3))
    edit(agent, now + hours(3), liveness_mode="always-on")
    assert (word("echo", now + hours(3)), open_anomalies()) == ("live", [])


def test_an_edit_takes_no_blame_for_an_edge_that_time_brought(now):
    """The window ended, no sweep has come by yet, and an admin gives the agent another name."""
    agent, _ = make.agent("echo", now, liveness_mode="async")
    edit(agent, now + hours(2), display_name="Echo")
    assert edges("echo") == [("dormant", "live")]
    assert sweep(now + hours(2)).edges == 1
    gone = Event.objects.filter(kind="presence").latest("pk")
    assert (gone.by, gone.at) == ("sweep", now + hours(1))


def test_an_edit_during_a_clock_that_was_behind_does_not_close_an_open_window(now):
    agent, _ = make.agent("echo", now, liveness_mode="async", expected_interval=60)
    Agent.objects.update(deadline=now + hours(1) + minutes(2))  # the wall clock stepped an hour ahead
    edit(agent, now + hours(1) + seconds(1), expected_interval=120)
    assert Agent.objects.get().deadline == now + hours(1) + minutes(4)


def test_an_agent_entered_by_hand_was_never_seen(now):
    """Listed dormant as a member, without a time; it gets its token from the admin."""
    registry.enrolled_by_hand("scribe", {"liveness_mode": "async"}, by="mira", now=now)
    told = shown("scribe", now + hours(9))
    assert (told["presence"], told["last_seen"], told["presence_reason"]) == ("dormant", None, "never seen")
    assert sweep(now + hours(9)).looked_at == 0
    with pytest.raises(Conflict, match="is taken"):
        registry.enrolled_by_hand("scribe", {}, by="mira", now=now)
