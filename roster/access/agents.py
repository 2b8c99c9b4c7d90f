"""Which row a name is, for whom and for what."""

from __future__ import annotations

from datetime import datetime

from django.db.models import Exists, Q, QuerySet

from roster import employment, states
from roster.errors import Invalid, NotFound
from roster.models import Agent, Node, Profile, Token

from .callers import RANKS, Caller
from .refusals import missing, not_now, not_yours, refuse_person, refuse_retired, taken


def locked(agents: QuerySet[Agent]) -> list[Agent]:
    """``agents`` with their homes, locked in key order.

    PostgreSQL reads a row that it had to wait for anew, but not what it had joined to it: the home of one that moved
    meanwhile is looked up again.
    """
    found = list(agents.select_related("home_node").select_for_update(of=("self",), no_key=True).order_by("pk"))
    for agent in found:
        if agent.home_node_id and agent.home_node is None:
            agent.home_node = Node.objects.get(pk=agent.home_node_id)
    return found


def _first(agents: QuerySet[Agent]) -> Agent | None:
    return next(iter(locked(agents)), None)


def employee(slug: str, verb: str) -> Agent:
    """The agent ``slug`` for ``verb``, its row locked. Raises NotFound, and Conflict where the verb is not to be had of
    it now, with the verbs that are."""
    agent = _first(Agent.objects.filter(slug=slug))
    if agent is None:
        raise missing(slug)
    if verb not in employment.allowed(agent):
        raise not_now(agent, verb)
    return agent


def ai(slug: str) -> Agent:
    """The agent ``slug`` for what people do not have, such as an engram; its row locked. Raises NotFound, Retired, and
    Conflict for a person."""
    agent = _first(Agent.objects.filter(slug=slug))
    if agent is None:
        raise missing(slug)
    refuse_person(agent)
    refuse_retired(agent)
    return agent


def agent_of(who: Caller, slug: str, as_slug: str | None = None) -> Agent:
    """The agent row ``slug`` for writing by ``who``, locked: its own, or one a node may speak for.

    Raises Forbidden on another's row whether it exists or not, Retired on a retired one.
    """
    if who.kind == "agent":
        agent = _first(Agent.objects.filter(pk=who.agent_id))
        if agent.slug != slug:
            raise not_yours()
    elif who.kind == "node":
        agent = _first(Agent.objects.filter(spoken_for(who.node_id), slug=slug))
        if agent is None or as_slug not in (None, slug):
            raise not_yours()
    else:
        raise not_yours()
    refuse_retired(agent)
    return agent


def own(who: Caller, slug: str, as_slug: str | None = None) -> QuerySet[Agent]:
    """The row of ``slug`` if it is the caller's own, or one that the caller, a node, may speak for; else none. An agent
    and a person are looked for by their key, so that a foreign name costs the same as a missing one."""
    if who.kind == "node" and as_slug in (None, slug):
        return Agent.objects.filter(spoken_for(who.node_id), slug=slug)
    return Agent.objects.filter(pk=who.agent_id, slug=slug) if who.agent_id else Agent.objects.none()


def keeper(who: Caller, slug: str, as_slug: str | None = None) -> Agent:
    """The agent ``slug`` into whose memory ``who`` may write, its row locked: nobody's but its own. Raises NotFound,
    the same for a foreign one as for one that does not exist, and Retired."""
    agent = own(who, slug, as_slug).select_for_update(of=("self",), no_key=True).first()
    if agent is None:
        raise missing(slug)
    refuse_person(agent)
    refuse_retired(agent)
    return agent


def inner(who: Caller, slug: str, least: str, as_slug: str | None = None) -> tuple[Agent, bool]:
    """The agent ``slug``, of which ``who`` may read what others may not, and whether it is its own: the agent itself,
    its node, or a person of at least the role ``least``. Raises NotFound, for a foreign one as for one that does not
    exist, and Conflict for a person."""
    agent = mine = own(who, slug, as_slug).first()
    if mine is None and RANKS.get(who.role, 0) >= RANKS[least]:
        agent = Agent.objects.filter(slug=slug).first()
    if agent is None:
        raise missing(slug)
    refuse_person(agent)
    return agent, mine is not None


def spoken_for(node_id: int) -> Q:
    """Whom a node may speak for: agents at home there, or with no home while it is not retired; never a person (design
    rule 15)."""
    homeless = Q(home_node=None) & Q(Exists(Node.objects.filter(pk=node_id).exclude(lifecycle=states.RETIRED)))
    return (Q(home_node_id=node_id) | homeless) & Q(modality="ai")


def speaks_for(node_id: int | None, lifecycle: str | None, home: int | None) -> bool:
    """The same of one agent, no person, whose home is the node ``home``; ``lifecycle`` is that of the node ``node_id``."""
    return home == node_id if home is not None else lifecycle != states.RETIRED


def node(slug: str) -> Node:
    """The node ``slug``, its row locked. Raises NotFound."""
    found = Node.objects.select_for_update(no_key=True).filter(slug=slug).first()
    if found is None:
        raise NotFound(f"No node has the id '{slug[:80]}'.")
    return found


def valid_slug(slug: str) -> str:
    """``slug`` itself if it is a legal new id; otherwise says which characters are allowed, or that it is taken."""
    if slug in states.RESERVED:
        raise Invalid("id", f"'{slug}' stands for everybody who is live, so nobody can have it.")
    if states.SLUG.fullmatch(slug):
        return slug
    if states.SLUG.fullmatch(slug.lower()) and Agent.objects.filter(slug=slug.lower()).exists():
        raise taken(slug.lower())
    raise Invalid("id", f"'{slug[:80]}' is not a legal id. An id has {states.SLUG_RULE}.")


def is_unclaimed(agent: Agent) -> bool:
    """Whether the row still waits for its agent: entered by hand or from a profile, never heard, never hired or given a
    token."""
    waits = agent.evidence_at is None and agent.modality == "ai" and agent.kind == "employee"
    return (
        waits
        and agent.lifecycle == states.ACTIVE
        and not agent.workspace_state
        and not Token.objects.filter(agent=agent).exists()
    )


def declared_mode(agent: Agent) -> str | None:
    """The mode that the agent's profile declares, if there is a profile that does."""
    return Profile.objects.filter(slug=agent.slug).values_list("liveness_mode", flat=True).first()


def presence_of(agent: Agent, now: datetime) -> states.Presence:
    """The presence of a stored agent; its profile is looked up only where it decides: for one that left or was never
    heard."""
    found = states.presence(agent.facts(), now)
    if found.word in (states.EXPIRED, states.UNKNOWN):
        return states.presence(agent.facts(declared_mode(agent)), now)
    return found
