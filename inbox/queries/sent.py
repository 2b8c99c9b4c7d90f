"""What one agent sent, newest first, and how it stands with those it went to, as far as a sender may know."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Min, Q

from inbox import rules
from inbox.models import Delivery, Message
from roster.models import Agent

from .box import stands


@dataclass(frozen=True, slots=True)
class SentHeader:
    """A sent message without its body. ``to`` is one of the ids or addresses it went to and ``others`` how many more
    there are; ``tally`` says in how many inboxes it waits, was acked and died. One that was taken waits (R208)."""

    seq: int
    thread: int
    subject: str
    importance: str
    sent_at: datetime
    to: str
    others: int
    tally: dict[str, int]


def sent(agent: Agent, now: datetime, *, before: int, limit: int) -> tuple[list[SentHeader], int | None]:
    """The mail that ``agent`` sent below number ``before``, and the cursor of the page after it."""
    rows = list(
        Message.objects.filter(sender=agent, kind=rules.MAIL, pk__lt=before).order_by("-pk").defer("body")[: limit + 1]
    )
    found = _lines([each.pk for each in rows[:limit]], now)
    headers = [
        SentHeader(each.seq, each.thread, each.subject, each.importance, each.sent_at, *found[each.pk])
        for each in rows[:limit]
    ]
    return headers, rows[limit - 1].pk if len(rows) > limit else None


def _lines(seqs: list[int], now: datetime) -> dict[int, tuple[str, int, dict[str, int]]]:
    """By message: an address, how many other ones, and in how many inboxes it is in which state."""
    acked = Q(state__in=(rules.ACKED, rules.ARCHIVED))
    states = {rules.WAITING: stands("pending", now), rules.ACKED: acked, rules.DEAD: stands(rules.DEAD, now)}
    counted = {f"n_{name}": Count("pk", filter=each) for name, each in states.items()}
    rows = Delivery.objects.filter(message__in=seqs).values("message").order_by()
    rows = rows.annotate(to=Min("addressed_as"), addresses=Count("addressed_as", distinct=True), **counted)
    return {
        each["message"]: (
            each["to"],
            each["addresses"] - 1,
            {name: each[f"n_{name}"] for name in states if each[f"n_{name}"]},
        )
        for each in rows
    }
