"""What is in one inbox: headers a page at a time, by number, so that nothing is skipped or shown twice (F103)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db.models import F, Q, QuerySet
from django.db.models.expressions import CombinedExpression

from inbox import rules
from inbox.models import Delivery
from roster.models import Agent

PENDING, ALL, UNREAD = "pending", "all", "unread"
SHOWN = (PENDING, *rules.STATES, ALL)


@dataclass(frozen=True, slots=True)
class Header:
    """A message in an inbox without its body, and how it stands there. ``delivery_count`` says how often it was handed
    over and not given back on purpose."""

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
    delivery_count: int
    until: datetime | None
    read: bool
    acked_at: datetime | None
    dead_reason: str


@dataclass(frozen=True, slots=True)
class Peek:
    """A page of an inbox, and what the whole inbox holds; ``next`` is the cursor of the page after it."""

    agent: str
    counts: dict[str, int]
    headers: list[Header]
    next: int | None


def peek(
    agent: Agent, now: datetime, *, state: str = PENDING, after: int = 0, before: int | None = None, limit: int = 50
) -> Peek:
    """The messages of ``agent`` that are in ``state`` at ``now``: oldest first behind number ``after``, or, with
    ``before``, newest first below that number."""
    rows = stored(Delivery.objects.filter(stands(state, now), recipient=agent))
    if before is None:
        rows = rows.filter(message__gt=after).order_by(_number(state).asc())
    else:
        rows = rows.filter(message__lt=before).order_by(_number(state).desc())
    found = [header(each, now) for each in rows[: limit + 1]]
    more = found[limit - 1].seq if len(found) > limit else None
    return Peek(agent.slug, counts(agent, now), found[:limit], more)


def standing(agent: Agent, seqs: list[int], now: datetime) -> dict[int, Header]:
    """How those of these messages that are in the inbox of ``agent`` stand there."""
    rows = stored(Delivery.objects.filter(recipient=agent, message__in=seqs))
    return {each[0]: header(each, now) for each in rows}


def stands(state: str, now: datetime) -> Q:
    """``rules.state`` in SQL: deliveries that are in ``state`` at ``now``, whether or not a sweep wrote it down. Each
    names the stored states that it can come from, which is what the index of an inbox is asked by."""
    lapsed = Q(state=rules.LEASED, lease__until__lte=now)
    late = Q(expires_at__lte=now)
    spent = Q(attempts__gte=rules.MOST_ATTEMPTS - 1)
    dying = Q(state=rules.WAITING) & late | lapsed & (late | spent)
    pending = Q(state__in=rules.PENDING)
    return {
        ALL: Q(),
        rules.WAITING: pending & (Q(state=rules.WAITING) | lapsed) & ~dying,
        rules.LEASED: Q(state=rules.LEASED, lease__until__gt=now),
        PENDING: pending & ~dying,
        rules.DEAD: Q(state__in=(*rules.PENDING, rules.DEAD)) & (Q(state=rules.DEAD) | dying),
    }.get(state, Q(state=state))


STORED = (
    "message_id", "message__thread", "message__in_reply_to_id", "message__kind", "message__sender__slug",
    "message__subject", "message__importance", "message__sent_at", "expires_at", "size", "addressed_as", "read_at",
    "acked_at", "dead_reason", "state", "attempts", "lease__until",
)  # fmt: skip


def _number(state: str) -> F | CombinedExpression:
    """What a page is ordered by. Where several stored states make up one, SQLite would walk all that the inbox ever held
    in the order of its numbers to find those few: as a sum, the number is in no index, and they are found by state."""
    return F("message") if state in (ALL, rules.LEASED, rules.ACKED, rules.ARCHIVED) else F("message") + 0


STANDING = ("state", "attempts", "lease__until", "expires_at", "read_at")


def stored(deliveries: QuerySet[Delivery]) -> QuerySet:
    """What ``header`` reads of these deliveries, as plain tuples: whole rows would take most of a peek's time."""
    return deliveries.values_list(*STORED)


def with_bodies(keys: list[int], now: datetime) -> list[tuple[Header, str]]:
    """The deliveries of these primary keys with the bodies of their messages, oldest first."""
    rows = Delivery.objects.filter(pk__in=keys).order_by("message").values_list(*STORED, "message__body")
    return [(header(each, now), body) for *each, body in rows] if keys else []


def header(each: tuple, now: datetime) -> Header:
    """The header of a delivery that is given as ``stored``. A lease that it still names is not among its attempts: it
    holds the message, lapsed a moment ago, or is the one that the message was acked under."""
    seq, thread, parent, kind, sender, subject, importance, sent_at, expires_at, size, addressed_as, *rest = each
    read_at, acked_at, dead_reason, state, attempts, until = rest
    facts = rules.Facts(state, attempts, None, until, expires_at)
    shown = rules.state(facts, now)
    return Header(
        seq=seq, thread=thread, in_reply_to=parent, kind=kind, sender=sender, subject=subject, importance=importance,
        sent_at=sent_at, expires_at=expires_at, size=size, addressed_as=addressed_as, state=shown,
        delivery_count=attempts + (until is not None), until=until if shown == rules.LEASED else None,
        read=read_at is not None, acked_at=acked_at, dead_reason=dead_reason,
    )  # fmt: skip


def counts(agent: Agent, now: datetime) -> dict[str, int]:
    """How many messages of the inbox are waiting, leased and dead, and how many of the first two are unread. They are
    read one by one, which the limits of an inbox bound: that is less work than to have the rules in SQL once more."""
    pending = Delivery.objects.filter(recipient=agent, state__in=rules.PENDING)
    told = {rules.WAITING: 0, rules.LEASED: 0, rules.DEAD: _dead(agent), UNREAD: 0}
    for state, attempts, until, expires_at, read_at in pending.values_list(*STANDING):
        word = rules.state(rules.Facts(state, attempts, None, until, expires_at), now)
        told[word] += 1
        told[UNREAD] += read_at is None and word in rules.PENDING
    return told


def unread_dead(agent: Agent, now: datetime) -> int:
    """How many messages that were not delivered the recipient has not marked read."""
    return Delivery.objects.filter(stands(rules.DEAD, now), recipient=agent, read_at=None).count()


def _dead(agent: Agent) -> int:
    return Delivery.objects.filter(recipient=agent, state=rules.DEAD).count()


def unread(agent: Agent) -> int:
    """How many pending messages the recipient has not marked read."""
    return Delivery.objects.filter(recipient=agent, state__in=rules.PENDING, read_at=None).count()
