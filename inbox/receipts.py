"""What a sender is told of each recipient: how it was addressed, what became of the letter, and whether the recipient
can be reached, in a word and in a sentence (R74, P25). Pure."""

from __future__ import annotations

from datetime import datetime

from roster import states
from roster.errors import HubError
from roster.stamps import stamp

REFUSED = "refused"  # one of many recipients who cannot take it; the others can


def presence_code(agent, found: states.Presence) -> str:
    """The one word that matters most to a sender: what keeps the recipient from reading soon, else its presence."""
    if not agent.enabled:
        return "disabled"
    return states.DRAINING if agent.lifecycle == states.DRAINING else found.word


def note(agent, code: str, found: states.Presence) -> str:
    """One sentence about the letter's prospects."""
    if code == "disabled":
        by = f" by {agent.disabled_by}" if agent.disabled_by else ""
        why = f": {agent.disabled_reason}" if agent.disabled_reason else ""
        return f"queued; {agent.slug} was disabled{by}{why}, and reads nothing until it is enabled"
    if code == states.DRAINING:
        return f"queued; {agent.slug} is finishing its work and leaves the fleet then"
    if code == states.LIVE:
        return f"queued; {agent.slug} is live"
    since = f" since {found.since:%Y-%m-%dT%H:%M:%SZ}" if found.since else ""
    if agent.evidence_at is None:
        return f"queued; {agent.slug} was never here; it is read when {agent.slug} first comes"
    return f"queued; {agent.slug} is {code}{since} and reads it when it returns"


def told(agent, addressed_as: str, found: states.Presence, pending: int, oldest: datetime) -> dict:
    """The line of an accepted letter to ``agent``, whose inbox now holds ``pending`` messages, the oldest of that time
    (F076)."""
    code = presence_code(agent, found)
    line = _line(agent, addressed_as, found, "waiting", code, note(agent, code, found))
    return line | {"pending": pending, "oldest": stamp(oldest)}


def refused(agent, addressed_as: str, found: states.Presence, why: HubError) -> dict:
    """The line of one who cannot take the letter."""
    return _line(agent, addressed_as, found, REFUSED, why.code, f"not sent: {why.message}")


def _line(agent, addressed_as: str, found: states.Presence, state: str, code: str, sentence: str) -> dict:
    return {
        "to": agent.slug,
        "addressed_as": addressed_as,
        "state": state,
        "recipient_presence": found.word,
        "code": code,
        "note": sentence,
        "last_seen": stamp(agent.last_seen),
        "expected_interval": agent.expected_interval,
    }
