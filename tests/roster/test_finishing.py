"""Draining: what an agent still has to do is done, and then it is retired by itself; never before, and never by force (P36)."""

from __future__ import annotations

from functools import partial

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from inbox.models import Delivery, Exchange
from roster import queries
from roster.employment import admission
from roster.models import Agent, Anomaly, Event
from roster.services import hiring, nodes, registry, sweeps, switch
from roster.services import lifecycle as verbs
from tests import make
from tests.inbox import post
from tests.together import at_once

from .fleet import TICK, hours, minutes, open_anomalies, seconds, shown, sweep_all
from .staff import ADMIN, MANAGER, finish, hire, lifecycle, of_node, prompt, sweep


@pytest.fixture
def scribe(db, now) -> str:
    """The token of an employee whose workspace is ready."""
    make.agent("mallory", now)
    return hire("scribe", now)[1]


def drained(now, **more) -> Agent:
    return verbs.drain(MANAGER, "scribe", "its work is done", now, **more)


def test_an_empty_agent_is_seen_draining_before_it_is_retired_f086(scribe, now):
    assert drained(now).lifecycle == "draining"
    assert shown("scribe", now)["lifecycle"] == "draining"
    sweep(now + seconds(5))
    agent = Agent.objects.get(slug="scribe")
    assert (agent.lifecycle, agent.lifecycle_since, agent.lifecycle_reason) == (
        "retired", now + seconds(5), "its work is done"
    )  # fmt: skip
    kinds = list(Event.objects.filter(agent=agent).order_by("pk").values_list("kind", "by"))
    assert kinds[-2:] == [("draining", "mira"), ("retired", "hub")]


def test_one_leased_message_holds_it_until_its_ack_f086_p36(scribe, now):
    post.send(make.agent("sender", now)[1], "scribe", now)
    lease = post.drain(scribe, "scribe", now)["lease"]
    drained(now)
    sweep(now + seconds(30))
    assert lifecycle("scribe") == "draining"
    post.ack(scribe, "scribe", now + seconds(60), [1], lease)
    sweep(now + seconds(61))
    assert lifecycle("scribe") == "retired" and post.states("scribe") == {1: "acked"}


def test_a_lease_that_lapsed_holds_nobody_f086_p36(scribe, now):
    post.send(make.agent("sender", now)[1], "scribe", now)
    post.drain(scribe, "scribe", now, seconds=60)
    drained(now)
    sweep(now + seconds(60) - TICK)
    assert lifecycle("scribe") == "draining"
    sweep(now + seconds(60))
    assert lifecycle("scribe") == "retired" and post.states("scribe") == {1: "archived"}


@pytest.mark.parametrize("gone", [0, 48], ids=["live", "dormant"])
def test_mail_that_still_waits_is_put_away_and_its_senders_are_told_f086(scribe, now, gone):
    """Twenty letters, of a live one and of one that is dormant: nothing is lost silently."""
    sender = make.agent("sender", now)[1]
    for n in range(20):
        post.send(sender, "scribe", now, body=f"letter {n}")
    at = now + hours(gone)
    drained(at)
    post.send(sender, "scribe", at, body="mail is still accepted")
    sweep(at)
    post.sweep(at)
    assert set(post.states("scribe").values()) == {"archived"} and len(post.states("scribe")) == 21
    assert Agent.objects.get(slug="scribe").waiting == 0
    told = " ".join(each.body for each in post.notices("sender"))
    assert "scribe was retired: its work is done" in told
    assert Delivery.objects.filter(recipient__slug="scribe", told=False).count() == 0
    assert Event.objects.get(kind="mail_archived").after == {"messages": list(range(1, 22))}


def test_prompts_from_before_are_finished_first_d26_p36(scribe, now):
    running = prompt("scribe", "mallory", now, running_until=now + minutes(10))
    waiting = prompt("scribe", "mallory", now)
    drained(now)
    sweep(now)
    assert lifecycle("scribe") == "draining"
    finish(running, now)
    sweep(now)
    assert lifecycle("scribe") == "draining"
    finish(waiting, now)
    sweep(now)
    assert lifecycle("scribe") == "retired"


def test_a_prompt_whose_runner_died_holds_nobody_p36(scribe, now):
    prompt("scribe", "mallory", now, running_until=now + minutes(2))
    drained(now)
    sweep(now + minutes(2))
    assert lifecycle("scribe") == "retired"
    assert Exchange.objects.get().outcome == "failed"


def test_a_disabled_agent_drains_like_any_other_p36(scribe, now):
    """Its prompts are answered by the switch; what it holds, it may still hand in."""
    post.send(make.agent("sender", now)[1], "scribe", now)
    lease = post.drain(scribe, "scribe", now)["lease"]
    waiting = prompt("scribe", "mallory", now)
    drained(now)
    switch.disable(MANAGER, "scribe", "it is wrong", now)
    assert Exchange.objects.get(pk=waiting.pk).outcome == "disabled"
    sweep(now)
    assert lifecycle("scribe") == "draining"
    post.ack(scribe, "scribe", now, [1], lease)
    sweep(now)
    assert lifecycle("scribe") == "retired"


def test_a_long_drain_is_an_anomaly_and_nothing_else_r109(scribe, now):
    prompt("scribe", "mallory", now, running_until=now + hours(100))
    drained(now)
    sweep(now + hours(24))
    assert open_anomalies("late_drain") == []
    sweep(now + hours(24) + TICK)
    assert open_anomalies("late_drain") == ["scribe"]
    assert Anomaly.objects.get().evidence["running"] == 1 and lifecycle("scribe") == "draining"
    finish(Exchange.objects.get(), now + hours(30))
    sweep(now + hours(30))
    assert open_anomalies() == [] and lifecycle("scribe") == "retired"


def test_no_anomaly_outlives_its_agent_f137(scribe, now):
    """Two sessions at once, then retired: the warning is gone with it, by one sweep."""
    for session in ("first", "second", "first"):
        make.beat(scribe, now, session=session, status="idle")
    assert open_anomalies("duplicate_sessions") == ["scribe"]
    drained(now)
    sweep(now)
    assert open_anomalies() == [] and Anomaly.objects.get().closed_at == now
    sweep_all(now + hours(400))
    assert open_anomalies() == []


def test_a_clone_whose_lifetime_ended_drains_and_is_never_cut_off_f159_r109(scribe, now):
    """Working, with mail and a prompt under way: it finishes."""
    raw = hire("clone", now, expires_at=now + hours(1))[1]
    post.send(make.agent("sender", now)[1], "clone", now)
    lease = post.drain(raw, "clone", now, seconds=7200)["lease"]
    running = prompt("clone", "mallory", now, running_until=now + hours(2))
    make.beat(raw, now, status="working: a report")
    sweep(now + hours(1) - TICK)
    assert lifecycle("clone") == "active"
    sweep(now + hours(1))
    agent = Agent.objects.get(slug="clone")
    assert (agent.lifecycle, agent.lifecycle_reason) == ("draining", "its lifetime ended")
    finish(running, now + hours(1))
    sweep(now + hours(1))
    assert lifecycle("clone") == "draining"
    post.ack(raw, "clone", now + hours(1), [1], lease)
    sweep(now + hours(1))
    assert lifecycle("clone") == "retired"
    forced = Event.objects.filter(agent=agent, kind="force_retired")
    assert not forced.exists() and Event.objects.get(agent=agent, kind="draining").by == "hub"


@pytest.mark.django_db(transaction=True)
def test_no_message_is_lost_between_a_drain_and_its_end_p36(now, soak):
    """The sweep that retires, a session that takes mail and one that writes, at the same instant; 200 rounds with
    --soak. Afterwards each letter is acked, or put away with its sender told, or its send was refused with 410."""
    sender = make.agent("sender", now)[1]
    for turn in range(200 if soak else 8):
        slug = f"scribe-{turn}"
        raw, at = hire(slug, now)[1], now + minutes(turn)
        stored = {post.send(sender, slug, at).seq for _ in range(3)}
        verbs.drain(MANAGER, slug, "", at)

        def take(raw=raw, slug=slug, at=at):
            try:
                taken = post.drain(raw, slug, at, limit=2)
                return post.ack(raw, slug, at, post.seqs(taken), taken["lease"]) if taken["lease"] else []
            except Exception as why:
                return why.code

        def write(slug=slug, at=at):
            try:
                return post.send(sender, slug, at).seq
            except Exception as why:
                return why.code

        _, _, late = at_once(partial(sweep, at), take, write)
        stored |= {late} if late != "retired" else set()
        sweep(at + seconds(10)), post.sweep(at + seconds(10))
        found = post.states(slug)
        assert lifecycle(slug) == "retired" and found.keys() == stored
        assert set(found.values()) <= {"acked", "archived"}
        given_up = Delivery.objects.filter(recipient__slug=slug, state="archived")
        assert given_up.filter(dead_at=None).count() == given_up.filter(told=False).count() == 0


def test_who_was_live_when_it_retired_is_counted_nowhere_afterwards(scribe, now):
    """No edge of it waits to be recorded, it is none of the live, and an edit by an admin raises no alarm about it."""
    make.agent("guard", now, liveness_mode="always-on", expected_interval=60)
    for slug in ("scribe", "guard"):
        verbs.force_retire(ADMIN, slug, "done", slug, now)
    keys = list(Agent.objects.filter(lifecycle="retired").values_list("pk", flat=True))
    later = now + hours(200)
    assert {row.id for row in queries.held_back(later)} == {"mallory"}
    assert len(keys) == 2 and sweeps.record_edges(keys, later) == 0
    Agent.objects.filter(slug="guard").update(recorded="silent")
    registry.edit(Agent.objects.get(slug="guard"), {"liveness_mode": "async"}, by="ada", now=later)
    registry.edit(Agent.objects.get(slug="guard"), {"liveness_mode": "always-on"}, by="ada", now=later)
    assert open_anomalies() == []


@pytest.mark.django_db
def test_who_drains_before_it_has_a_workspace_gets_one_and_finishes_in_it_d26(now):
    """It is handed nothing to run without one, and its drain waits for that."""
    agent, _ = hire("ivo", now, ready=False)
    asked = prompt("ivo", "ivo", now)
    verbs.drain(MANAGER, "ivo", "", now)
    sweep(now + minutes(1))
    agent.refresh_from_db()
    assert (agent.lifecycle, admission(agent).runs) == ("draining", False)
    ready = hiring.report_workspace(of_node("alder"), "ivo", "ready", "/srv/ivo", "", now + minutes(2))
    assert (ready.lifecycle, admission(ready).runs) == ("draining", True)
    finish(asked, now + minutes(3))
    sweep(now + minutes(4))
    agent.refresh_from_db()
    assert agent.lifecycle == "retired"


def test_a_node_is_locked_before_its_agent_when_both_retire(db, now):
    """Whoever retires, merges or hires locks in this order: in the other one two would wait for each other."""
    node, agent, _ = make.node("alder", now)
    nodes.retire(MANAGER, "alder", "sold", now)
    with CaptureQueriesContext(connection) as asked:
        assert verbs.settle(agent.pk, now)
    first = next(each["sql"] for each in asked if each["sql"].startswith("SELECT"))
    assert 'FROM "roster_node"' in first
    node.refresh_from_db()
    assert node.lifecycle == "retired"
