"""How we know: each question about an agent with the evidence that won and the evidence that lost (design section 4)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from . import states
from .rows import Row


@dataclass(frozen=True, slots=True)
class Source:
    source: str
    value: str
    as_of: datetime | None
    why: str
    raw: str = ""
    verified: bool = False


@dataclass(frozen=True, slots=True)
class Question:
    question: str
    answer: str
    winner: Source | None
    losers: tuple[Source, ...] = ()


@dataclass(frozen=True, slots=True)
class Explained:
    """The four questions about one agent."""

    reachable: Question
    doing: Question
    mode: Question
    who: Question


def explain(row: Row) -> Explained:
    return Explained(_reachable(row), _doing(row), _mode(row), _who(row))


def questions(row: Row) -> list[Question]:
    found = explain(row)
    return [found.reachable, found.doing, found.mode, found.who]


def _reachable(row: Row) -> Question:
    found = row.presence
    winner = Source(found.source or "registry", found.word, found.as_of, found.reason, verified=found.verified)
    losers = []
    if row.last_seen and found.word != states.LIVE:
        losers.append(Source(row.last_seen_source, "live", row.last_seen, f"outweighed: {found.reason}"))
    if row.has_profile and found.source != "kb_profile":
        losers.append(Source("kb_profile", "member", None, "a profile says who belongs, never who can be reached"))
    return Question("reachable?", found.word, winner, tuple(losers))


def _doing(row: Row) -> Question:
    doing = row.activity
    answer = f"{doing.value}: {row.task}" if row.task else doing.value
    if not doing.raw:
        return Question("doing what?", doing.value, None)
    said = Source(doing.source, states.parse_status(doing.raw)[0], doing.as_of, "what it said last", raw=doing.raw)
    if row.presence.word in (states.LIVE, states.SILENT):
        return Question("doing what?", answer, said)
    gone = Source(row.presence.source, "unknown", row.presence.as_of, f"it is {row.presence.word}: a claim has lapsed")
    return Question("doing what?", "unknown", gone, (said,))


def _mode(row: Row) -> Question:
    source = "kb_profile" if row.dom_id.startswith("profile-") else "registry"
    return Question("which mode?", row.mode or "none declared", Source(source, row.mode or "", None, "as stored"))


def _who(row: Row) -> Question:
    if row.modality == "human":
        return Question("who?", "person", Source("registry", row.id, None, "signs in under this name"))
    if row.synthesized and not row.last_seen:
        return Question("who?", "persona", Source("kb_profile", row.id, None, "has a profile, was never heard"))
    return Question("who?", "persona", Source("registry", row.id, None, "registered under this id, by its own token"))
