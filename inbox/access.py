"""Whose mail a caller may touch: the only way an outside name becomes a box, a message or a sender here.

A foreign inbox and a missing one, a foreign message and a missing one answer alike (P60, P61).
"""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db.models import Exists, OuterRef, Q, QuerySet

from roster.access import RANKS, Caller, not_yours, own, refuse_retired, role_of, speaks_for, spoken_for
from roster.errors import Forbidden, HubError, NotFound, Unauthorized
from roster.models import Agent, Token

from .models import Delivery, Exchange, Message


@dataclass(frozen=True, slots=True)
class Box:
    """An inbox as a caller sees it. A look into another's is a manager's, and is audited; ``own`` tells them apart."""

    agent: Agent
    own: bool


def box(who: Caller, slug: str, as_slug: str | None = None) -> Box:
    """The inbox of ``slug`` for reading by ``who``: its own, one a node may speak for, or any for a manager.

    Raises NotFound, the same for a foreign inbox as for one that does not exist.
    """
    agent = own(who, slug, as_slug).first()
    if agent is not None:
        return Box(agent, own=True)
    if is_manager(who):
        agent = Agent.objects.filter(slug=slug).first()
    if agent is None:
        raise no_inbox(slug)
    return Box(agent, own=False)


def runner(who: Caller, slug: str, as_slug: str | None = None) -> Agent:
    """The agent ``slug`` whose prompts ``who`` may run, its row locked: its own, or one that a node may speak for. Raises
    NotFound, the same for a foreign queue as for one that does not exist, and Retired."""
    rows = own(who, slug, as_slug).select_related("home_node", "template")
    agent = rows.select_for_update(of=("self",), no_key=True).first()
    if agent is None:
        raise NotFound(f"There is no queue '{slug[:80]}' that this token may use.")
    refuse_retired(agent)
    return agent


def running(who: Caller, number: int, as_slug: str | None = None) -> Exchange:
    """The exchange ``number`` that ``who`` may end as the runner of its target, whose row is locked. Raises NotFound, the
    same for a foreign one as for one that does not exist."""
    slug = Exchange.objects.filter(pk=number).values_list("target__slug", flat=True).first()
    agent = own(who, slug or "", as_slug).select_for_update(of=("self",), no_key=True).first()
    if agent is None:
        raise no_exchange(number)
    found = Exchange.objects.whole().get(pk=number)
    found.target = agent  # the locked row, since the other was read beside it
    return found


def exchange(who: Caller, number: int, as_slug: str | None = None) -> Exchange:
    """The exchange ``number`` for reading by ``who``: a person, its caller, its target, or the node of one of them.
    Raises NotFound, the same for a foreign one as for one that does not exist."""
    if who.kind == "person":
        mine = Q()
    elif who.kind == "node":
        named = Q(slug=as_slug) if as_slug else Q()
        agents = Agent.objects.filter(spoken_for(who.node_id), named)
        mine = Q(target__in=agents) | Q(caller__in=agents)
    else:
        mine = Q(target=who.agent_id) | Q(caller=who.agent_id)
    found = Exchange.objects.whole().filter(mine, pk=number).first()
    if found is None:
        raise no_exchange(number)
    return found


def no_exchange(number: int) -> NotFound:
    return NotFound(f"There is no exchange {number} that this token may see.")


def recorded(who: Caller, slug: str, *, of_node: bool = False, as_slug: str | None = None) -> Agent:
    """The agent ``slug``, or the node's own agent where ``of_node`` is set, whose record ``who`` may read: a person, the
    agent itself, its node. Raises NotFound, the same for a foreign one as for one that does not exist."""
    agents = Agent.objects.filter(slug=slug) if who.kind == "person" else own(who, slug, as_slug)
    agent = (agents.filter(kind="node") if of_node else agents).first()
    if agent is None:
        raise NotFound(f"There is no record of '{slug[:80]}' that this token may read.")
    return agent


def holder(who: Caller, slug: str, as_slug: str | None = None) -> Agent:
    """The agent ``slug`` whose mail ``who`` may take and settle, its row locked: nobody's but its own, not even a
    manager's. Raises NotFound, Retired."""
    agent = own(who, slug, as_slug).select_for_update(of=("self",), no_key=True).first()
    if agent is None:
        raise no_inbox(slug)
    refuse_retired(agent)
    return agent


def reader(who: Caller, as_slug: str | None = None) -> int:
    """The primary key of the agent in whose name ``who`` reads: its own, or the one a node names. Raises Forbidden."""
    if who.kind != "node":
        if as_slug not in (None, who.name):
            raise not_yours()
        return who.agent_id
    agent = Agent.objects.filter(spoken_for(who.node_id), slug=as_slug).first() if as_slug else None
    if agent is None:
        raise not_yours() if as_slug else Forbidden("A node names the agent it reads for in 'Agora-Agent'.")
    return agent.pk


def no_inbox(slug: str) -> NotFound:
    return NotFound(f"There is no inbox '{slug[:80]}' that this token may use.")


@dataclass(frozen=True, slots=True)
class View:
    """Messages that a caller may read, and through whose eyes: those of an agent (its primary key), or a manager's into
    mail of others (None), which is audited."""

    messages: QuerySet[Message]
    reader: int | None


def own_view(agent_id: int) -> View:
    """What the agent sent or was sent, and both sides of what it asked and was asked (R137)."""
    received = Delivery.objects.filter(message=OuterRef("pk"), recipient_id=agent_id)
    asked = Exchange.objects.filter(prompt=OuterRef("pk"), target_id=agent_id)
    answered = Exchange.objects.filter(answer=OuterRef("pk"), caller_id=agent_id)
    mine = Q(sender_id=agent_id) | Exists(received) | Exists(asked) | Exists(answered)
    return View(Message.objects.filter(mine), agent_id)


def views(who: Caller, as_slug: str | None = None) -> list[View]:
    """The views of ``who``, in the order in which a message is looked for: its own mail, then, for a manager, all."""
    own = own_view(reader(who, as_slug))
    return [own, View(Message.objects.all(), None)] if is_manager(who) else [own]


def is_manager(who: Caller) -> bool:
    return RANKS.get(who.role, 0) >= RANKS["manager"]


def no_message(seq: int) -> NotFound:
    return NotFound(f"There is no message {seq} that this token may read.")


def senders(asked: list[tuple[str, str | None]], *, nodes_too: bool = False) -> list[int | HubError]:
    """The primary keys of the agents that a group of (token digest, id named by a node) writes as; a refusal where
    none. With ``nodes_too`` a node that names nobody writes as its own agent. Two or three queries whatever the size."""
    columns = ("kind", "agent_id", "node_id", "agent__slug", "node__lifecycle")
    digests = {digest for digest, _ in asked}
    rows = Token.objects.filter(digest__in=digests, revoked_at=None).values_list("digest", *columns)
    tokens = {digest: rest for digest, *rest in rows}
    named = {slug for _, slug in asked if slug}
    homes = {}
    if named:
        found = Agent.objects.filter(slug__in=named, modality="ai").values_list("slug", "pk", "home_node_id")
        homes = {slug: (pk, home) for slug, pk, home in found}
    nodes = {tokens[digest][2] for digest, slug in asked if nodes_too and slug is None and digest in tokens} - {None}
    own = Agent.objects.filter(kind="node", home_node__in=nodes).values_list("home_node", "pk") if nodes else ()
    return [_sender(tokens.get(digest), slug, homes, dict(own)) for digest, slug in asked]


def _sender(token: list | None, slug: str | None, homes: dict, own: dict[int, int]) -> int | HubError:
    if token is None:
        return Unauthorized()
    kind, agent_id, node_id, own_slug, node_lifecycle = token
    if kind == "person" and role_of(User.objects.filter(agent=agent_id).first()) is None:
        return Unauthorized()  # deactivated, or without any role
    if agent_id is not None:
        return agent_id if slug in (None, own_slug) else not_yours()
    if kind == "enrolment":
        return Forbidden("An enrolment token registers new ids and nothing else.", code="enrolment_only")
    if slug is None:
        return own.get(node_id) or Forbidden("A node names the agent it writes for in 'Agora-Agent'.")
    pk, home = homes.get(slug, (None, 0))
    return pk if pk and speaks_for(node_id, node_lifecycle, home) else not_yours()
