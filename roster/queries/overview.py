"""The fleet at a glance: how many of each word, who needs a person, whose edges are held."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count

from roster import directory, rows, states
from roster.models import Agent, Anomaly

from .lists import Selection, _synthesized
from .words import presence_word


@dataclass(frozen=True, slots=True)
class Tally:
    word: str
    n: int


SHOWN_WORDS = (states.LIVE, states.SILENT, states.DORMANT, states.UNKNOWN, "disabled")


def counts(now: datetime) -> list[Tally]:
    """How many listed agents there are of each word; a disabled one counts as disabled, not by its presence."""
    listed = Selection().agents(now)
    found = dict.fromkeys(SHOWN_WORDS, 0)
    for word, enabled, n in listed.values_list("word", "enabled").annotate(n=Count("pk")).order_by():
        found[word if enabled else "disabled"] += n
    profiles = directory.at(directory.versions()[1])
    for row in _synthesized(profiles.listed_after(""), None, now):
        found[row.sign] += 1
    return [Tally(word, found[word]) for word in SHOWN_WORDS]


NEEDS = 20  # of each kind; a list that is longer is not read


@dataclass(frozen=True, slots=True)
class Need:
    row: rows.Row
    text: str
    since: datetime | None


def needs_you(now: datetime) -> list[Need]:
    """Who needs a person, most urgent first, then oldest: who is silent, says error, or shares an identity."""
    profiles = directory.at(directory.versions()[1])

    def row(agent: Agent) -> rows.Row:
        return rows.of_agent(agent, now, profiles.by_slug.get(agent.slug))

    enabled = Selection().agents(now).filter(enabled=True)
    silent = [row(each) for each in enabled.filter(word=states.SILENT).order_by("deadline")[:NEEDS]]
    failing = [row(each) for each in enabled.filter(word=states.LIVE, status__iexact="error").order_by("pk")[:NEEDS]]
    twins = Anomaly.objects.filter(closed_at=None, kind="duplicate_sessions").select_related("agent__home_node")
    twins = twins.exclude(agent__lifecycle=states.RETIRED)
    needs = [Need(each, "silent, though it should always be on", each.presence.since) for each in silent]
    needs += [Need(each, "says error", each.activity.as_of) for each in failing]
    needs += [Need(row(each.agent), _twins(each), each.opened_at) for each in twins.order_by("opened_at")[:NEEDS]]
    return sorted(needs, key=lambda need: (need.row.attention != "high", need.since or now))


def _twins(anomaly: Anomaly) -> str:
    sessions = anomaly.evidence["sessions"]
    hosts = ", ".join(sorted({each["host"] or "an unnamed host" for each in sessions}))
    return f"duplicate sessions: {len(sessions)} ({hosts})"


def held_back(now: datetime, limit: int = 50) -> list[rows.Row]:
    """Those whose computed word is not live while their last recorded edge still says so."""
    profiles = directory.at(directory.versions()[1])
    waiting = Agent.objects.select_related("home_node").annotate(word=presence_word(now)).filter(recorded=states.LIVE)
    waiting = waiting.exclude(word=states.LIVE).order_by("slug")[:limit]
    return [rows.of_agent(agent, now, profiles.by_slug.get(agent.slug)) for agent in waiting]
