"""A move to another node: only while idle, and nothing of the agent stays behind (R95, R96)."""

from __future__ import annotations

import pytest

from inbox.models import Exchange
from roster.employment import admission
from roster.errors import Conflict, Forbidden
from roster.models import Agent, Event, Token
from roster.services import engrams, hiring, memory
from tests import make
from tests.inbox import post

from .fleet import minutes
from .staff import ADMIN, MANAGER, finish, hire, of_node, prompt

pytestmark = pytest.mark.django_db


@pytest.fixture
def scribe(now) -> str:
    make.node("birch", now), make.agent("mallory", now)
    return hire("scribe", now)[1]


def test_whatever_is_its_own_goes_with_it_r96(scribe, now):
    sender = make.agent("sender", now)[1]
    for n in range(3):
        post.send(sender, "scribe", now, body=f"letter {n}")
    memory.remember(post.hand(scribe, "", now).who, "scribe", "fact", "the fan rattles", now)
    engrams.edit(ADMIN, "scribe", "You keep notes.", now)
    make.rule("review", now), make.report("scribe", "review", "1a2b", now)
    waiting = prompt("scribe", "mallory", now)
    kept = ("slug", "waiting", "queued", "max_sessions", "lifecycle", "enabled", "liveness_mode", "last_seen")
    before = Agent.objects.filter(slug="scribe").values(*kept).get()
    moved = hiring.reassign(MANAGER, "scribe", "birch", now + minutes(1))
    assert Agent.objects.filter(slug="scribe").values(*kept).get() == before and moved.home_slug == "birch"
    assert len(post.states("scribe")) == 4 and Exchange.objects.get(pk=waiting.pk).state == "queued"
    assert moved.memory.count() == moved.engrams.count() == moved.warnings.count() == 1
    assert Token.objects.get(agent=moved).revoked_at is None
    assert make.beat(scribe, now + minutes(1), status="idle").agent.home_slug == "birch"
    event = Event.objects.get(kind="reassigned")
    assert (event.before, event.after) == (
        {"node": "alder", "workspace": "/srv/scribe"}, {"node": "birch", "workspace": ""}
    )  # fmt: skip


def test_it_is_given_nothing_to_run_until_the_new_node_is_ready_r96(scribe, now):
    """The old node has no say any more; prompts may wait meanwhile."""
    hiring.reassign(MANAGER, "scribe", "birch", now)
    agent = Agent.objects.get(slug="scribe")
    assert (agent.lifecycle, agent.workspace_state, agent.workspace) == ("active", "wanted", "")
    assert (admission(agent).word, admission(agent).queues, admission(agent).runs) == ("unready", True, False)
    with pytest.raises(Forbidden):
        hiring.report_workspace(of_node("alder"), "scribe", "ready", "/srv", "", now)
    ready = hiring.report_workspace(of_node("birch"), "scribe", "ready", "/home/scribe", "", now)
    assert admission(ready).runs and ready.workspace == "/home/scribe"


def test_a_busy_agent_stays_where_it_is_r95(scribe, now):
    """A prompt that runs, a message that is taken; what only waits keeps nobody. A lapsed lease holds nothing."""
    post.send(make.agent("sender", now)[1], "scribe", now)
    post.drain(scribe, "scribe", now, seconds=60)
    running = prompt("scribe", "mallory", now, running_until=now + minutes(5))
    prompt("scribe", "mallory", now)
    for held in ({"running": 1, "leased": 1}, {"running": 0, "leased": 1}):
        with pytest.raises(Conflict) as why:
            hiring.reassign(MANAGER, "scribe", "birch", now)
        assert (why.value.code, why.value.detail, why.value.state) == ("busy", held, "active")
        assert "reassign" not in why.value.allowed and "drain" in why.value.allowed
        finish(running, now)
    assert hiring.reassign(MANAGER, "scribe", "birch", now + minutes(1)).home_slug == "birch"


def test_a_move_to_where_it_lives_is_no_move(scribe, now):
    with pytest.raises(Conflict) as why:
        hiring.reassign(MANAGER, "scribe", "alder", now)
    assert why.value.code == "at_home" and not Event.objects.filter(kind="reassigned").exists()


def test_a_member_that_mail_waited_for_is_hired_with_its_mail(scribe, now):
    """Its row was entered for its mail; it is nobody's yet. Hired, it cannot be registered by anybody else."""
    make.profile("notes", now, liveness_mode="async", title="Keeper of notes")
    post.send(make.agent("sender", now)[1], "notes", now)
    agent, raw = hire("notes", now)
    assert (agent.lifecycle, agent.waiting, agent.display_name) == ("active", 1, "Keeper of notes")
    assert post.seqs(post.drain(raw, "notes", now)) == [1]
    hire("later", now, ready=False)
    Token.objects.filter(agent__slug="later").update(agent=agent)
    with pytest.raises(Conflict):
        make.agent("later", now)
