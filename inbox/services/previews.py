"""Who would get a letter now and who later, for a person who is still writing it. Locks nothing and stores nothing."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

from inbox import receipts, refusals
from inbox.letters import Letter
from roster import access, states
from roster.errors import HubError
from roster.models import Agent
from roster.services.batch import among

from .addressing import foreseen
from .boxes import Holding, holdings
from .sending import Outgoing


@dataclass(frozen=True, slots=True)
class Expected:
    """One recipient: the word that matters most to a sender, since when, and why it cannot be written to, if so."""

    id: str
    code: str
    since: datetime | None
    last_seen: datetime | None
    refusal: str


@dataclass(frozen=True, slots=True)
class Preview:
    """The recipients of a letter: who reads it now, who once it is back, and who cannot get it."""

    now: list[Expected] = field(default_factory=list)
    later: list[Expected] = field(default_factory=list)
    never: list[Expected] = field(default_factory=list)


def preview(letter: Letter, sender: Agent, at: datetime) -> Preview:
    """What would become of ``letter`` at ``at``. Raises the refusal of a name that cannot be written to at all."""
    recipients, members = foreseen(Outgoing(letter, at, sender=sender.pk))
    agents = Agent.objects.filter(pk__in=among(list(recipients), "bigint")).order_by("slug")
    held = holdings(list(recipients))
    told = [_expected(agent, held[agent.pk], letter.size, at) for agent in agents]
    return _sorted(told + [Expected(slug, states.DORMANT, None, None, "") for slug in members])


def _expected(agent: Agent, held: Holding, size: int, at: datetime) -> Expected:
    found = access.presence_of(agent, at)
    refusal = refusals.of(agent, found, held, size)
    code = receipts.presence_code(agent, found)
    since = agent.disabled_at if code == "disabled" else found.since
    return Expected(agent.slug, code, since, agent.last_seen, _why(refusal))


def _why(refusal: HubError | None) -> str:
    return refusal.message if refusal else ""


def _sorted(all_of_them: Iterable[Expected]) -> Preview:
    told = Preview()
    for each in all_of_them:
        place = told.never if each.refusal else told.now if each.code in (states.LIVE, states.DRAINING) else told.later
        place.append(each)
    return told
