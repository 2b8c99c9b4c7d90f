"""Two processes with one identity are noticed, named, and make nothing flap (P15)."""

import pytest

from roster import queries
from roster.models import Agent, Event
from roster.services import sweeps
from tests import make

from .fleet import edges, listed, minutes, open_anomalies, seconds, shown

pytestmark = pytest.mark.django_db


def test_two_processes_with_one_token_are_one_agent_with_a_warning_F071(now):
    """P15, F071: every 5 s for 10 min from two sessions; the warning within a minute, no flap at all. Leases, which
    both scenarios of this file name too, come with the mailbox."""
    _, token = make.agent("twin", now, liveness_mode="async", session="one", host="alder")
    for i in range(1, 121):
        session, host = [("one", "alder"), ("two", "birch")][i % 2]
        make.beat(token, now + seconds(5 * i), status="idle", session=session, host=host)
        if i == 12:
            assert open_anomalies("duplicate_sessions") == ["twin"]
    told = shown("twin", now + minutes(10))
    assert (listed(now + minutes(10)), told["duplicate_sessions"]) == (["twin"], 2)
    assert edges("twin") == [("dormant", "live")]
    assert Agent.objects.get().anomalies.count() == 1


def test_the_warning_names_the_hosts_of_a_copied_token_F106(now):
    """Three machines with one token: within a minute the one warning names all of them."""
    _, token = make.agent("copied", now, liveness_mode="async", session="a", host="alder")
    for i in range(1, 12):
        session, host = [("a", "alder"), ("b", "birch"), ("c", "cedar")][i % 3]
        make.beat(token, now + seconds(5 * i), session=session, host=host)
    need = queries.needs_you(now + minutes(1))[0]
    assert need.text == "duplicate sessions: 3 (alder, birch, cedar)"
    assert shown("copied", now + minutes(1))["duplicate_sessions"] == 3


def test_the_warning_ends_some_minutes_after_the_rival_fell_silent_P15(now):
    _, token = make.agent("twin", now, liveness_mode="async", session="one")
    for i, session in enumerate(["two", "one", "two"]):
        make.beat(token, now + seconds(i + 1), session=session)
    periods = {sweeps.WATCH: minutes(1)}
    for i in range(1, 15):
        make.beat(token, now + minutes(i), session="two")
        sweeps.watch(periods, now + minutes(i))
    assert open_anomalies("duplicate_sessions") == []


def test_as_many_processes_as_an_employee_may_run_are_no_rivals_and_none_takes_over(now):
    _, token = make.agent("crew", now, liveness_mode="async", session="one")
    Agent.objects.update(max_sessions=2)
    for i, session in enumerate(["two", "one", "two", "one"]):
        make.beat(token, now + seconds(i + 1), session=session)
    assert open_anomalies("duplicate_sessions") == []
    assert not Event.objects.filter(kind="session_replaced").exists()
    for i, session in enumerate(["three", "one", "two"]):
        make.beat(token, now + seconds(i + 9), session=session)
    assert open_anomalies("duplicate_sessions") == ["crew"]
