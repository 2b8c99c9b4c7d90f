"""What counts as being seen: own calls at the hub's receive time, and nothing else (P02, P11, R31, R32)."""

import random
from datetime import UTC, datetime, timedelta

import pytest

from roster import access, beats, errors, queries, schemas
from roster.models import Agent, Event
from roster.services import batch, guard, people, registry, sweeps, tokens, uptime
from tests import make

from .fleet import Fleet, edges, hours, minutes, seconds, shown, sweep, sweep_all, word

pytestmark = pytest.mark.django_db


@pytest.fixture
def echo(now):
    return make.agent("echo", now, liveness_mode="async")


def caller(token: str) -> access.Caller:
    return access.caller(access.digest(token))


def speaking(echo, now):
    """Each way an agent, or its node for it, speaks: it moves last_seen."""
    _, token = echo
    return {
        "a heartbeat": lambda at: make.beat(token, at),
        "a heartbeat with news": lambda at: make.beat(token, at, status="working: notes"),
        "a PUT": lambda at: make.beat(token, at, "echo", status="idle"),
        "a line of a node's batch": lambda at: Fleet(now).beat(["echo"], at),
        "a line with news": lambda at: Fleet(now).beat(["echo"], at, "working: notes"),
        "a sign-off": lambda at: registry.sign_off(caller(token), "echo", None, at),
        "a late sign-off of an old session": lambda at: registry.sign_off(caller(token), "echo", "unknown", at),
    }


SPEAKING = list(speaking((None, ""), None))


@pytest.mark.parametrize("call", SPEAKING)
def test_a_writing_call_of_the_agent_itself_counts_as_being_seen_P11(call, echo, now):
    """The API's table over all routes walks the same line from outside; here are the services."""
    make.beat(echo[1], now, session="here", host="alder")
    speaking(echo, now)[call](now + minutes(1))
    agent = Agent.objects.get(slug="echo")
    assert agent.last_seen == now + minutes(1)
    assert agent.last_seen_source == ("own_call" if "sign-off" in call else "heartbeat")


def looking(echo, now):
    """Everything else that happens around an agent: it leaves last_seen alone."""
    agent, token = echo
    return {
        "a list": lambda at: queries.page(queries.Selection(), at),
        "a look at it": lambda at: shown("echo", at),
        "who am I": lambda at: access.caller(access.digest(token)),
        "both sweeps": lambda at: sweep_all(at),
        "a sweep that records its silence": lambda at: sweep_all(at + hours(3)),
        "the sweep watch": lambda at: sweeps.watch({sweeps.WATCH: minutes(1)}, at),
        "a hub start": lambda at: (uptime.begin(now, 5), uptime.begin(at, 5)),
        "a clock step": lambda at: (uptime.begin(now, 5), uptime.clock_stepped(hours(1), at)),
        "an edit by an admin": lambda at: registry.edit(agent, {"expected_interval": 60}, by="mira", now=at),
        "an edit of its profile": lambda at: make.profile("echo", at, title="Echo"),
        "a new token": lambda at: tokens.issue("agent", by="mira", now=at, agent=agent),
        "a revoked token": lambda at: tokens.revoke(agent.tokens.get(), by="mira", now=at),
        "a release of held edges": lambda at: guard.release(by="mira", now=at),
        "another agent's heartbeat": lambda at: make.beat(make.agent("other", at)[1], at),
    }


LOOKING = list(looking((None, ""), None))


@pytest.mark.parametrize("act", LOOKING)
def test_a_read_an_edit_and_a_sweep_never_count_as_being_seen_P11(act, echo, now):
    looking(echo, now)[act](now + minutes(1))
    agent = Agent.objects.get(slug="echo")
    assert (agent.last_seen, agent.evidence_at, agent.last_seen_source) == (now, now, "heartbeat")


def test_a_refused_heartbeat_leaves_no_trace(echo, now):
    _, other = make.agent("other", now)
    for token, refusal in ((other, errors.Forbidden), ("agora_a_unknown", errors.Unauthorized)):
        with pytest.raises(refusal):
            make.beat(token, now + minutes(1), "echo")
    assert Agent.objects.get(slug="echo").last_seen == now


def test_a_person_at_an_open_page_is_seen(now):
    user = make.person("mira")
    people.at_a_page(user, now)
    assert (word("mira", now + seconds(60)), word("mira", now + seconds(91))) == ("live", "dormant")
    assert shown("mira", now)["last_seen_source"] == "own_call"


# ---- receive time only ----------------------------------------------------------------------------------------------


def test_last_seen_is_the_hubs_receive_time_whatever_the_client_says_P02(echo, now, soak):
    """Client times up to ten years off, as many as the promise asks for."""
    dice, received = random.Random(2), now
    for _ in range(1_000 if soak else 200):
        received += seconds(dice.uniform(0.001, 30))
        make.beat(echo[1], received, sent_at=received + timedelta(days=dice.uniform(-3650, 3650)))
        agent = Agent.objects.get(slug="echo")
        assert agent.last_seen == received
        assert agent.deadline == received + hours(1)


SENT = {
    "three hours behind": (-10800.0, True),
    "three hours ahead": (10800.0, True),
    "no time at all": (None, False),
    "just inside the warning": (300.0, False),
    "just outside the warning": (-300.1, True),
}


@pytest.mark.parametrize("case", SENT)
def test_a_clients_clock_is_shown_as_skew_and_never_used_F004(case, echo, now):
    """Scenario F004; a skew above 300 s is noted once, and becomes clock_skew_s in the answer."""
    skew, warned = SENT[case]
    at = now + minutes(1)
    make.beat(echo[1], at, status="idle", sent_at=None if skew is None else at + seconds(skew))
    told = shown("echo", at)
    assert (told["last_seen"], told["status"], told["clock_skew_s"]) == (schemas.stamp(at), "idle", skew)
    assert Event.objects.filter(kind="clock_skew").exists() == warned


def test_a_time_of_1970_is_only_a_very_large_skew_F004(echo, now):
    make.beat(echo[1], now + minutes(1), sent_at=datetime(1970, 1, 1, tzinfo=UTC))
    told = shown("echo", now + minutes(1))
    assert told["last_seen"] == schemas.stamp(now + minutes(1)) and told["clock_skew_s"] < -(10**9)


def test_an_agent_that_claims_the_future_still_falls_silent_F005(now):
    """It claims now + 400 days and dies: dormant after 2 x 60 s, recorded within a sweep, the attempt noted once."""
    _, token = make.agent("echo", now, liveness_mode="async", expected_interval=60)
    for i in range(3):
        make.beat(token, now + seconds(i), sent_at=now + timedelta(days=400))
    last = now + seconds(2)
    assert word("echo", last + minutes(2)) == "live"
    assert word("echo", last + seconds(120.001)) == "dormant"
    sweep(last + minutes(7))
    assert edges("echo")[-1] == ("live", "dormant")
    assert Event.objects.filter(kind="clock_skew").count() == 1


def test_no_part_of_a_heartbeat_can_name_a_time_of_being_seen_F005():
    """Only ``sent_at`` carries a time at all, in the heartbeat and in the registration."""
    for schema in (schemas.Beat, schemas.Put):
        times = {name for name, field in schema.model_fields.items() if "datetime" in str(field.annotation)}
        assert times == {"sent_at"}
    assert not {"last_seen", "evidence_at", "deadline"} & set(beats.Said.__slots__)


# ---- what a heartbeat writes ----------------------------------------------------------------------------------------


def test_a_beat_without_news_writes_one_row_and_moves_no_version(echo, now, django_assert_max_num_queries):
    before = Agent.objects.get(slug="echo")
    with django_assert_max_num_queries(5):  # the token, the row, the update, and the transaction around them
        make.beat(echo[1], now + minutes(1), status="idle")
    after = Agent.objects.get(slug="echo")
    assert after.changed == before.changed
    assert after.check_after == before.check_after


def test_a_beat_with_news_moves_the_version_and_is_recorded_once(echo, now):
    before = Agent.objects.get(slug="echo").changed
    make.beat(echo[1], now + minutes(1), status="working: notes")
    make.beat(echo[1], now + minutes(2), status="working: notes")
    assert Agent.objects.get(slug="echo").changed > before
    told = Event.objects.filter(kind="activity", agent__slug="echo").latest("pk")
    assert (told.before["activity"], told.after) == ("idle", {"activity": "working", "task": "notes"})
    assert Event.objects.filter(kind="activity", after__task="notes").count() == 1


def test_a_heartbeat_without_status_keeps_it_and_a_status_without_task_clears_the_task(echo, now):
    token = echo[1]
    make.beat(token, now, status="busy", task="notes")
    make.beat(token, now + seconds(1))
    assert (shown("echo", now)["status"], shown("echo", now)["task"]) == ("working: notes", "notes")
    make.beat(token, now + seconds(2), task="tests")
    assert shown("echo", now)["task"] == "tests"
    make.beat(token, now + seconds(3), status="idle")
    assert (shown("echo", now)["status"], shown("echo", now)["task"]) == ("idle", None)


def test_a_put_replaces_task_and_meta_and_keeps_what_is_declared(now):
    """D21, R17, R18: status, task and meta are the body's; mode and interval stay where it does not name them."""
    _, token = make.agent("echo", now, liveness_mode="async", expected_interval=60, task="notes", meta={"a": 1})
    make.beat(token, now, "echo", status="idle", replace=True)
    told = shown("echo", now)
    assert (told["task"], told["meta"], told["liveness_mode"], told["expected_interval"]) == (None, {}, "async", 60)


def test_a_batch_is_for_a_node_and_for_agents_that_it_may_speak_for(echo, now):
    alder, birch = Fleet(now, "alder"), Fleet(now, "birch")
    make.person("mira")
    Agent.objects.filter(slug="echo").update(home_node=birch.who.node_id)
    make.agent("gone", now)
    Agent.objects.filter(slug="gone").update(lifecycle="retired")
    make.agent("free", now)
    asked = [batch.Entry(slug) for slug in ("echo", "free", "alder", "birch", "mira", "gone", "nobody")]
    accepted, refused = batch.record(alder.who, asked, now)
    assert accepted == ["free", "alder"]
    assert {slug: why.code for slug, why in refused} == {
        "echo": "not_yours", "birch": "not_yours", "mira": "not_yours", "gone": "retired", "nobody": "not_registered",
    }  # fmt: skip
    with pytest.raises(errors.Forbidden):
        batch.record(caller(echo[1]), asked, now)


def test_the_last_line_of_an_agent_in_a_batch_counts(echo, now):
    fleet = Fleet(now)
    lines = [batch.Entry("echo", "idle"), batch.Entry("echo", "working: notes")]
    assert batch.record(fleet.who, lines, now + seconds(1)) == (["echo"], [])
    assert shown("echo", now)["task"] == "notes"


def test_a_batch_wakes_the_dormant_and_notes_the_edge(echo, now):
    fleet, later = Fleet(now), now + hours(2)
    sweep(later)
    fleet.beat(["echo"], later)
    assert edges("echo")[-2:] == [("live", "dormant"), ("dormant", "live")]


def test_a_line_without_news_from_an_agent_that_was_overdue_is_still_a_return(echo, now):
    """No sweep has run, so it is recorded live; its window had passed all the same, and the return is told."""
    Fleet(now).beat(["echo"], now + hours(2))
    assert edges("echo")[-1] == ("dormant", "live")
    assert Agent.objects.get(slug="echo").live_since == now + hours(2)
