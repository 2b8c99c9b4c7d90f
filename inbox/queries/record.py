"""The record of an agent: who asked it what, when, and what came of it (R151). It only grows, and knows the direct caller
and nobody behind them (R152)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime

from django.db.models import QuerySet

from inbox import phrases, turns
from inbox.models import Exchange
from roster.models import Agent

READ = 50  # exchanges read at once
MOST_READ = 2000  # in one answer
MOST_BYTES = 16 * 1024 * 1024  # of prompts and answers, in one answer


@dataclass(frozen=True, slots=True)
class Entry:
    """One exchange as it is at a moment. ``answer`` is what the target said, or the hub in its stead where it was
    disabled; ``error`` why it failed or was not run; ``context`` where it has what was looked for."""

    exchange: int
    target: str
    caller: str
    subject: str
    prompt: str
    state: str
    outcome: str | None
    answer: str | None
    error: str | None
    disabled: dict | None
    model_invoked: bool
    asked_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    session: str
    until: datetime | None
    context: tuple[phrases.Piece, ...] = ()

    @property
    def is_open(self) -> bool:
        return self.state in turns.OPEN


@dataclass(frozen=True, slots=True)
class Conversation:
    """Exchanges in order, and the number from which the conversation goes on; None at its end. A search that has looked
    at enough ends there: it may name a ``next`` with fewer entries than were asked for, and with none."""

    entries: tuple[Entry, ...]
    next: int | None


def conversation(
    agent: Agent, now: datetime, *, before: int | None = None, q: str = "", limit: int = 20
) -> Conversation:
    """The newest ``limit`` exchanges of ``agent`` below the number ``before``, newest first; with ``q`` those that have
    its words. Raises ``Invalid`` where ``q`` is too long or names no word."""
    newest = Exchange.objects.whole().filter(target=agent).order_by("-prompt")
    return _read(newest if before is None else newest.filter(prompt__lt=before), now, q, limit)


def record(agent: Agent, now: datetime, *, after: int = 0, q: str = "", limit: int = 100) -> Conversation:
    """The exchanges of ``agent`` behind the number ``after``, oldest first; with ``q`` those that have its words. Raises
    ``Invalid`` where ``q`` is too long or names no word."""
    return _read(Exchange.objects.whole().filter(target=agent, prompt__gt=after).order_by("prompt"), now, q, limit)


def entry(number: int, now: datetime) -> Entry:
    """The exchange ``number``, which exists."""
    return of(Exchange.objects.whole().get(pk=number), now)


def of(each: Exchange, now: datetime, context: tuple[phrases.Piece, ...] = ()) -> Entry:
    """What ``each`` is at ``now``: one whose lease has lapsed has failed, whoever has written that down."""
    lapsed = turns.lapsed(each.facts(), now)
    said = each.answer.body if each.answer else each.note if each.outcome == "disabled" else None
    failed = turns.LAPSED if lapsed else each.note if each.state in (turns.FAILED, turns.REFUSED) else None
    return Entry(
        exchange=each.pk, target=each.target.slug, caller=each.caller.slug, subject=each.prompt.subject,
        prompt=each.prompt.body, state=turns.state(each.facts(), now), outcome="failed" if lapsed else each.outcome or None,
        answer=said, error=failed, disabled=each.disabled, model_invoked=each.model_invoked, asked_at=each.asked_at,
        started_at=each.started_at, finished_at=each.lease_until if lapsed else each.finished_at, session=each.session,
        until=each.lease_until if each.state == turns.RUNNING and not lapsed else None, context=context,
    )  # fmt: skip


def _read(wanted_rows: QuerySet[Exchange], now: datetime, q: str, limit: int) -> Conversation:
    wanted = phrases.asked(q) if q.strip() else ()
    found, room, seen, last = [], MOST_BYTES, 0, None
    for each in _walked(wanted_rows, READ if wanted else min(limit + 1, READ)):
        if len(found) == limit or seen == MOST_READ or room < 0:
            return Conversation(tuple(found), last)
        seen, last = seen + 1, each.pk
        room -= each.prompt.size + (each.answer.size if each.answer else 0)
        context = _context(each, wanted)
        if context or not wanted:
            found.append(of(each, now, context))
    return Conversation(tuple(found), None)


def _walked(wanted_rows: QuerySet[Exchange], step: int) -> Iterator[Exchange]:
    """All of them, ``step`` at a time: their texts may be large."""
    at, some = 0, [None] * step
    while len(some) == step:
        some = list(wanted_rows[at : at + step])
        yield from some
        at += step


def _context(each: Exchange, wanted: Iterable[phrases.Phrase]) -> tuple[phrases.Piece, ...]:
    """Where the exchange has what is ``wanted``: in what was asked and answered, or in its caller and subject."""
    if not wanted:
        return ()
    said = each.answer.body if each.answer else each.note
    return phrases.found_in(wanted, f"{each.caller.slug} {each.prompt.subject}", f"{each.prompt.body}\n\n{said}")
