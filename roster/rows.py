"""One agent as every surface shows it: the page, the socket and the API read the same frozen row (R179)."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from django.db.models import F, QuerySet

from . import beats, heard, states
from .models.agent import facts


@dataclass(frozen=True, slots=True)
class Disabled:
    reason: str
    by: str
    since: datetime | None


@dataclass(frozen=True, slots=True)
class HeardSession:
    key: str
    host: str
    first_at: datetime
    last_at: datetime


@dataclass(frozen=True, slots=True)
class Row:
    """What is known about one agent at one moment. ``dom_id`` never holds the agent's own id (F048)."""

    pk: int
    dom_id: str
    id: str
    display_name: str
    kind: str
    modality: str
    mode: str | None
    lifecycle: str
    enabled: bool
    disabled: Disabled | None
    home_node: str | None
    waiting: int
    last_seen: datetime | None
    last_seen_source: str
    last_heartbeat: datetime | None
    heartbeats_failing: bool
    beat_due: datetime | None
    last_worked: datetime | None
    expected_interval: int
    ttl: int
    trust_posture: str
    expires_at: datetime | None
    synthesized: bool
    presence: states.Presence
    activity: states.Activity
    task: str | None
    work_mode: str | None
    attention: str
    meta: dict = field(default_factory=dict)
    sessions: tuple[HeardSession, ...] = ()
    duplicate_sessions: int = 0
    clock_skew: float | None = None
    profile_error: str = ""
    has_profile: bool = False

    @property
    def url(self) -> str:
        return f"/agents/{self.id}/"

    @property
    def registered(self) -> bool:
        """Whether it has a row in the registry; else it is known by its profile alone."""
        return self.dom_id.startswith("agent-")

    @property
    def sign(self) -> str:
        return self.presence.word if self.enabled else "disabled"

    @property
    def listed(self) -> bool:
        """Whether the roster lists it unasked: an ephemeral one only while it is live, or when its row or its profile
        is broken (R47)."""
        if self.synthesized and self.profile_error:
            return True
        if self.presence.word == states.EXPIRED:
            return False
        return self.presence.word != states.UNKNOWN or self.presence.reason != "never seen"

    def turns_at(self, now: datetime) -> list[datetime]:
        """The moments from ``now`` on after which time alone may change what this row says, whatever is stored."""
        moments = [session.last_at + heard.RECENT for session in self.sessions]
        if self.presence.word == states.LIVE:
            window = states.window(self.mode, self.expected_interval, self.ttl)
            moments += [self.presence.deadline, self.presence.as_of + window]
        return [moment for moment in (*moments, self.beat_due) if moment and moment >= now]


STORED = (
    "pk", "slug", "display_name", "kind", "modality", "liveness_mode", "lifecycle", "enabled", "disabled_reason",
    "disabled_by", "disabled_at", "home_slug", "waiting", "last_seen", "last_seen_source", "evidence_at", "heartbeat_at",
    "deadline", "signed_off_at", "live_since", "activity_since", "worked_at", "status", "task", "work_mode", "meta", "heard",
    "clock_skew", "expected_interval", "ttl", "trust_posture", "expires_at", "max_sessions",
)  # fmt: skip


def stored(agents: QuerySet) -> QuerySet:
    """What ``of_agent`` reads of these agents, as plain tuples: whole models would take half of a long list's time."""
    return agents.annotate(home_slug=F("home_node__slug")).values_list(*STORED, named=True)


def of_agent(agent, now: datetime, profile=None) -> Row:
    """The row of an agent in the registry, given whole or as ``stored``; ``profile`` is its directory entry, if any."""
    found = states.presence(facts(agent, profile.mode if profile else None), now)
    doing = states.activity(agent.status, agent.evidence_at, found.word, agent.activity_since)
    due = _beat_due(agent, found)
    here = found.word in (states.LIVE, states.SILENT)
    return Row(
        pk=agent.pk,
        dom_id=f"agent-{agent.pk}",
        id=agent.slug,
        display_name=agent.display_name or (profile.title if profile else ""),
        kind=agent.kind,
        modality=agent.modality,
        mode=agent.liveness_mode,
        lifecycle=agent.lifecycle,
        enabled=agent.enabled,
        disabled=None if agent.enabled else Disabled(agent.disabled_reason, agent.disabled_by, agent.disabled_at),
        home_node=agent.home_slug,
        waiting=agent.waiting,
        last_seen=agent.last_seen,
        last_seen_source=agent.last_seen_source,
        last_heartbeat=agent.heartbeat_at,
        heartbeats_failing=due is not None and now > due,
        beat_due=due,
        last_worked=agent.evidence_at if states.parse_status(agent.status)[0] == "working" else agent.worked_at,
        expected_interval=agent.expected_interval,
        ttl=agent.ttl,
        trust_posture=agent.trust_posture,
        expires_at=agent.expires_at,
        synthesized=found.source == "kb_profile",
        presence=found,
        activity=doing,
        task=agent.task if here else None,
        work_mode=agent.work_mode if here else None,
        attention=states.attention(doing.value),
        meta=agent.meta,
        sessions=_sessions(agent.heard),
        duplicate_sessions=len(heard.rivals(agent.heard, now, agent.max_sessions)),
        clock_skew=agent.clock_skew,
        profile_error=profile.parse_error if profile else "",
        has_profile=profile is not None,
    )


def _beat_due(agent, found: states.Presence) -> datetime | None:
    """Until when a heartbeat has to come where other calls keep an agent live; None for anybody else, and for people,
    who send none. It has a whole window since it came back, as after an absence another call may well come first."""
    if found.word != states.LIVE or found.source != beats.OWN_CALL or agent.modality == "human":
        return None
    window = states.window(agent.liveness_mode, agent.expected_interval, agent.ttl)
    return max(found.since, agent.heartbeat_at or found.since) + window


def of_profile(profile, now: datetime) -> Row:
    """The row of a member that only has a profile: synthesized, without any registry entry (R39)."""
    found = states.presence(states.Facts(mode=None, profile_mode=profile.mode), now)
    return Row(
        pk=profile.pk,
        dom_id=f"profile-{profile.pk}",
        id=profile.slug,
        display_name=profile.title,
        kind="employee",
        modality="ai",
        mode=profile.mode or states.ASYNC,
        lifecycle=states.ACTIVE,
        enabled=True,
        disabled=None,
        home_node=None,
        waiting=0,
        last_seen=None,
        last_seen_source="",
        last_heartbeat=None,
        heartbeats_failing=False,
        beat_due=None,
        last_worked=None,
        expected_interval=profile.expected_interval or states.DEFAULT_INTERVAL,
        ttl=states.DEFAULT_TTL,
        trust_posture="untrusted-host",
        expires_at=None,
        synthesized=True,
        presence=found,
        activity=states.Activity("unknown", "", "kb_profile", None),
        task=None,
        work_mode=None,
        attention="none",
        profile_error=profile.parse_error,
        has_profile=True,
    )


def _sessions(mapping: dict) -> tuple[HeardSession, ...]:
    moment = datetime.fromisoformat
    return tuple(
        HeardSession(key, entry["host"], moment(entry["first"]), moment(entry["last"]))
        for key, entry in sorted(mapping.items(), key=lambda item: item[1]["last"], reverse=True)
    )
