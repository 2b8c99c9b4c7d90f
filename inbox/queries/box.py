"""What is in one inbox: headers a page at a time, by number, so that nothing is skipped or shown twice (F103)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Q

from inbox import rules
from inbox.models import Delivery
from roster.models import Agent

PENDING, ALL = "pending", "all"
SHOWN = (PENDING, *rules.STATES, ALL)


@dataclass(frozen=True, slots=True)
class Header:
    """A message in an inbox without its body, and how it stands there."""

    seq: int
    thread: int
    in_reply_to: int | None
    kind: str
    sender: str | None
    subject: str
    importance: str
    sent_at: datetime
    expires_at: datetime | None
    size: int
    addressed_as: str
    state: str
    attempts: int
    until: datetime | None
    read: bool
    acked_at: datetime | None
    dead_reason: str

    @property
    def delivery_count(self) -> int:
        """How many times it was handed over, the present lease included."""
        return self.attempts + (self.state == rules.LEASED)


@dataclass(frozen=True, slots=True)
class Peek:
    """A page of an inbox, and what the whole inbox holds; ``next`` is the cursor of the page after it."""

    agent: str
    counts: dict[str, int]
    unread: int
    headers: list[Header]
    next: int | None


def peek(
    agent: Agent, now: datetime, *, state: str = PENDING, after: int = 0, before: int | None = None, limit: int = 50
) -> Peek:
    """The messages of ``agent`` that are in ``state`` at ``now``: oldest first behind number ``after``, or, with
    ``before``, newest first below that number."""
    rows = Delivery.objects.filter(_stands(state, now), recipient=agent).select_related("message__sender", "lease")
    if before is None:
        rows = rows.filter(message__gt=after).order_by("message")
    else:
        rows = rows.filter(message__lt=before).order_by("-message")
    found = [header(each, now) for each in rows[: limit + 1]]
    more = found[limit - 1].seq if len(found) > limit else None
    return Peek(agent.slug, counts(agent, now), unread(agent), found[:limit], more)


def _stands(state: str, now: datetime) -> Q:
    """``rules.state`` in SQL: deliveries that are in ``state`` at ``now``, whether or not a sweep wrote it down."""
    lapsed = Q(state=rules.LEASED, lease__until__lte=now)
    late = Q(expires_at__lte=now)
    spent = Q(attempts__gte=rules.MOST_ATTEMPTS - 1)
    dying = Q(state=rules.WAITING) & late | lapsed & (late | spent)
    waiting = (Q(state=rules.WAITING) | lapsed) & ~dying
    return {
        ALL: Q(),
        rules.WAITING: waiting,
        rules.LEASED: Q(state=rules.LEASED, lease__until__gt=now),
        PENDING: Q(state__in=rules.PENDING) & ~dying,
        rules.DEAD: Q(state=rules.DEAD) | dying,
    }.get(state, Q(state=state))


def header(each: Delivery, now: datetime) -> Header:
    """The header of a delivery, read with its message, the sender and the lease."""
    message, state = each.message, rules.state(each.facts(), now)
    attempts = each.attempts + rules.lapsed(each.facts(), now)
    return Header(
        seq=message.seq, thread=message.thread, in_reply_to=message.in_reply_to_id, kind=message.kind,
        sender=message.sender.slug if message.sender else None, subject=message.subject, importance=message.importance,
        sent_at=message.sent_at, expires_at=message.expires_at, size=message.size, addressed_as=each.addressed_as,
        state=state, attempts=attempts, until=each.lease.until if state == rules.LEASED else None,
        read=each.read_at is not None, acked_at=each.acked_at, dead_reason=each.dead_reason,
    )  # fmt: skip


def counts(agent: Agent, now: datetime) -> dict[str, int]:
    """How many messages of the inbox are waiting, leased and dead. Its limits bound the first two."""
    mine = Delivery.objects.filter(recipient=agent)
    return {state: mine.filter(_stands(state, now)).count() for state in (rules.WAITING, rules.LEASED, rules.DEAD)}


def unread(agent: Agent) -> int:
    """How many pending messages the recipient has not marked read."""
    return Delivery.objects.filter(recipient=agent, state__in=rules.PENDING, read_at=None).count()
