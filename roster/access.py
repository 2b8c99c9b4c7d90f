"""The only way an outside name becomes an object: every call asks here whose row it may touch.

What a caller may not see does not exist for it: foreign and missing inboxes answer alike (P60, P61). The roster itself
is open to every caller, so a foreign agent row is a plain 403.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime

from django.conf import settings
from django.contrib.auth import HASH_SESSION_KEY, SESSION_KEY
from django.contrib.auth.models import User
from django.db.models import Q, QuerySet
from django.utils.crypto import constant_time_compare

from . import employment, states
from .errors import Conflict, Forbidden, HubError, Invalid, NotFound, NotRegistered, Retired, Unauthorized
from .models import Agent, Grant, Node, Profile, Token
from .stamps import stamp

RANKS = {"viewer": 1, "manager": 2, "admin": 3}
# the role that has each permission by itself; anybody else, an agent too, needs a grant by name (R103)
PERMISSIONS = dict.fromkeys(Grant.PERMISSIONS, "manager") | {"force_retire": "admin"}


@dataclass(frozen=True, slots=True)
class Caller:
    """Who is calling: the kind of token, the id it stands for, and a person's role."""

    kind: str
    name: str
    agent_id: int | None = None
    node_id: int | None = None
    role: str | None = None


def digest(raw: str) -> str:
    """What is stored of a token: SHA-256 of the whole, so there is nothing to search byte by byte."""
    return hashlib.sha256(raw.encode("utf-8", "surrogatepass")).hexdigest()


def caller(token_digest: str) -> Caller:
    """The caller behind a token's digest. Unknown and revoked are one and the same refusal (P61)."""
    token = Token.objects.select_related("agent__user", "node").filter(digest=token_digest, revoked_at=None).first()
    if token is None:
        raise Unauthorized()
    role = role_of(token.agent.user) if token.kind == "person" else None
    if token.kind == "person" and role is None:
        raise Unauthorized()  # deactivated, or without any role
    named = token.agent or token.node
    return Caller(token.kind, named.slug if named else token.prefix, token.agent_id, token.node_id, role)


def is_person(name: str) -> bool:
    return "\0" not in name and User.objects.filter(username=name).exists()  # PostgreSQL takes no NUL even to compare


def role_of(user) -> str | None:
    """The highest role of a person, by group; a superuser is an admin; an inactive person has none."""
    if user is None or not user.is_active:
        return None
    if user.is_superuser:
        return "admin"
    held = [group.name for group in user.groups.all() if group.name in RANKS]  # all(): lists fetch them for all users
    return max(held, key=RANKS.get, default=None)


def admins() -> list[str]:
    """The names of those who can give a role, in the order in which they became people here."""
    them = User.objects.filter(is_active=True, is_superuser=True).order_by("pk")
    return list(them.values_list("username", flat=True))


def active_user(session: dict, now: datetime):
    """The person whom a stored session's data signs in, or None: unknown, inactive, with another password by now, or
    signed in too long ago. The same questions that a page request asks, for a socket that outlives its request."""
    user = User.objects.filter(pk=session.get(SESSION_KEY), is_active=True).first()
    if user is None:
        return None
    if not constant_time_compare(session.get(HASH_SESSION_KEY, ""), user.get_session_auth_hash()):
        return None
    began = session.get("signed_in_at")
    if began and now - datetime.fromisoformat(began) > settings.SESSION_ABSOLUTE_AGE:
        return None
    return user


def require_role(who: Caller, least: str) -> None:
    """Refuses a caller who is not a person of at least the role ``least``."""
    if RANKS.get(who.role, 0) < RANKS[least]:
        raise Forbidden(f"This call is for a person with the role {least} or higher.")


def may(who: Caller, permission: str) -> bool:
    """Whether ``who`` has one of PERMISSIONS, by role or by a grant to the agent or person itself."""
    if RANKS.get(who.role, 0) >= RANKS[PERMISSIONS[permission]]:
        return True
    granted = Grant.objects.filter(agent=who.agent_id, permission=permission, revoked_at=None)
    return who.agent_id is not None and granted.exists()


def permissions(who: Caller) -> frozenset[str]:
    """All of PERMISSIONS that ``who`` has, for a page that shows what can be done."""
    held = {each for each, least in PERMISSIONS.items() if RANKS.get(who.role, 0) >= RANKS[least]}
    if who.agent_id is not None and len(held) < len(PERMISSIONS):
        held |= set(Grant.objects.filter(agent=who.agent_id, revoked_at=None).values_list("permission", flat=True))
    return frozenset(held)


def require(who: Caller, permission: str) -> None:
    """Refuses a caller without ``permission``."""
    if not may(who, permission):
        least, words = PERMISSIONS[permission], permission.replace("_", "-")
        raise Forbidden(f"This needs the role {least} or a grant of '{words}'.", code="no_permission", permission=words)


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


def refuse_person(agent: Agent) -> None:
    if agent.modality == "human":
        told = "a person has no engram, no memory here and no warnings"
        raise Conflict(f"{agent.slug}: {told}.", state=agent.lifecycle, allowed=[], code="person", rule=told)


def not_now(agent: Agent, verb: str) -> Conflict:
    """The refusal of ``verb``: what the agent is, since when and by whom, and which verbs it allows."""
    allowed, rule = list(employment.allowed(agent)), employment.rule(agent, verb)
    if rule:
        code = "person" if agent.modality == "human" else "node_agent"
        return Conflict(f"{agent.slug}: {rule}.", state=agent.lifecycle, allowed=allowed, code=code, rule=rule)
    if verb in employment.SWITCHES and agent.lifecycle != states.RETIRED:
        state, since = ("enabled", None) if agent.enabled else ("disabled", stamp(agent.disabled_at))
        by = f" by {agent.disabled_by} since {since}" if since else ""
        said = f"{agent.slug} is {state} already{by}."
        return Conflict(said, state=state, allowed=allowed, code=f"already_{state}", since=since, by=agent.disabled_by)
    since = stamp(agent.lifecycle_since)
    said = f"{agent.slug} is {agent.lifecycle} since {since}: {verb} is not possible."
    if allowed:
        said += f" Possible are: {', '.join(allowed)}."
    return Conflict(said, state=agent.lifecycle, allowed=allowed, code=agent.lifecycle, since=since)


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


def taken(slug: str) -> Conflict:
    return Conflict(f"The id '{slug}' is taken.", state="registered", allowed=[], code="taken")


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


def refuse_retired(agent: Agent) -> None:
    if agent.lifecycle == states.RETIRED:
        raise retired(agent)


def retired(agent: Agent) -> Retired:
    """The refusal of a retired agent: since when, why, and who follows it."""
    follows = successor(agent)
    said = f"The agent '{agent.slug}' is retired." + (f" Its successor is '{follows}'." if follows else "")
    return Retired(said, since=stamp(agent.lifecycle_since), reason=agent.lifecycle_reason, successor=follows)


def successor(agent: Agent) -> str | None:
    return Agent.objects.values_list("slug", flat=True).get(pk=agent.successor_id) if agent.successor_id else None


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


def not_yours() -> Forbidden:
    return Forbidden("This id is another's: an agent may write its own entry only.", code="not_yours")


def spoken_for(node_id: int) -> Q:
    """Whom a node may speak for: agents at home there or with no home; never a person (design rule 15)."""
    return (Q(home_node_id=node_id) | Q(home_node=None)) & Q(modality="ai")


def speakers(asked: list[tuple[str, str | None]]) -> list[Agent | HubError]:
    """The agents that a group of (token digest, id or None) speaks as, locked in key order; a refusal where none.

    Two queries whatever the size: the tokens, then the rows.
    """
    columns = ("kind", "agent_id", "node_id")
    digests = {token_digest for token_digest, _ in asked}
    tokens = {
        row[0]: row[1:]
        for row in Token.objects.filter(digest__in=digests, revoked_at=None).values_list("digest", *columns)
    }
    own = {row[1] for row in tokens.values() if row[1]}
    named = {slug for _, slug in asked if slug}
    found = locked(Agent.objects.filter(Q(pk__in=own) | Q(slug__in=named)))
    by_pk, by_slug = {row.pk: row for row in found}, {row.slug: row for row in found}
    return [_speaker(tokens.get(key), slug, by_pk, by_slug) for key, slug in asked]


def _speaker(token, slug, by_pk, by_slug) -> Agent | HubError:
    if token is None:
        return Unauthorized()
    kind, agent_id, node_id = token
    if kind == "agent":
        agent = by_pk[agent_id]
        if slug not in (None, agent.slug):
            return not_yours() if slug in by_slug else NotRegistered()
    elif slug is None:
        return Forbidden("Only an agent's own token may be used here; a node names the agent in 'Agora-Agent'.")
    elif slug not in by_slug:
        return NotRegistered()
    else:
        agent = by_slug[slug]
        if kind in ("enrolment", "person"):
            if agent.lifecycle == states.RETIRED:
                return retired(agent)  # an id that is gone is no id to register, and no other's either (P37)
            if is_unclaimed(agent):
                return NotRegistered()  # free to register, as far as the token may
        if kind != "node" or agent.home_node_id not in (None, node_id) or agent.modality != "ai":
            return not_yours()
    try:
        refuse_retired(agent)
    except Retired as refusal:
        return refusal
    return agent


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


def missing(slug: str) -> NotFound:
    return NotFound(f"No agent has the id '{slug[:80]}', and no profile either.")
