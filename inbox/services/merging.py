"""Two rows for one node become one: what the other was sent, remembers and was asked is the node's own agent's from now
on, and the other retires (R127)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from inbox import rules
from inbox.models import Delivery, Exchange
from roster import access, states, work
from roster.errors import Conflict, NotFound
from roster.models import Agent, MemoryEntry, Node
from roster.services import journal, lifecycle
from roster.services.rows import insert

from . import boxes, exchanges, settling


@dataclass(frozen=True, slots=True)
class Merged:
    """How many messages, entries of memory and prompts the node's agent got."""

    messages: int
    memory: int
    prompts: int


@transaction.atomic
def merge(node: str, other: str, *, by: str, now: datetime) -> Merged:
    """Gives the mail, the memory and the record of the agent ``other`` to the own agent of ``node``, and retires
    ``other`` with that agent as its successor. What it wrote stays in its name: a message never changes.

    Raises NotFound, and Conflict where ``other`` is no second row of that node, or is busy.
    """
    home = access.node(node)
    rows = Agent.objects.select_for_update(no_key=True).order_by("pk")
    found = {each.slug: each for each in rows.filter(slug__in=(node, other))}
    own, gone = found.get(node), found.get(other)
    _refuse(home, own, gone, other)
    settling.settle(gone, now)
    exchanges.settle(gone, now)
    if not work.registered().held(gone, now).is_idle:
        raise _refused(gone, "it is busy; merge it once nothing of it runs and no message is taken", "busy")
    moved = Merged(_mail(gone, own, now), _memory(gone, own), _record(gone, own))
    boxes.recount([own.pk, gone.pk])
    for each in (own, gone):
        exchanges.recount(each)
    gone.successor = own
    lifecycle.end(gone, by=by, now=now, reason=f"merged into '{own.slug}', the agent of its node")
    after = {"from": gone.slug, "messages_moved": moved.messages, "memory": moved.memory, "prompts": moved.prompts}
    journal.write(journal.happened("agents_merged", by, now, agent=own, after=after), changed=[own.pk])
    return moved


def _refuse(home: Node, own: Agent | None, gone: Agent | None, other: str) -> None:
    if gone is None:
        raise NotFound(f"No agent has the id '{other[:80]}'.")
    if home.lifecycle != "enrolled":
        raise _refused(gone, f"the node '{home.slug}' is {home.lifecycle}", "node")
    if gone == own or gone.kind == "node" or gone.modality == "human":
        raise _refused(gone, "only an agent that is neither a person nor a node's own can be merged into one", "kind")
    if gone.lifecycle == states.RETIRED:
        raise _refused(gone, "it is retired", states.RETIRED)
    if gone.home_node_id not in (None, home.pk):
        raise _refused(gone, "it lives on another node", "elsewhere")


def _refused(agent: Agent, why: str, code: str) -> Conflict:
    return Conflict(f"'{agent.slug}' was not merged: {why}.", state=agent.lifecycle, allowed=[], code=code)


def _mail(gone: Agent, own: Agent, now: datetime) -> int:
    """Moves the box. What both were sent is in the other's already, so here it is put away without a word to anybody."""
    both = Delivery.objects.filter(recipient=own).values("message")
    box = Delivery.objects.filter(recipient=gone)
    box.filter(message__in=both).exclude(state=rules.ARCHIVED).update(state=rules.ARCHIVED, archived_at=now, lease=None)
    return box.exclude(message__in=both).update(recipient=own)


def _memory(gone: Agent, own: Agent) -> int:
    """Copies it: an entry never changes, not even whose it is."""
    entries = MemoryEntry.objects.filter(agent=gone).order_by("pk")
    copies = [MemoryEntry(agent=own, kind=each.kind, text=each.text, at=each.at) for each in entries]
    insert(copies)
    return len(copies)


def _record(gone: Agent, own: Agent) -> int:
    """Moves what was asked of it, also what waits; who asked, and whose answer it was, stays as it was."""
    return Exchange.objects.filter(target=gone).update(target=own, of_node=True)
