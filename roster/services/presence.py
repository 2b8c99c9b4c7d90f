"""Heartbeats: authenticate, decide, write the named fields, remember what changed. One transaction a group of beats."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.db.models import QuerySet

from roster import access, beats, heard, states, work
from roster.errors import HubError
from roster.groupcommit import GroupCommit
from roster.models import Agent, Event

from . import anomalies, journal
from .rows import update_rows


@dataclass(frozen=True, slots=True)
class Beat:
    """A heartbeat as received: whose token, for which id (None: the token's own), what it said, when it arrived."""

    digest: str
    slug: str | None
    said: beats.Said
    received_at: datetime


@dataclass(frozen=True, slots=True)
class Heard:
    """The outcome of a heartbeat, after its commit: the agent as it now is and the presence it had before."""

    agent: Agent
    before: states.Presence
    at: datetime


def record(group: list[Beat]) -> list[Heard | Exception]:
    """Writes a group of beats in one transaction and returns one outcome each, in order.

    A refused beat gets its refusal and costs the others nothing. Where the database fails, the whole group fails.
    """
    with transaction.atomic():
        written = Work()
        speakers = access.speakers([(beat.digest, beat.slug) for beat in group])
        outcomes = [_one(beat, speaker, written) for beat, speaker in zip(group, speakers, strict=True)]
        written.write()
    return outcomes


def _one(beat: Beat, speaker: Agent | HubError, written: Work) -> Heard | Exception:
    if isinstance(speaker, HubError):
        return speaker
    try:
        change = beats.apply(speaker, beat.said, beat.received_at, _profile_mode(speaker, beat.said, beat.received_at))
        written.add(speaker, change, beat.received_at)
    except (KeyError, TypeError, ValueError) as damage:  # a row that somebody damaged costs the others nothing
        return damage
    return Heard(speaker, change.before, beat.received_at)


def called(agent: Agent, now: datetime, written: Work, session: str | None = None) -> None:
    """A writing call made as ``agent`` at ``now``, from ``session`` if it named one: its own evidence (design rule 3).
    The agent's row is locked."""
    said = beats.Said(session=session)
    written.add(agent, beats.apply(agent, said, now, _profile_mode(agent, said, now), beats.OWN_CALL), now)


def _profile_mode(speaker: Agent, said: beats.Said, at: datetime) -> str | None:
    """What the profile declares, looked up only where it matters: it decides how an absent ephemeral agent reads."""
    leaves = (said.status or "").strip().lower() == states.DORMANT
    if leaves or states.presence(speaker.facts(), at).word == states.EXPIRED:
        return access.declared_mode(speaker)
    return None


class Work:
    """What a group of beats or calls has to write, collected agent by agent."""

    def __init__(self):
        self.quiet: dict[int, Agent] = {}
        self.news: dict[int, Agent] = {}
        self.happenings: list[Event] = []
        self.began: list[tuple[Agent, str, datetime]] = []

    def add(self, agent: Agent, change: beats.Change, at: datetime) -> None:
        if not change.news:
            self.quiet[agent.pk] = agent
            return
        self.news[agent.pk] = agent
        for each in change.happenings:
            self.happenings.append(journal.happened(by=agent.slug, at=at, agent=agent, **each._asdict()))
        if any(each.kind == "presence" for each in change.happenings):
            mark(agent, at)
        mark_rivals(agent, at)
        if change.began:
            self.began.append((agent, change.began, at))

    def write(self) -> None:
        update_rows(beats.QUIET, [agent for pk, agent in self.quiet.items() if pk not in self.news])
        if self.news:
            update_rows(beats.NEWS, list(self.news.values()))
            journal.write(*self.happenings, changed=list(self.news))
        for began in self.began:
            work.registered().session_began(*began)


def mark(agent: Agent, now: datetime) -> None:
    """Opens or closes the anomaly of a silent always-on agent after an edge of its presence. Who is disabled or has
    left raises no alarm (R145); one that was raised before stays until it is right again."""
    if agent.recorded != states.SILENT:
        anomalies.close_anomaly("silent_always_on", agent.slug, now)
    elif agent.enabled and agent.lifecycle != states.RETIRED:
        anomalies.open_anomaly("silent_always_on", agent.slug, now, agent=agent, last_seen=agent.last_seen.isoformat())


def mark_rivals(agent: Agent, now: datetime) -> None:
    """Opens, or brings up to date, the anomaly of an agent as whom several sessions speak."""
    rivals = heard.rivals(agent.heard, now, agent.max_sessions)
    if rivals:
        anomalies.keep_anomaly("duplicate_sessions", agent.slug, now, agent=agent, sessions=rivals)


def locked(rows: QuerySet[Agent]) -> list[int]:
    """The keys of ``rows``, locked in their order like every writer's, before one statement changes them all: left to
    itself it takes them as they lie, and PostgreSQL ends one of two that wait for each other."""
    return list(rows.select_for_update(no_key=True).order_by("pk").values_list("pk", flat=True))


heartbeats: GroupCommit[Beat] = GroupCommit(record, "heartbeats")
