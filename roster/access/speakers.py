"""As whom each of a group of heartbeats speaks: looked up together, in the way that heartbeats come."""

from __future__ import annotations

from django.db.models import Q

from roster import states
from roster.errors import Forbidden, HubError, NotRegistered, Retired, Unauthorized
from roster.models import Agent, Token

from .agents import is_unclaimed, locked, speaks_for
from .refusals import not_yours, refuse_retired, retired


def speakers(asked: list[tuple[str, str | None]]) -> list[Agent | HubError]:
    """The agents that a group of (token digest, id or None) speaks as, locked in key order; a refusal where none.

    Two queries whatever the size: the tokens, then the rows.
    """
    columns = ("kind", "agent_id", "node_id", "node__lifecycle")
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
    kind, agent_id, node_id, node_lifecycle = token
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
        may_speak = (
            kind == "node" and agent.modality == "ai" and speaks_for(node_id, node_lifecycle, agent.home_node_id)
        )
        if not may_speak:
            return not_yours()
    try:
        refuse_retired(agent)
    except Retired as refusal:
        return refusal
    return agent
