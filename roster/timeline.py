"""What one agent was, and what it said, over the last day. Pure: events and the present words in, segments out.

Every event tells what was before it and since when, so that a change nobody recorded in time still stands where it
was. What no event tells of is left out, never guessed; the last segment is the word computed now.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from . import states

DAY = timedelta(hours=24)


@dataclass(frozen=True, slots=True)
class Segment:
    """One word from ``begin`` to ``end``, with the task said beside it, who brought it about and why, as far as an
    event tells. ``earlier``: it had begun before the time that is looked at."""

    begin: datetime
    end: datetime
    word: str
    task: str = ""
    by: str = ""
    reason: str = ""
    earlier: bool = False

    @property
    def seconds(self) -> float:
        return (self.end - self.begin).total_seconds()


@dataclass(frozen=True, slots=True)
class _Word:
    word: str
    task: str = ""


@dataclass(frozen=True, slots=True)
class _Mark:
    """A word that began at ``at``; None where only its end is known."""

    at: datetime
    said: _Word | None
    by: str = ""
    reason: str = ""


def presence(events: Iterable[Any], present: states.Presence, start: datetime, now: datetime) -> list[Segment]:
    """The presence of an agent from ``start`` to ``now``. ``events`` are its own, oldest first, of any kind; they may
    begin before ``start``, and should, so that the first word is known. ``present`` is its presence at ``now``."""
    marks = _marks([each for each in events if each.kind == "presence"], lambda value: _Word(value))
    _settle(marks, _Word(present.word), present.since, present.reason)
    return _segments(marks, start, now)


def activity(
    events: Iterable[Any],
    present: states.Activity,
    task: str | None,
    there: Sequence[Segment],
    start: datetime,
    now: datetime,
) -> list[Segment]:
    """What the agent said it was doing, where ``there`` (its presence) says that a claim counts: a claim lapses with
    the presence of who made it (R29). Arguments as for ``presence``; ``task`` is what it says now."""
    marks = _marks([each for each in events if each.kind == "activity"], _claim)
    counting = [each for each in there if each.word in (states.LIVE, states.SILENT)]
    if present.raw and counting and counting[-1].end == now:
        _settle(marks, _Word(present.value, task or ""), present.since)
    return _joined(_overlap(each, span) for each in _segments(marks, start, now) for span in counting)


def spans(known: Iterable[Segment], start: datetime, now: datetime) -> list[Segment]:
    """Those of ``known`` that touch the time from ``start`` to ``now``, cut to it, in their order."""
    cut = (
        replace(each, begin=max(each.begin, start), end=min(each.end, now), earlier=each.begin < start)
        for each in known
    )
    return [each for each in cut if each.begin < each.end]


def _claim(value: Any) -> _Word:
    if not isinstance(value, dict):  # a row that somebody damaged costs the page nothing
        return _Word("unknown")
    return _Word(value.get("activity", "unknown"), value.get("task") or "")


def _marks(events: Iterable[Any], read) -> list[_Mark]:
    marks: list[_Mark] = []
    for event in events:
        before = read(event.before)
        if not marks or marks[-1].said != before:
            _turned(marks, before, event.before_since)
        _put(marks, _Mark(event.at, read(event.after), event.by, event.reason))
    return marks


def _turned(marks: list[_Mark], word: _Word, since: datetime | None) -> None:
    """It had turned to ``word`` by then, and no event tells of it."""
    if since is not None:
        _put(marks, _Mark(since, replace(word, task="")))  # the time is the word's; its task may be younger
    elif marks:
        _put(marks, _Mark(marks[-1].at, None))


def _settle(marks: list[_Mark], word: _Word, since: datetime | None, reason: str = "") -> None:
    """Ends ``marks`` with ``word``, which is true now and began at ``since``."""
    if marks and marks[-1].said == word:
        return
    if since is not None:
        _put(marks, _Mark(since, word, reason=reason))
    elif marks:
        _put(marks, _Mark(marks[-1].at, None))


def _put(marks: list[_Mark], mark: _Mark) -> None:
    """Later knowledge wins: what began at the same time or after ``mark`` is contradicted by it."""
    while marks and marks[-1].at >= mark.at:
        marks.pop()
    marks.append(mark)


def _segments(marks: Sequence[_Mark], start: datetime, now: datetime) -> list[Segment]:
    ends = [*(mark.at for mark in marks[1:]), now]
    known = ((mark, end) for mark, end in zip(marks, ends, strict=False) if mark.said)
    return spans((Segment(m.at, end, m.said.word, m.said.task, m.by, m.reason) for m, end in known), start, now)


def _overlap(one: Segment, other: Segment) -> Segment:
    begin, end = max(one.begin, other.begin), min(one.end, other.end)
    return replace(one, begin=begin, end=end, earlier=one.earlier and begin == one.begin)


def _joined(segments: Iterable[Segment]) -> list[Segment]:
    """The segments that are not empty; one that goes on where the same word ended is one with it."""
    found: list[Segment] = []
    for each in segments:
        if each.begin >= each.end:
            continue
        if found and found[-1].end == each.begin and (found[-1].word, found[-1].task) == (each.word, each.task):
            found[-1] = replace(found[-1], end=each.end)
        else:
            found.append(each)
    return found
