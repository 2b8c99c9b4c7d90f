"""Hiring onto a node, and what may change while an agent is employed: its place, its cap, its tools, its name.

A node's row is locked before an agent's: whoever hires onto it or moves to it sees whether it is being retired.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from django.db import IntegrityError, transaction

from roster import access, employment, states, tools, work
from roster.errors import Conflict, Forbidden
from roster.models import Agent, AgentTemplate, Node

from . import engrams, journal, registry, tokens

PLACE = ("home_node", "workspace", "workspace_state", "workspace_error")


@dataclass(frozen=True, slots=True)
class Wanted:
    """Who is to be hired, and onto which ``node``. ``expected_interval`` is in seconds, ``tools`` None are the usual
    ones; a clone has a ``template`` and ends at ``expires_at``."""

    slug: str
    node: str
    display_name: str = ""
    max_sessions: int = 1
    tools: list[str] | None = None
    engram: str = ""
    liveness_mode: str = states.ASYNC
    expected_interval: int = states.DEFAULT_INTERVAL
    template: AgentTemplate | None = None
    expires_at: datetime | None = None


def hire(who: access.Caller, wanted: Wanted, usual: tools.Usual, now: datetime, **told) -> tuple[Agent, str]:
    """Hires an employee onto an enrolled node and returns it with its own token, raw and once. It is ``hired`` until
    the node reports its workspace ready. ``usual`` are the tools of who has no list of its own; ``told`` goes into the
    event.

    Raises Forbidden, NotFound for the node, Invalid for an illegal id, and Conflict where the id is taken or the node is
    being retired.
    """
    access.require(who, "hire")
    return employ(replace(wanted, tools=tools.checked(wanted.tools, usual)), by=who.name, now=now, **told)


def employ(
    wanted: Wanted, *, by: str, now: datetime, kind: str = "hired", reason: str = "", **told
) -> tuple[Agent, str]:
    """``hire`` without its question for a permission; ``told`` goes into the event of ``kind``. An id is one agent for
    good: of two who hire at once one is told that it is taken."""
    access.valid_slug(wanted.slug)
    try:
        with transaction.atomic():
            home = open_node(wanted.node)
            agent = _entered(wanted, home, now)
            if wanted.engram:
                engrams.write(agent, wanted.engram, by=by, now=now)
            raw = tokens.issue("agent", by=by, now=now, agent=agent, label=kind)
            after = {"lifecycle": agent.lifecycle, "node": home.slug, "max_sessions": agent.max_sessions, **told}
            journal.write(journal.happened(kind, by, now, agent=agent, after=after, reason=reason), changed=[agent.pk])
    except IntegrityError:
        raise access.taken(wanted.slug) from None
    return agent, raw


def _entered(wanted: Wanted, home: Node, now: datetime) -> Agent:
    """The row of the new employee: a new one, or the one that waited for an agent of this id, with its mail."""
    agent = registry.unclaimed(wanted.slug) or Agent(slug=wanted.slug, created_at=now)
    columns = {
        "display_name": wanted.display_name or agent.display_name, "lifecycle": states.HIRED, "lifecycle_since": now,
        "liveness_mode": wanted.liveness_mode, "expected_interval": wanted.expected_interval,
        "trust_posture": registry.POSTURES.get(wanted.liveness_mode, "untrusted-host"), "home_node": home,
        "max_sessions": wanted.max_sessions, "tool_scope": wanted.tools, "workspace_state": employment.WANTED,
        "template": wanted.template, "expires_at": wanted.expires_at,
    }  # fmt: skip
    for name, value in columns.items():
        setattr(agent, name, value)
    agent.save(force_insert=agent.pk is None, update_fields=columns if agent.pk else None)
    return agent


def open_node(slug: str) -> Node:
    """The node ``slug``, its row locked, onto which somebody is to come. Raises NotFound, and Conflict where it is being
    retired."""
    home = access.node(slug)
    if home.lifecycle != "enrolled":
        said = f"The node '{slug}' is {home.lifecycle}: nobody comes to live there any more."
        raise Conflict(said, state=home.lifecycle, allowed=[], code=f"node_{home.lifecycle}")
    return home


@transaction.atomic
def report_workspace(who: access.Caller, slug: str, state: str, path: str, error: str, now: datetime) -> Agent:
    """The node of the agent ``slug`` says that its workspace is ``ready``, or why it ``failed``. With a ready one a hired
    agent becomes active; the same report again changes nothing.

    Raises Forbidden for anybody but the agent's home node, and Conflict.
    """
    if who.node_id is None or not Agent.objects.filter(slug=slug, home_node=who.node_id).exists():
        raise _not_its_home()
    agent = access.employee(slug, employment.WORKSPACE)
    if agent.home_node_id != who.node_id:  # it was moved meanwhile
        raise _not_its_home()
    before = _standing(agent)
    agent.workspace_state, agent.workspace_error = state, "" if state == employment.READY else error
    agent.workspace = path or agent.workspace
    if state == employment.READY and agent.lifecycle == states.HIRED:
        agent.lifecycle, agent.lifecycle_since = states.ACTIVE, now
    if _standing(agent) == before:
        return agent
    agent.save(update_fields=[*PLACE, "lifecycle", "lifecycle_since"])
    after = _standing(agent)
    event = journal.happened(f"workspace_{state}", who.name, now, agent=agent, before=before, after=after)
    journal.write(event, changed=[agent.pk])
    return agent


def _not_its_home() -> Forbidden:
    return Forbidden("Only the home node of an agent reports about its workspace.", code="not_yours")


def _standing(agent: Agent) -> dict:
    return {
        "lifecycle": agent.lifecycle,
        "workspace": agent.workspace,
        "state": agent.workspace_state,
        "error": agent.workspace_error,
    }


@transaction.atomic
def reassign(who: access.Caller, slug: str, node: str, now: datetime) -> Agent:
    """Moves the agent ``slug``, which has to be idle, to another node: what waits for it goes with it, and so do its
    memory, its warnings and its token (R96). It is given no prompt until the new node reports a workspace; the event
    tells which place is left behind.

    Raises Forbidden, NotFound, and Conflict where it is busy, at home there already, or the node is being retired.
    """
    access.require(who, "reassign")
    home = open_node(node)
    agent = access.employee(slug, employment.REASSIGN)
    if agent.home_node_id == home.pk:
        raise _refused(agent, f"{slug} is at home on {node} already.", "at_home")
    held = work.registered().held(agent, now)
    if not held.is_idle:
        busy = {"running": held.running, "leased": held.leased}
        said = (
            f"{slug} is busy: {held.running} prompts run, {held.leased} messages are taken. It moves once it is idle."
        )
        raise _refused(agent, said, "busy", **busy)
    before = {"node": agent.home_slug, "workspace": agent.workspace}
    agent.home_node, agent.workspace, agent.workspace_state, agent.workspace_error = home, "", employment.WANTED, ""
    agent.save(update_fields=PLACE)
    after = {"node": home.slug, "workspace": ""}
    event = journal.happened("reassigned", who.name, now, agent=agent, before=before, after=after)
    journal.write(event, changed=[agent.pk])
    return agent


def _refused(agent: Agent, said: str, code: str, **detail) -> Conflict:
    allowed = [verb for verb in employment.allowed(agent) if verb != employment.REASSIGN]
    return Conflict(said, state=agent.lifecycle, allowed=allowed, code=code, **detail)


TERMS = ("display_name", "max_sessions", "tool_scope")


@transaction.atomic
def change_terms(who: access.Caller, slug: str, wanted: dict, usual: tools.Usual, now: datetime) -> Agent:
    """Gives the agent ``slug`` another name, cap or list of tools, those of TERMS that are ``wanted``. A higher cap
    holds for its queue at once, a lower one ends nothing (R89). ``usual`` are the tools of who has no list.

    Raises Forbidden, NotFound, Retired, Invalid, and Conflict where the agent cannot have it: a person, or a cap of a
    node's own agent.
    """
    access.require(who, "hire")
    agent = access.ai(slug)
    if "max_sessions" in wanted and agent.kind == "node":
        raise _refused(agent, f"{slug}: a node's own agent does one thing at a time.", "node_agent")
    if "tool_scope" in wanted:
        scope = wanted["tool_scope"]
        wanted = wanted | {"tool_scope": tools.checked(scope, usual, kind=agent.kind, template=agent.template)}
    before = {name: getattr(agent, name) for name in wanted if getattr(agent, name) != wanted[name]}
    if not before:
        return agent
    for name in before:
        setattr(agent, name, wanted[name])
    agent.save(update_fields=before)
    after = {name: wanted[name] for name in before}
    event = journal.happened("edited", who.name, now, agent=agent, before=before, after=after)
    journal.write(event, changed=[agent.pk])
    return agent
