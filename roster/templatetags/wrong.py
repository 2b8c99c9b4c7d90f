"""How what is wrong is told: one anomaly's name, the evidence it rests on, what it means and what one can do."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django import template
from django.utils.dateparse import parse_datetime

from roster.models import Anomaly

from .agora import duration, facts, spaced

register = template.Library()


@dataclass(frozen=True, slots=True)
class Meaning:
    """A kind of anomaly: its name, what it means, and what one can do about it. Its sign is drawn from ``sign`` in the
    colour of ``tone``: red is for what is wrong with the hub itself."""

    name: str
    means: str
    do: str
    sign: str = "alarm"
    tone: str = "silent"


MEANINGS = {
    "silent_always_on": Meaning(
        "silent though always-on",
        "It promised to beat all the time, and its window of two intervals passed without a heartbeat. What it last "
        "said of itself is kept on its page, with its age.",
        "See whether its process and its machine still run. Its next heartbeat closes this.",
        sign="silent",
    ),
    "duplicate_sessions": Meaning(
        "several sessions at once",
        "Several sessions beat under this one id, so its status is that of whoever spoke last. One of them may be a "
        "copy that was left running.",
        "Stop the one that should not be there, or register it under an id of its own. This closes ten minutes after "
        "only one is left.",
    ),
    "dismissal_proposed": Meaning(
        "dismissal proposed",
        "It broke a rule again for which it was warned, while that warning still counts.",
        "Look at the evidence on its page. A person dismisses it, or withdraws the warning; either closes this, and so "
        "does the end of the warning.",
    ),
    "sweep_late": Meaning(
        "late sweep",
        "This sweep has not begun for three of its periods. Presence on the pages is computed and stays right; its "
        "edges are recorded and announced late.",
        "See whether the hub’s worker and beat run: /readyz names what is missing. Its next run closes this.",
        tone="alarm",
    ),
    "late_drain": Meaning(
        "long drain",
        "It has been finishing its work for more than a day. It takes no new prompts; what it had before, or holds "
        "under a lease, is not done yet. Nothing cuts it off by itself.",
        "See on its page what it still has to do, and whether whoever runs it is there. It closes once the agent is "
        "retired; an admin can retire it by force.",
    ),
    "node_without_agent": Meaning(
        "node without its agent",
        "An enrolled node has no agent of its own, so nobody answers for it. No call and no page can bring this about: "
        "somebody changed the database by hand.",
        "Restore the row of the agent that has the node’s name. This closes once there is one.",
        tone="alarm",
    ),
    "mass_change": Meaning(
        "held edges",
        "So many live agents seemed to go at once that the hub or its network is the likelier cause. The pages show "
        "the computed words; recording and announcing them waits, for a while.",
        "Where the agents are really gone, a manager can release the edges. Otherwise wait: this closes by itself.",
        tone="alarm",
    ),
}  # fmt: skip
EVIDENCE = {
    "claims": "last said",
    "interval": "beats every",
    "would_flip": "live agents that would be called gone",
    "live": "of all that were live",
    "times": "broken again",
}


@dataclass(frozen=True, slots=True)
class Fact:
    """One piece of evidence: its name, and either words or a moment."""

    name: str
    words: str = ""
    moment: datetime | None = None


@register.filter
def meaning(kind: str) -> Meaning:
    """Say what a kind of anomaly means; one that a newer hub wrote is at least named."""
    return MEANINGS.get(kind) or Meaning(spaced(kind), "", "")


@register.filter
def evidence(anomaly: Anomaly) -> list[Fact]:
    """Say what an anomaly rests on."""
    return [_fact(name, value) for name, value in anomaly.evidence.items() if value not in (None, "")]


@register.filter
def lasted(anomaly: Anomaly) -> float | None:
    """Say how many seconds an anomaly was open; None while it is."""
    return (anomaly.closed_at - anomaly.opened_at).total_seconds() if anomaly.closed_at else None


def _fact(name: str, value: Any) -> Fact:
    label = EVIDENCE.get(name, spaced(name))
    if name in ("last_seen", "draining_since"):
        return Fact(label, str(value), parse_datetime(str(value)))
    if name == "interval":
        return Fact(label, duration(value))
    if name == "sessions":
        return Fact(label, ", ".join(map(_session, value)))
    return Fact(label, f"“{value}”" if name == "claims" else facts(value))


def _session(said: dict) -> str:
    return f"{said['session']} on {said['host']}" if said.get("host") else said["session"]
