"""What a caller is told of an agent that it may not touch, or not now."""

from __future__ import annotations

from roster import employment, states
from roster.errors import Conflict, Forbidden, NotFound, Retired
from roster.models import Agent
from roster.stamps import stamp


def missing(slug: str) -> NotFound:
    return NotFound(f"No agent has the id '{slug[:80]}', and no profile either.")


def taken(slug: str) -> Conflict:
    return Conflict(f"The id '{slug}' is taken.", state="registered", allowed=[], code="taken")


def not_yours() -> Forbidden:
    return Forbidden("This id is another's: an agent may write its own entry only.", code="not_yours")


def refuse_person(agent: Agent) -> None:
    if agent.modality == "human":
        told = "a person has no engram, no memory here and no warnings"
        raise Conflict(f"{agent.slug}: {told}.", state=agent.lifecycle, allowed=[], code="person", rule=told)


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
