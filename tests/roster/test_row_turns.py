"""A row names the moments at which time alone changes what it says: what was made of it holds until the first."""

from __future__ import annotations

from datetime import timedelta

from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from roster import heard, rows, schemas
from roster.models import Agent
from tests.roster import random_fleets

SESSIONS = st.lists(st.tuples(st.integers(-1_000, 0), st.integers(-1_000, 0)), max_size=3)


@given(random_fleets.agents(broken=False), SESSIONS)
def test_between_the_moments_it_names_a_row_says_the_same(columns, sessions):
    """Followed from turn to turn: an interval in which something changed unforeseen would show."""
    moment = timezone.now()
    offsets = {name: columns.pop(name) for name in random_fleets.TIMES}
    at = {name: moment + timedelta(seconds=offset) for name, offset in offsets.items() if offset is not None}
    said = {f"session-{n}": _session(moment, *sorted(times)) for n, times in enumerate(sessions)}
    columns.pop("at_node")
    agent = Agent(pk=1, slug="echo", heard=said, **columns | at)
    if agent.evidence_at and not agent.deadline:
        agent.deadline = agent.evidence_at
    for _ in range(10):
        row = rows.of_agent(agent, moment)
        until = min(row.turns_at(moment), default=moment + timedelta(days=400))
        assert schemas.agent(rows.of_agent(agent, until)) == schemas.agent(row)
        assert schemas.agent(rows.of_agent(agent, moment + (until - moment) / 2)) == schemas.agent(row)
        moment = until + timedelta(microseconds=1)
    assert not rows.of_agent(agent, moment).turns_at(moment)


def _session(moment, first: int, last: int) -> dict:
    times = {"first": moment + timedelta(seconds=first), "last": moment + timedelta(seconds=last)}
    return {"host": "alder", **{name: each.isoformat() for name, each in times.items()}}


def test_two_sessions_stop_being_rivals_by_time_alone(now):
    """That the generated rows above have something to find."""
    said = {"a": _session(now, -100, -5), "b": _session(now, -50, 0)}
    agent = Agent(pk=1, slug="echo", heard=said)
    assert rows.of_agent(agent, now).duplicate_sessions == 2
    first = min(rows.of_agent(agent, now).turns_at(now))
    assert first == now - timedelta(seconds=5) + heard.RECENT
    assert rows.of_agent(agent, first + timedelta(microseconds=1)).duplicate_sessions == 0


def test_heartbeats_begin_to_fail_by_time_alone(now):
    """An own call keeps the agent live; a whole window without a heartbeat is one too long. A person sends none."""
    times = {
        "evidence_at": now,
        "last_seen": now,
        "heartbeat_at": now - timedelta(minutes=59),
        "live_since": now - timedelta(hours=9),
    }
    agent = Agent(
        pk=1,
        slug="echo",
        liveness_mode="async",
        last_seen_source="own_call",
        deadline=now + timedelta(hours=1),
        **times,
    )
    turn = now + timedelta(minutes=1)
    assert turn in rows.of_agent(agent, now).turns_at(now)
    assert not rows.of_agent(agent, turn).heartbeats_failing
    assert rows.of_agent(agent, turn + timedelta(microseconds=1)).heartbeats_failing
    agent.modality = "human"
    assert not rows.of_agent(agent, turn + timedelta(microseconds=1)).heartbeats_failing


def test_a_window_that_only_the_hubs_absence_keeps_open_is_told_apart_by_time_alone(now):
    times = {"evidence_at": now, "last_seen": now, "deadline": now + timedelta(hours=3)}
    agent = Agent(pk=1, slug="echo", liveness_mode="async", expected_interval=1800, **times)
    row = rows.of_agent(agent, now)
    assert row.turns_at(now) == [now + timedelta(hours=3), now + timedelta(hours=1)]
    later = rows.of_agent(agent, now + timedelta(hours=1, microseconds=1))
    assert later.presence.word == row.presence.word == "live" and later.presence.reason != row.presence.reason
