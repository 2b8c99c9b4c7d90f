"""Two rows of one node become one: mail, memory and record of both are kept in the node's own agent (R127)."""

from __future__ import annotations

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from inbox.models import Exchange
from inbox.services import merging
from roster.errors import HubError
from roster.models import Agent, Event, MemoryEntry
from roster.services import memory
from tests import make
from tests.inbox import post
from tests.roster.fleet import minutes
from tests.roster.staff import finish, hire, prompt
from tests.web.calls import stored

pytestmark = pytest.mark.django_db


@pytest.fixture
def two(now) -> dict[str, str]:
    """The node alder with its agent, and the agent old-alder that had spoken for the machine before, with its token."""
    raw = make.agent("old-alder", now)[1]
    return {"sender": make.agent("sender", now)[1], "old-alder": raw, "alder": make.node("alder", now)[2]}


def who(raw: str):
    return post.hand(raw, "", None).who


def test_mail_memory_and_record_of_both_are_the_nodes_agents_r127(two, now):
    for to in ("old-alder", "alder", ["old-alder", "alder"]):
        post.send(two["sender"], to, now)
    memory.remember(who(two["old-alder"]), "old-alder", "fact", "the fan rattles", now)
    memory.remember(who(two["alder"]), "alder", "fact", "the rack is full", now)
    finish(prompt("old-alder", "sender", now, running_until=now + minutes(2)), now)
    prompt("old-alder", "sender", now)
    moved = merging.merge("alder", "old-alder", by="terminal", now=now)
    assert (moved.messages, moved.memory, moved.prompts) == (1, 1, 2)
    assert post.states("alder") == {1: "waiting", 2: "waiting", 3: "waiting"}
    own, gone = Agent.objects.get(slug="alder"), Agent.objects.get(slug="old-alder")
    assert (own.waiting, own.queued, gone.waiting, gone.queued) == (3, 1, 0, 0)
    texts = MemoryEntry.objects.filter(agent=own).order_by("pk").values_list("text", flat=True)
    assert list(texts) == ["the rack is full", "the fan rattles"]
    assert set(Exchange.objects.values_list("target__slug", "of_node")) == {("alder", True)}
    assert (gone.lifecycle, gone.successor) == ("retired", own)
    post.sweep(now)
    assert post.notices("sender") == [], "what the node's agent has is not lost"
    merged = Event.objects.get(kind="agents_merged")
    assert (merged.by, merged.agent, merged.after["from"]) == ("terminal", own, "old-alder")


def test_the_command_says_what_it_did_r127(two, now, capsys):
    post.send(two["sender"], "old-alder", now)
    call_command("merge-node-agents", "alder", "old-alder")
    assert capsys.readouterr().out.startswith("1 messages, 0 entries of memory and 0 prompts of old-alder are alder's")
    with pytest.raises(CommandError, match="it is retired"):
        call_command("merge-node-agents", "alder", "old-alder")


NONSENSE = {
    "nobody": "not_found",
    "alder": "kind",
    "birch": "kind",
    "vera": "kind",
    "scribe": "elsewhere",
    "busy": "busy",
    "asked": "busy",
}


@pytest.mark.parametrize("other", NONSENSE)
def test_what_is_no_second_row_of_the_node_is_left_alone_r127(two, now, other):
    make.node("birch", now), make.person("vera"), hire("scribe", now, node="birch")
    busy = make.agent("busy", now)[1]
    post.send(two["sender"], "busy", now)
    post.drain(busy, "busy", now, seconds=3600)
    make.agent("asked", now)
    prompt("asked", "sender", now, running_until=now + minutes(5))
    before = stored()
    with pytest.raises(HubError) as why:
        merging.merge("alder", other, by="terminal", now=now)
    assert why.value.code == NONSENSE[other] and stored() == before
    with pytest.raises(HubError):
        merging.merge("elm", "sender", by="terminal", now=now)
