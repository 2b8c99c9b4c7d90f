"""The verbs that end an employment: drain, retire, dismiss, force-retire; and what happens once nothing is left to do.

Draining lets an agent finish; it is retired by itself when it is empty (``settle``). Only force-retire cuts off, and no
rule or sweep can take that path.
"""

from __future__ import annotations

from datetime import datetime

from django.db import transaction

from roster import access, employment, states, work
from roster.errors import Invalid
from roster.models import Agent, Anomaly, Node

from . import journal
from .switch import said

STATE = ("lifecycle", "lifecycle_since", "lifecycle_reason", "successor")


@transaction.atomic
def drain(who: access.Caller, slug: str, reason: str, now: datetime) -> Agent:
    """Lets the agent ``slug`` finish: it gets no new prompts, and is retired once it is empty. Raises Forbidden,
    NotFound, Conflict."""
    access.require(who, "retire")
    agent = access.employee(slug, employment.DRAIN)
    begin_drain(agent, by=who.name, now=now, reason=reason)
    return agent


@transaction.atomic
def drain_all(who: access.Caller, slugs: list[str], reason: str, now: datetime) -> int:
    """Drains the agents ``slugs``, or none of them: the refusal of one, whom it names, is that of all (F147). Returns how
    many. Raises as ``drain``."""
    access.require(who, "retire")
    rows = Agent.objects.select_for_update(no_key=True).filter(slug__in=slugs).order_by("pk")
    locked = [agent.slug for agent in rows]  # all of them, before the first is told to the journal
    for slug in locked:
        drain(who, slug, reason, now)
    return len(locked)


@transaction.atomic
def retire(who: access.Caller, slug: str, reason: str, successor: str | None, now: datetime) -> Agent:
    """Drains the agent ``slug`` for good and names who follows it; one that drains already is told its successor.

    Raises Forbidden, NotFound, Conflict, and Invalid where ``successor`` is nobody who could follow.
    """
    access.require(who, "retire")
    agent = access.employee(slug, employment.RETIRE)
    follows = _follows(agent, successor) if successor else None
    begin_drain(agent, by=who.name, now=now, reason=reason, successor=follows)
    return agent


@transaction.atomic
def force_retire(who: access.Caller, slug: str, reason: str, confirm: str, now: datetime) -> Agent:
    """Retires the agent ``slug`` at once and cuts off what it was doing. It has a permission of its own, and needs a
    reason and the id typed again. Raises Forbidden, NotFound, Conflict, Invalid."""
    access.require(who, "force_retire")
    agent = access.employee(slug, employment.FORCE_RETIRE)
    reason = said(reason)
    if confirm != agent.slug:
        raise Invalid("confirm", f"type the id of the agent, '{agent.slug}', to confirm")
    end(agent, by=who.name, now=now, reason=reason, kind="force_retired")
    return agent


def _follows(agent: Agent, slug: str) -> Agent:
    found = Agent.objects.filter(slug=slug).exclude(pk=agent.pk).exclude(lifecycle=states.RETIRED).first()
    if found is None:
        raise Invalid("successor", f"no other agent that is not retired has the id '{slug[:80]}'")
    return found


def begin_drain(
    agent: Agent, *, by: str, now: datetime, reason: str = "", successor: Agent | None = None, kind: str = "draining"
) -> None:
    """Puts ``agent``, whose row is locked, into draining, told as an event of ``kind``. One that drains already keeps
    the time and the reason it began with, unless it is given another."""
    before = {"lifecycle": agent.lifecycle, "successor": access.successor(agent)}
    if agent.lifecycle != states.DRAINING:
        agent.lifecycle, agent.lifecycle_since = states.DRAINING, now
    agent.lifecycle_reason = reason[:500] or agent.lifecycle_reason
    agent.successor = successor or agent.successor
    agent.save(update_fields=STATE)
    after = {"lifecycle": agent.lifecycle, "successor": access.successor(agent)}
    event = journal.happened(kind, by, now, agent=agent, before=before, after=after, reason=reason)
    journal.write(event, changed=[agent.pk])


@transaction.atomic
def settle(key: int, now: datetime) -> bool:
    """Retires the draining agent with the primary key ``key`` if it is empty, and its node where it is a node's own;
    True where it was retired. Like everywhere, the node's row is locked before the agent's."""
    Node.objects.select_for_update(of=("self",), no_key=True).filter(agents=key, agents__kind="node").first()
    agent = Agent.objects.select_for_update(no_key=True).filter(pk=key, lifecycle=states.DRAINING).first()
    if agent is None or not work.registered().held(agent, now).is_empty:
        return False
    end(agent, by="hub", now=now, reason=agent.lifecycle_reason)
    if agent.kind == "node":
        Node.objects.filter(pk=agent.home_node_id).update(lifecycle="retired")
        before, after = {"node": "retiring"}, {"node": "retired"}
        journal.write(journal.happened("node_retired", "hub", now, agent=agent, before=before, after=after))
    return True


def end(agent: Agent, *, by: str, now: datetime, reason: str, kind: str = "retired") -> None:
    """Retires ``agent``, whose row is locked: what waits for it is put away and told, and no anomaly outlives it."""
    before = {"lifecycle": agent.lifecycle}
    agent.lifecycle, agent.lifecycle_since, agent.lifecycle_reason = states.RETIRED, now, reason[:500]
    agent.save(update_fields=STATE)
    work.registered().retired(agent, now, by=by)
    Anomaly.objects.filter(agent=agent, closed_at=None).update(closed_at=now)
    after = {"lifecycle": states.RETIRED, "successor": access.successor(agent)}
    event = journal.happened(kind, by, now, agent=agent, before=before, after=after, reason=reason)
    journal.write(event, changed=[agent.pk])
