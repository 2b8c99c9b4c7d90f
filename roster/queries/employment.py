"""What the hub keeps about how one agent is employed: its engram, its memory, what it was warned of."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import QuerySet
from django.db.models.functions import Length

from roster.models import Agent, EngramRevision, MemoryEntry, Violation, Warning

LATEST = 50  # warnings of an agent, and violations since, that are told of it


@dataclass(frozen=True, slots=True)
class Engram:
    """The text that the next turn of ``agent`` begins with; revision 0, of nobody, is that none was ever written."""

    agent: str
    revision: int = 0
    text: str = ""
    author: str = ""
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Revision:
    """A revision without its text, of which it tells the length in characters."""

    revision: int
    author: str
    at: datetime
    size: int


def engram(agent: Agent, revision: int | None = None) -> Engram | None:
    """The newest engram of ``agent``, or an older ``revision`` of it; None where there is no such revision."""
    kept = EngramRevision.objects.filter(agent=agent).order_by("-number")
    found = (kept if revision is None else kept.filter(number=revision)).first()
    if found is None:
        return None if revision else Engram(agent.slug)
    return Engram(agent.slug, found.number, found.text, found.author, found.at)


def revisions(agent: Agent, limit: int = 50, before: int | None = None) -> list[Revision]:
    """The revisions of the engram of ``agent`` below the number ``before``, newest first."""
    kept = EngramRevision.objects.filter(agent=agent).order_by("-number")
    kept = kept if before is None else kept.filter(number__lt=before)
    rows = kept.annotate(size=Length("text")).values_list("number", "author", "at", "size")
    return [Revision(*row) for row in rows[:limit]]


@dataclass(frozen=True, slots=True)
class Remembered:
    id: int
    kind: str
    text: str
    at: datetime


def memory(agent: Agent, after: int, kind: str, limit: int) -> list[Remembered]:
    """What ``agent`` wrote down after its entry ``after``, oldest first; of one ``kind`` unless that is ""."""
    entries = MemoryEntry.objects.filter(agent=agent, pk__gt=after).order_by("pk")
    entries = entries.filter(kind=kind) if kind else entries
    return [Remembered(*row) for row in entries.values_list("pk", "kind", "text", "at")[:limit]]


@dataclass(frozen=True, slots=True)
class Broken:
    """One time that a rule was broken."""

    at: datetime
    evidence: str


@dataclass(frozen=True, slots=True)
class Warned:
    """A warning, with the evidence of what it was given for. It ``counts`` towards a dismissal until ``until``, unless
    it was withdrawn; ``again`` is what was done against the same rule since, while it counted, oldest first, as far as it
    is among the LATEST of the agent. ``seq`` is the number of its message."""

    id: int
    rule: str
    text: str
    evidence: str
    at: datetime
    until: datetime
    counts: bool
    again: tuple[Broken, ...]
    seq: int | None
    withdrawn_at: datetime | None
    withdrawn_by: str
    withdrawn_reason: str


def warnings(agent: Agent, now: datetime, age: timedelta) -> list[Warned]:
    """The newest warnings of ``agent``, LATEST at most, the newest first; each counts for ``age``."""
    given = Warning.objects.filter(agent=agent).select_related("rule", "violation").order_by("-pk")[:LATEST]
    unwarned = Violation.objects.filter(agent=agent, warning=None).order_by("-pk") if given else ()
    broken = list(unwarned[:LATEST])[::-1]
    return [_warned(each, broken, now, age) for each in given]


def _warned(warning: Warning, broken: list[Violation], now: datetime, age: timedelta) -> Warned:
    until = warning.at + age
    ended = min(until, warning.withdrawn_at or until)
    since = [each for each in broken if each.rule_id == warning.rule_id and warning.at <= each.at < ended]
    return Warned(
        id=warning.pk, rule=warning.rule.slug, text=warning.rule.text, evidence=warning.violation.evidence,
        at=warning.at, until=until, counts=warning.withdrawn_at is None and now < until,
        again=tuple(Broken(each.at, each.evidence) for each in since), seq=warning.seq,
        withdrawn_at=warning.withdrawn_at, withdrawn_by=warning.withdrawn_by,
        withdrawn_reason=warning.withdrawn_reason,
    )  # fmt: skip


def counting(now: datetime, age: timedelta) -> QuerySet[Warning]:
    """The warnings that count at ``now``."""
    return Warning.objects.filter(withdrawn_at=None, at__gt=now - age)


@dataclass(frozen=True, slots=True)
class Proposal:
    """A rule that an agent was warned for and broke again: since when, and how often since the warning."""

    rule: str
    since: datetime
    times: int


def proposals(agent: Agent, now: datetime, age: timedelta) -> list[Proposal]:
    """The rules for which the dismissal of ``agent`` is proposed, in the order of their ids."""
    given = counting(now, age).filter(agent=agent).order_by("-pk")
    warned = dict(given.values_list("rule", "violation"))  # the oldest of a rule comes last and stays
    found: dict[str, list[Violation]] = {}
    broken = Violation.objects.filter(agent=agent, rule__in=warned).select_related("rule")
    for each in broken.order_by("rule__slug", "pk"):
        if each.pk > warned[each.rule_id]:
            found.setdefault(each.rule.slug, []).append(each)
    return [Proposal(rule, again[0].at, len(again)) for rule, again in found.items()]
