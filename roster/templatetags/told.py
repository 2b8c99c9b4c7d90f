"""How what happened is told: one event in words that a person reads, and when what it ended had begun."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django import template
from django.utils.dateparse import parse_datetime

from roster import beats, states
from roster.models import Event

from .agora import duration, facts, spaced

register = template.Library()
UNTOLD = ("form",)  # kept for a program: which form it came from
LONGEST = 48  # characters of one changed value
SPANS = ("expected_interval", "ttl", "lifetime", "cooldown")  # settings that are seconds
CAME = {
    states.LIVE: "came back",
    states.SILENT: "went silent",
    states.DORMANT: "went dormant",
    states.EXPIRED: "left the roster",
    states.UNKNOWN: "became unknown",
}
# What each kind of event says of whom it is about, or of the hub where it is about nobody.
WHAT: dict[str, str | Callable[[Event], str]] = {
    "presence": lambda event: "was first heard" if event.reason == FIRST else CAME.get(event.after, "changed presence"),
    "activity": lambda event: f"says {_says(event.after)}",
    "settings": "changed its settings",
    "clock_skew": lambda event: "has a clock that is off" if _is_off(event.after) else "has its clock right again",
    "signed_off": "signed off",
    "session_replaced": "has a new session",
    "registered": "was registered",
    "edited": "entry edited",
    "profile_edited": "profile edited",
    "token_issued": "token issued",
    "token_revoked": "token revoked",
    "node_enrolled": "node enrolled",
    "node_retiring": "node is being retired",
    "node_retired": "node retired",
    "agents_merged": "two entries of one node merged",
    "disabled": "was disabled",
    "enabled": "was enabled",
    "hired": "was hired",
    "workspace_ready": "has its workspace",
    "workspace_failed": "has no workspace yet",
    "reassigned": "moved to another node",
    "draining": "is finishing its work",
    "dismissed": "was dismissed and is finishing its work",
    "retired": "retired",
    "force_retired": "was retired by force",
    "engram_edited": "engram edited",
    "memory_looked_at": "memory looked at",
    "template_edited": "template edited",
    "cloned": "was cloned from a template",
    "surge": "a queue grew for too long",
    "surge_rule_edited": "surge rule edited",
    "rule_edited": "rule edited",
    "violation": "broke a rule",
    "warned": "was warned",
    "warning_withdrawn": "warning withdrawn",
    "granted": "was given a permission",
    "grant_revoked": "lost a permission",
    "edges_held": "presence edges held",
    "hold_released": "held edges released",
    "hub_started": "the hub started",
    "clock_stepped": "the hub’s clock jumped",
    "mail_dead": "mail not delivered",
    "mail_archived": "mail put away",
    "inbox_looked_at": "mail looked at",
    "mail_searched": "everybody’s mail searched",
    "group_edited": "group edited",
    "sign_in_link": "sign-in link made",
    "signed_in": "signed in",
    "role_given": "role changed",
    "person_edited": "account edited",
}
# The kinds to choose from, by what they are of.
KINDS = {
    "agents": ("presence", "activity", "settings", "session_replaced", "signed_off", "clock_skew"),
    "the fleet": ("registered", "edited", "profile_edited", "token_issued", "token_revoked"),
    "employment": (
        "hired",
        "workspace_ready",
        "workspace_failed",
        "reassigned",
        "disabled",
        "enabled",
        "draining",
        "dismissed",
        "retired",
        "force_retired",
        "engram_edited",
        "memory_looked_at",
        "template_edited",
        "cloned",
        "surge",
        "surge_rule_edited",
    ),
    "nodes": ("node_enrolled", "node_retiring", "node_retired", "agents_merged"),
    "conduct": ("rule_edited", "violation", "warned", "warning_withdrawn", "granted", "grant_revoked"),
    "mail": ("mail_dead", "mail_archived", "inbox_looked_at", "mail_searched", "group_edited"),
    "people": ("signed_in", "sign_in_link", "role_given", "person_edited"),
    "the hub": ("hub_started", "clock_stepped", "edges_held", "hold_released"),
}
FIRST = "first heard"
WHO = {"hub": "the hub", "sweep": "a sweep"}


@dataclass(frozen=True, slots=True)
class Since:
    """When what an event ended had begun: ``what`` it was, from ``begin`` to ``end``."""

    what: str
    begin: datetime
    end: datetime

    @property
    def seconds(self) -> float:
        return (self.end - self.begin).total_seconds()


@dataclass(frozen=True, slots=True)
class Told:
    """One event in words. ``sign`` is the presence word whose sign stands beside it, "" for none; whoever acted is
    "itself" where the agent did."""

    what: str
    change: str
    by: str
    reason: str
    sign: str
    since: Since | None


@register.filter
def told(event: Event) -> Told:
    """Say an event in words."""
    what = WHAT.get(event.kind, spaced(event.kind))
    is_edge = event.kind == "presence"
    since = _since(event)
    return Told(
        what=what(event) if callable(what) else what,
        change=_change(event),
        by="itself" if event.agent and event.by == event.agent.slug else WHO.get(event.by, event.by),
        reason="" if is_edge and (event.reason == FIRST or since and event.reason.startswith("was ")) else event.reason,
        sign=str(event.after) if is_edge else "",
        since=since,
    )


@register.filter
def kind(name: str) -> str:
    """Say a kind of event, for a filter: as its events say it, where they all say the same."""
    words = WHAT.get(name, spaced(name))
    return {"activity": "what it says"}.get(name, spaced(name)) if callable(words) else words


def _since(event: Event) -> Since | None:
    if event.kind == "hub_started":
        down = parse_datetime((event.before or {}).get("down_since") or "")
        return Since("down", down, event.at) if down else None
    if event.before_since is None:
        return None
    what = f"said {_says(event.before)}" if event.kind == "activity" else facts(event.before)
    return Since(what, event.before_since, event.at)


def _change(event: Event) -> str:
    before, after = event.before, event.after
    if event.kind == "activity":
        return f"{_says(before, task=True)} → {_says(after, task=True)}"
    if event.kind == "clock_skew":
        return f"{duration(after)} {'ahead' if after > 0 else 'behind'}"
    if event.kind == "hub_started":
        return facts(after)
    if isinstance(before, dict) and isinstance(after, dict):
        return ", ".join(_differences(before, after))
    if isinstance(after, dict):
        told = {name: value for name, value in after.items() if name not in UNTOLD}
        return ", ".join(_fact(name, value) for name, value in told.items() if value or value == 0)
    if before in (None, ""):
        return "" if after is None else facts(after)
    return facts(before) if after is None else f"{facts(before)} → {facts(after)}"


def _fact(name: str, value: Any) -> str:
    if name == "messages" and isinstance(value, list):
        return _short(name, [f"#{seq}" for seq in value])  # the numbers that their pages are found by
    return f"{spaced(name)} {_short(name, value)}"


def _differences(before: dict, after: dict) -> list[str]:
    """What changed, and what is only known of afterwards."""
    changed = [name for name in after if name in before and before[name] != after[name]]
    told = [f"{spaced(name)} {_short(name, before[name])} → {_short(name, after[name])}" for name in changed]
    return told + [_fact(name, value) for name, value in after.items() if name not in before and value]


def _short(name: str, value: Any) -> str:
    words = duration(value) if name in SPANS and isinstance(value, int) else " ".join(facts(value).split())
    return words if len(words) <= LONGEST else words[: LONGEST - 1].rstrip() + "…"


def _says(said: Any, *, task: bool = False) -> str:
    """What an agent said of itself, as its events keep it: ``{"activity", "task"}``."""
    if not isinstance(said, dict):
        return facts(said)
    word = said.get("activity") or "nothing"
    return f"{word}: {said['task']}" if task and said.get("task") else word


def _is_off(seconds: Any) -> bool:
    return isinstance(seconds, int | float) and abs(seconds) > beats.SKEW_WARNING
