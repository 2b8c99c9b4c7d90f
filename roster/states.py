"""Presence and activity: pure functions over facts, standard library only.

Store times and facts, compute words (design rule 2). ``presence`` is the one place that says whether an agent can be
reached; the API, the pages, the admin and the sweep show what it says. ``queries.presence_word`` renders it in SQL and
a property test holds the two equal (P04).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache

EPHEMERAL, ASYNC, ALWAYS_ON = "ephemeral", "async", "always-on"
MODES = (EPHEMERAL, ASYNC, ALWAYS_ON)
PERSISTENT = (ASYNC, ALWAYS_ON)

LIVE, SILENT, DORMANT, EXPIRED, UNKNOWN = "live", "silent", "dormant", "expired", "unknown"
PRESENCES = (LIVE, SILENT, DORMANT, EXPIRED, UNKNOWN)
WHEN_GONE = {EPHEMERAL: EXPIRED, ASYNC: DORMANT, ALWAYS_ON: SILENT}

HIRED, ACTIVE, DRAINING, RETIRED = "hired", "active", "draining", "retired"
LIFECYCLES = (HIRED, ACTIVE, DRAINING, RETIRED)

DEFAULT_INTERVAL = 1800  # seconds
DEFAULT_TTL = 3600  # seconds
SHORTEST, LONGEST = 5, 30 * 24 * 3600  # seconds; the bounds of every interval and ttl
DORMANT_FACTOR = 2

SLUG = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
RESERVED = ("live",)  # stands for everybody who is live where an id is asked for
SLUG_RULE = "lower-case letters, digits, '.', '_' and '-', at most 64 of them, starting with a letter or a digit"


@dataclass(frozen=True, slots=True)
class Facts:
    """What is stored about one agent that presence depends on; ``mode`` is None where only a profile exists.

    ``evidence_at`` is the last heartbeat or writing call of the agent itself. ``deadline`` is the end of the window
    that evidence opened, already moved where the hub itself was down (design rule 8).
    """

    mode: str | None
    expected_interval: int | None = DEFAULT_INTERVAL
    ttl: int | None = DEFAULT_TTL
    evidence_at: datetime | None = None
    evidence_source: str = ""
    deadline: datetime | None = None
    signed_off_at: datetime | None = None
    live_since: datetime | None = None
    profile_mode: str | None = None


@dataclass(frozen=True, slots=True)
class Presence:
    """A presence word with its evidence: since when, from which source, as of when, and why in one clause."""

    word: str
    since: datetime | None
    source: str
    as_of: datetime | None
    reason: str
    verified: bool = False
    deadline: datetime | None = None


@dataclass(frozen=True, slots=True)
class Activity:
    """What an agent says it is doing, since when it says so, and the raw word as it was sent."""

    value: str
    raw: str
    source: str
    as_of: datetime | None
    verified: bool = False
    since: datetime | None = None


def window(mode: str, expected_interval: int, ttl: int) -> timedelta:
    """How long one piece of evidence keeps an agent live: its ttl, or twice its expected interval (R22, R1)."""
    return timedelta(seconds=ttl if mode == EPHEMERAL else DORMANT_FACTOR * expected_interval)


def fault(facts: Facts) -> str:
    """Why these facts cannot be judged, or "": the database refuses such rows, a sweep still survives one (P48)."""
    if facts.mode is None:
        return ""
    if facts.mode not in MODES:
        return "the stored mode is not one the hub knows"
    for name, seconds in (("expected interval", facts.expected_interval), ("ttl", facts.ttl)):
        if seconds is None or not SHORTEST <= seconds <= LONGEST:
            return f"the stored {name} is out of bounds"
    if facts.evidence_at is not None and facts.deadline is None:
        return "the stored deadline is missing"
    return ""


def presence(facts: Facts, now: datetime) -> Presence:
    """Whether the agent can be reached at ``now``; the first rule that matches wins (design section 4).

    Own evidence inside its window is live; strictly after the deadline, or once signed off, the mode decides the word.
    Without any evidence a persistent member is dormant and anything else unknown.
    """
    if problem := fault(facts):
        return Presence(UNKNOWN, None, "registry", facts.evidence_at, problem)
    if facts.evidence_at is None:
        return _never_seen(facts)
    if facts.signed_off_at is not None and facts.evidence_at <= facts.signed_off_at:
        return _gone(facts, facts.signed_off_at, "signed off", facts.evidence_source)
    if now > facts.deadline:  # nobody said so: the registry's own clock did
        return _gone(facts, facts.deadline, f"nothing heard for {words(_window(facts))}", "registry")
    since = facts.live_since or facts.evidence_at
    reason = f"heard within {words(_window(facts))}"
    if now > facts.evidence_at + _window(facts):
        reason += ", the hub's own absence not counted"
    return Presence(LIVE, since, facts.evidence_source, facts.evidence_at, reason, deadline=facts.deadline)


def _window(facts: Facts) -> timedelta:
    return window(facts.mode, facts.expected_interval, facts.ttl)


def _never_seen(facts: Facts) -> Presence:
    if facts.profile_mode in PERSISTENT:  # the profile makes it a member, whatever the registry holds for it
        return Presence(DORMANT, None, "kb_profile", None, "never seen")
    source = "registry" if facts.mode else "kb_profile"
    return Presence(DORMANT if facts.mode in PERSISTENT else UNKNOWN, None, source, None, "never seen")


def _gone(facts: Facts, since: datetime, reason: str, source: str) -> Presence:
    word = WHEN_GONE[facts.mode]
    if word == EXPIRED and facts.profile_mode in PERSISTENT:  # membership outlives a registry entry that lapsed (R37)
        return Presence(DORMANT, since, "kb_profile", facts.evidence_at, reason)
    return Presence(word, since, source, facts.evidence_at, reason, deadline=facts.deadline)


@lru_cache(1024)  # the windows of a fleet are a few
def words(span: timedelta) -> str:
    """A span in the two largest units that it has: "1 h 30 min", "45 s"."""
    left, parts = round(span.total_seconds()), []
    for unit, size in (("d", 86400), ("h", 3600), ("min", 60), ("s", 1)):
        count, left = divmod(left, size)
        if count:
            parts.append(f"{count} {unit}")
    return " ".join(parts[:2]) or "0 s"


# ---- activity -------------------------------------------------------------------------------------------------------

CANONICAL = {"idle": "idle", "busy": "working", "working": "working", "error": "error"}
ATTENTION = {"blocked": "high", "awaiting": "high", "error": "high"}
ATTENTIONS = (*dict.fromkeys(ATTENTION.values()), "none")
OLD_WORD = {"idle": "idle", "done": "idle", "blocked": "busy", "awaiting": "busy", "error": "error"}


@lru_cache(4096)  # a fleet says the same few words again and again
def parse_status(raw: str) -> tuple[str, str | None]:
    """The canonical activity and the task inside a status word: ``working: <task>`` carries one (R21)."""
    word, colon, task = raw.partition(":")
    word = word.strip(" ").lower()  # of spaces only, as SQL trims
    if colon and word == "working":
        return "working", task.strip() or None
    return (CANONICAL.get(word, "unknown") if not colon else "unknown"), None


def activity(raw: str, as_of: datetime | None, word: str, since: datetime | None = None) -> Activity:
    """What the agent last said, as far as it still counts: a dormant or expired agent is doing nothing known (R29)."""
    value = parse_status(raw)[0] if word in (LIVE, SILENT) else "unknown"
    return Activity(value, raw, "heartbeat", as_of, since=since)


def attention(value: str) -> str:
    """How urgent an activity is when nothing more was declared (R175)."""
    return ATTENTION.get(value, "none")


def old_word(value: str, task: str | None, word: str) -> str:
    """The one status word for readers of the old registry (design section 4, vocabularies)."""
    if word in (DORMANT, EXPIRED):
        return "dormant"
    if value == "working":
        return f"working: {task}" if task else "busy"
    return OLD_WORD.get(value, "unknown")


def choose_mode(said: str | None, permanent: bool | None, stored: str | None, profile: str | None) -> str:
    """Which liveness mode holds: body, then ``permanent: true``, then stored, then profile, then ephemeral (D5)."""
    if said:
        return said
    if permanent:
        return ALWAYS_ON
    return stored or profile or EPHEMERAL
