"""Messages with their bodies: one, or a whole thread, as far as the reader may read them."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Q, QuerySet
from django.db.models.functions import Substr

from inbox import rules
from inbox.access import View
from inbox.models import Delivery, Exchange, Message

MOST_LINES = 500  # recipients told of one message
TOGETHER = 64  # messages whose recipients are read at once
OPENING = 200  # characters of a body that stand for its subject


@dataclass(frozen=True, slots=True)
class Line:
    """How a message stands with one recipient, as far as the reader may know."""

    to: str
    addressed_as: str
    state: str
    until: datetime | None
    dead_reason: str


@dataclass(frozen=True, slots=True)
class Letter:
    """One message whole."""

    seq: int
    thread: int
    in_reply_to: int | None
    kind: str
    sender: str | None
    to: tuple[str, ...]
    subject: str
    body: str
    importance: str
    sent_at: datetime
    expires_at: datetime | None
    size: int
    lines: tuple[Line, ...]
    others: int  # recipients beyond those of ``lines``, where the reader may know of them


def message(view: View, seq: int, now: datetime) -> Letter | None:
    """Message ``seq`` as this view shows it, if it does."""
    return next(iter(_letters(view.messages.filter(pk=seq), view.reader, now)), None)


def thread(view: View, number: int, now: datetime, after: int = 0, limit: int = 100) -> list[Letter]:
    """The messages of a thread behind number ``after`` that this view shows, oldest first."""
    return _letters(view.messages.filter(thread=number, pk__gt=after).order_by("pk")[:limit], view.reader, now)


def openings(seqs: list[int]) -> dict[int, str]:
    """How these messages begin: the first line of each that is not blank."""
    begun = Message.objects.filter(pk__in=seqs).values_list("pk", Substr("body", 1, OPENING)) if seqs else ()
    return {seq: text.strip().partition("\n")[0].rstrip() for seq, text in begun}


def thread_page(
    view: View, number: int, now: datetime, after: int, limit: int
) -> tuple[list[Letter], int | None] | None:
    """So many of a thread's messages as one answer carries, and the ``after`` of those that follow; None where this view
    shows none. A thread may be a hundred times as large as an inbox."""
    rows = view.messages.filter(thread=number, pk__gt=after).order_by("pk")
    sizes = list(rows.values_list("size", flat=True)[: limit + 1])
    if not sizes:
        return None
    count = rules.fitting(sizes[:limit])
    letters = thread(view, number, now, after, count)
    return letters, letters[-1].seq if len(sizes) > count else None


def _letters(messages: QuerySet[Message], reader: int | None, now: datetime) -> list[Letter]:
    found = list(messages.select_related("sender"))
    rows, others = _rows([each.pk for each in found]), _other_sides(found)
    return [_letter(each, rows[each.pk], reader, now, others.get(each.pk, ())) for each in found]


def _other_sides(messages: list[Message]) -> dict[int, tuple[str, ...]]:
    """By prompt and by answer whom it went to: these are in no inbox."""
    of = [each.pk for each in messages if each.kind in (rules.PROMPT, rules.ANSWER)]
    found = Exchange.objects.filter(Q(prompt__in=of) | Q(answer__in=of)) if of else Exchange.objects.none()
    to = {}
    for prompt, answer, target, caller in found.values_list("prompt", "answer", "target__slug", "caller__slug"):
        to |= {prompt: (target,), answer: (caller,)}
    return to


def _rows(seqs: list[int]) -> dict[int, list[Delivery]]:
    """By message its deliveries, MOST_LINES at most. Many messages are read at once, or fewer, where they went to so
    many that a message has to be read alone."""
    found, at, together = defaultdict(list), 0, TOGETHER
    while at < len(seqs):
        some = seqs[at : at + together]
        rows = list(_deliveries(message__in=some).order_by("message", "pk")[: MOST_LINES + 1])
        if len(rows) > MOST_LINES and together > 1:
            together //= 8
            continue
        for each in rows[:MOST_LINES]:
            found[each.message_id].append(each)
        at += together
    return found


def _deliveries(**which) -> QuerySet[Delivery]:
    return Delivery.objects.filter(**which).select_related("recipient", "lease")


def _letter(message: Message, rows: list[Delivery], reader: int | None, now: datetime, to: tuple[str, ...]) -> Letter:
    rows = sorted(rows, key=lambda each: each.recipient.slug)
    knows_all = reader is None or reader == message.sender_id
    own = [each for each in rows if each.recipient_id == reader]
    told = rows if knows_all else own or _deliveries(message=message, recipient=reader)
    lines = tuple(_line(each, reader, now) for each in told)
    others = _deliveries(message=message).count() - len(rows) if knows_all and len(rows) == MOST_LINES else 0
    return Letter(
        seq=message.seq, thread=message.thread, in_reply_to=message.in_reply_to_id, kind=message.kind,
        sender=message.sender.slug if message.sender else None, to=to or tuple(dict.fromkeys(each.addressed_as for each in rows)),
        subject=message.subject, body=message.body, importance=message.importance, sent_at=message.sent_at,
        expires_at=message.expires_at, size=message.size, lines=lines, others=others,
    )  # fmt: skip


def _line(each: Delivery, reader: int | None, now: datetime) -> Line:
    """A sender learns that a message was acked, not that it was taken: only the recipient's own act says it was read
    (R208)."""
    state = rules.state(each.facts(), now)
    if state == rules.LEASED and reader is not None and reader != each.recipient_id:
        state = rules.WAITING
    until = each.lease.until if state == rules.LEASED else None
    return Line(each.recipient.slug, each.addressed_as, state, until, each.dead_reason)
