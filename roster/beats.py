"""What one heartbeat changes: decided on an agent in memory, written by ``services.presence``.

Nothing here touches the database, so the rules can be read and tested on their own.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from . import heard, states

# A heartbeat without news writes these and nothing else; none of them is indexed.
QUIET = ("last_seen", "last_seen_source", "evidence_at", "heartbeat_at", "deadline", "heard", "clock_skew")
HEARTBEAT, OWN_CALL = "heartbeat", "own_call"
SHOWN = ("status", "task", "work_mode", "meta", "liveness_mode", "expected_interval", "ttl")
NEWS = (*QUIET, *SHOWN, "activity_since", "worked_at", "signed_off_at", "live_since", "recorded", "check_after")
SETTINGS = ("liveness_mode", "expected_interval", "ttl")
SKEW_WARNING = 300  # seconds a sender's clock may be off before it is shown as a warning
LATEST = timedelta(seconds=15)  # as long as a caller waits for its commit


@dataclass(frozen=True, slots=True)
class Said:
    """One heartbeat's content. ``replace`` is the registry's PUT, which replaces status, task and meta whole (D21);
    ``work_mode`` is kept unless it is among ``given``."""

    status: str | None = None
    task: str | None = None
    meta: dict | None = None
    work_mode: str | None = None
    permanent: bool | None = None
    liveness_mode: str | None = None
    expected_interval: int | None = None
    ttl: int | None = None
    session: str | None = None
    host: str | None = None
    sent_at: datetime | None = None
    replace: bool = False
    given: frozenset[str] = frozenset()


class Happening(NamedTuple):
    kind: str
    before: Any
    after: Any
    reason: str
    before_since: datetime | None


@dataclass(slots=True)
class Change:
    """What a heartbeat did: the presence before it, whether anybody can see a difference, and what to remember."""

    before: states.Presence
    news: bool = False
    began: str | None = None  # the session that said hello with this heartbeat
    happenings: list[Happening] = field(default_factory=list)

    def note(self, kind: str, before, after, reason: str = "", since: datetime | None = None) -> None:
        """Remembers one thing that happened; ``since`` is when the state ``before`` began."""
        self.news = True
        self.happenings.append(Happening(kind, before, after, reason, since))


def apply(agent, said: Said, at: datetime, profile_mode: str | None = None, source: str = HEARTBEAT) -> Change:
    """Applies ``said``, received at ``at``, to ``agent`` in memory and tells what changed.

    ``at`` is the hub's receive time (design rule 2); ``said.sent_at`` only ever becomes a shown skew. A writing call of
    the agent's own counts like a heartbeat that says nothing, and has the ``source`` OWN_CALL (design rule 3).
    """
    change = Change(before=states.presence(agent.facts(profile_mode), at))
    if _is_late(agent, at):
        return change
    old = {name: getattr(agent, name) for name in (*SHOWN, "activity_since", "evidence_at")}
    _take_settings(agent, said)
    _take_status(agent, said, change.before.word)
    _take_session(agent, said, at, change, source)
    _take_skew(agent, said, at, change)
    come_alive(agent, at, change, source)
    _time_activity(agent, old, at, change)
    _compare(agent, old, change)
    if said.status is not None and said.status.strip().lower() == states.DORMANT:
        leave(agent, at, change, profile_mode)
    else:
        arm(agent, change)
    return change


def _is_late(agent, at: datetime) -> bool:
    """Whether something of the agent that was received after ``at`` is known already: with several web processes an
    older heartbeat may be written last, and must undo neither a newer one nor a goodbye. A larger difference is a
    clock that stepped back, not a delay."""
    newest = max(filter(None, (agent.evidence_at, agent.signed_off_at)), default=at)
    return timedelta() < newest - at < LATEST


def arm(agent, change: Change) -> None:
    """Makes sure that the sweep looks at the agent no later than its deadline; a beat without news need not."""
    if change.news and (agent.check_after is None or agent.check_after > agent.deadline):
        agent.check_after = agent.deadline


def prove(agent, at: datetime, source: str) -> None:
    """Own evidence at ``at``: opens a new window."""
    agent.last_seen = agent.evidence_at = at
    agent.last_seen_source = source
    if source == HEARTBEAT:
        agent.heartbeat_at = at
    agent.deadline = at + states.window(agent.liveness_mode, agent.expected_interval, agent.ttl)


def leave(agent, at: datetime, change: Change, profile_mode: str | None) -> None:
    """Signs the agent off at ``at``: dormant, silent or expired from now on, not only after its window."""
    since, agent.signed_off_at = agent.live_since, at
    after = states.presence(agent.facts(profile_mode), at)
    if agent.recorded != after.word:
        change.note(
            "presence", agent.recorded, after.word, "signed off", since if agent.recorded == states.LIVE else None
        )
    agent.recorded, agent.check_after = after.word, None


def _take_settings(agent, said: Said) -> None:
    agent.liveness_mode = states.choose_mode(said.liveness_mode, said.permanent, agent.liveness_mode, None)
    agent.expected_interval = said.expected_interval or agent.expected_interval
    agent.ttl = said.ttl or agent.ttl


def _take_status(agent, said: Said, word: str) -> None:
    if said.status is not None:
        agent.status = said.status
        agent.task = said.task or states.parse_status(said.status)[1]
    elif word not in (states.LIVE, states.SILENT) and agent.modality != "human":
        agent.status, agent.task = "idle", said.task  # D4: idle after dormancy unless it says otherwise
    elif "task" in said.given:
        agent.task = said.task
    if said.replace:
        agent.meta = said.meta or {}
    if "work_mode" in said.given:
        agent.work_mode = said.work_mode


def _take_session(agent, said: Said, at: datetime, change: Change, source: str) -> None:
    """A session takes over with its first heartbeat; a call alone takes nothing away, since two calls may well be under
    way at once (F072, P19). Of an agent that may have several, none takes over from another."""
    were, beat = _rivals(agent, at), source == HEARTBEAT
    if said.session and not (heard.greeted(agent.heard, said.session) if beat else said.session in agent.heard):
        change.news = True
        others = {key: entry for key, entry in agent.heard.items() if key != said.session}
        if beat and others and agent.max_sessions == 1:
            change.began = said.session
            change.note("session_replaced", heard.latest(others), said.session)
    agent.heard = heard.hear(agent.heard, said.session, said.host, at, beat)
    change.news |= were != _rivals(agent, at)


def _rivals(agent, at: datetime) -> set[str]:
    return {each["session"] for each in heard.rivals(agent.heard, at, agent.max_sessions)}


def _take_skew(agent, said: Said, at: datetime, change: Change) -> None:
    was_off = abs(agent.clock_skew or 0) > SKEW_WARNING
    if said.sent_at is None:
        return
    agent.clock_skew = round((said.sent_at - at).total_seconds(), 3)
    if was_off != (abs(agent.clock_skew) > SKEW_WARNING):
        change.note("clock_skew", None, agent.clock_skew, "the sender's clock and the hub's disagree; only shown")


def come_alive(agent, at: datetime, change: Change, source: str) -> None:
    """Own evidence that ends any absence: the edge back is noted once, with what the agent was and since when."""
    never_heard = agent.evidence_at is None
    prove(agent, at, source)
    if change.before.word != states.LIVE:
        agent.live_since, agent.signed_off_at = at, None  # by order of arrival: a stepped clock may say otherwise
    if change.before.word != states.LIVE or agent.recorded != states.LIVE:
        since = f" since {change.before.since:%Y-%m-%dT%H:%M:%SZ}" if change.before.since else ""
        was = change.before.word if change.before.word != states.LIVE else agent.recorded
        reason = "first heard" if never_heard else f"was {was}{since}"
        gone_since = change.before.since if change.before.word != states.LIVE else None
        change.note("presence", was, states.LIVE, reason, gone_since)
    agent.recorded = states.LIVE


def _time_activity(agent, old: dict, at: datetime, change: Change) -> None:
    """Since when it says what it says, and when it last stopped working: a claim that had lapsed with the agent's
    presence begins anew, and its work ended when it was last heard (F136)."""
    was, says = (states.parse_status(status)[0] for status in (old["status"], agent.status))
    held = change.before.word in (states.LIVE, states.SILENT)
    if was == "working" and (says != was or not held):
        agent.worked_at = at if held else old["evidence_at"]
    if says != was or not held:
        agent.activity_since = at


def _compare(agent, old: dict, change: Change) -> None:
    change.news |= any(getattr(agent, name) != old[name] for name in SHOWN)
    said_before = {"activity": states.parse_status(old["status"])[0], "task": old["task"]}
    says_now = {"activity": states.parse_status(agent.status)[0], "task": agent.task}
    if says_now != said_before:
        change.note("activity", said_before, says_now, since=old["activity_since"])
    was = {name: old[name] for name in SETTINGS}
    now = {name: getattr(agent, name) for name in SETTINGS}
    if now != was:
        change.note("settings", was, now)
