"""A hub that has run for long: many agents, a long journal and much mail, written in bulk past the services."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db import connection, transaction

from inbox import rules
from inbox.models import Delivery, Lease, MailGroup, Message
from roster import access
from roster.models import Agent, Anomaly, Event, Node, Profile, Token

COLUMNS = ("at", "kind", "agent_id", "by", "before", "after", "reason")
ACTS = ("edited", "registered", "role_given", "signed_in", "token_issued", "token_revoked")
LETTER = ("seq", "sender_id", "kind", "subject", "body", "size", "thread", "importance", "sent_at")
LANDED = ("message_id", "recipient_id", "addressed_as", "state", "lease_id", "attempts", "size", "acked_at",
          "archived_at", "dead_at", "dead_reason", "told")  # fmt: skip
BATCH = 10_000


def slug(number: int) -> str:
    return f"agent-{number:06}"


def members(numbers: range, now: datetime) -> None:
    """Agents heard within the last ten minutes, each with a token; every tenth has a profile, every 500th a node."""
    nodes = [Node(slug=f"node-{number:06}", enrolled_at=now) for number in numbers[::500]]
    nodes = Node.objects.bulk_create(nodes)
    same = {"liveness_mode": "async", "status": "working", "recorded": "live", "live_since": now, "created_at": now,
            "deadline": now + timedelta(hours=1), "last_seen_source": "heartbeat", "lifecycle_since": now}  # fmt: skip
    agents = Agent.objects.bulk_create([
        Agent(slug=slug(number), display_name=f"Agent {number}", evidence_at=now, home_node=nodes[place % len(nodes)],
              last_seen=now - timedelta(milliseconds=number % 600_000), task=f"step {number}", **same)
        for place, number in enumerate(numbers)
    ], batch_size=500)  # fmt: skip
    Token.objects.bulk_create([
        Token(kind="agent", agent=agent, prefix=f"agora_a_{number:06}", digest=access.digest(agent.slug), label="made",
              created_at=now, created_by="test") for number, agent in zip(numbers, agents, strict=True)
    ], batch_size=500)  # fmt: skip
    Profile.objects.bulk_create([
        Profile(slug=slug(number), title=f"Title {number}", liveness_mode="async", body="A line.\n" * 40)
        for number in numbers[::10]
    ], batch_size=500)  # fmt: skip
    Anomaly.objects.bulk_create([
        Anomaly(kind="duplicate_sessions", subject=agent.slug, agent=agent, opened_at=now, closed_at=now)
        for agent in agents[::10]
    ], batch_size=500)  # fmt: skip


def acts(count: int, at: datetime) -> None:
    """Acts by two people, of every kind."""
    some = list(Agent.objects.order_by("pk")[:100])
    Event.objects.bulk_create([
        Event(at=at, kind=ACTS[number % len(ACTS)], agent=some[number % len(some)], by=("ada", "boss")[number % 2],
              before=None, after={"n": number}) for number in range(count)
    ], batch_size=500)  # fmt: skip


def edges(count: int, numbers: range, begin: datetime, step: timedelta) -> None:
    """Presence edges of these agents in turn from ``begin`` on, ``step`` apart; every tenth is a change of activity."""
    keys = _keys(numbers)

    def row(number: int) -> tuple:
        at = connection.ops.adapt_datetimefield_value(begin + number * step)
        kind = "presence" if number % 10 else "activity"
        return at, kind, keys[number % len(keys)], "hub", '"live"', '"dormant"', "no heartbeat in time"

    with transaction.atomic():
        for part in _batches(count):
            _insert(Event, COLUMNS, map(row, part))


def mail(count: int, numbers: range, begin: datetime, step: timedelta, state: str = rules.ACKED) -> None:
    """Letters of these agents to each other from ``begin`` on, ``step`` apart, all in one ``state`` by now.

    The first of them writes every tenth and gets every tenth; each letter has words that all have (``report``), one
    that few have (``build-000123``) and its own number.
    """
    keys, after = _keys(numbers), Message.objects.order_by("-seq").values_list("seq", flat=True).first() or 0
    lease = Lease.objects.create(
        key=f"volume-{after}", agent_id=keys[0], began_at=begin, until=begin + 2 * count * step + timedelta(days=9)
    ) if state == rules.LEASED else None  # fmt: skip

    def letter(number: int) -> tuple:
        seq, at = after + 1 + number, connection.ops.adapt_datetimefield_value(begin + number * step)
        sender = keys[0] if number % 10 == 0 else keys[number % len(keys)]
        subject = f"Report {seq} of build-{number % 1000:06}"
        body = f"The nightly report of step {seq}: all {number % 97} checks passed, nothing to do.\n" * 3
        return seq, sender, rules.MAIL, subject, body, len(body), seq - number % 3, "normal", at

    def landed(number: int) -> tuple:
        place = 0 if number % 10 == 5 else (number + 1) % len(keys)
        at = connection.ops.adapt_datetimefield_value(begin + number * step + timedelta(minutes=5))
        over = [at if state in held else None for held in ((rules.ACKED, rules.ARCHIVED), (rules.ARCHIVED,),
                                                           (rules.DEAD,))]  # fmt: skip
        why = rules.EXHAUSTED if state == rules.DEAD else ""
        return (after + 1 + number, keys[place], slug(numbers[place]), state, lease and lease.pk, 0, 240, *over, why,
                True)  # fmt: skip

    with transaction.atomic():
        for part in _batches(count):
            _insert(Message, LETTER, map(letter, part))
            _insert(Delivery, LANDED, map(landed, part))


def post(count: int, numbers: range, now: datetime) -> None:
    """The mail of 90 days: what is not done with is the oldest, a thousandth in each state; the rest is put away or, in
    the last 30 days, acked. And a group."""
    begin, step = now - timedelta(days=90), timedelta(days=90) / count
    for state in rules.UNDONE:
        mail(count // 1000, numbers, begin, step / 1000, state)
    mail(count * 2 // 3, numbers, begin, step, rules.ARCHIVED)
    mail(count - count * 2 // 3, numbers, now - timedelta(days=30), step)
    MailGroup.objects.create(name="ops").members.add(*_keys(numbers)[:50])


def _keys(numbers: range) -> list[int]:
    members = Agent.objects.filter(slug__gte=slug(numbers.start), slug__lte=slug(numbers.stop - 1))
    return list(members.order_by("slug").values_list("pk", flat=True))


def _batches(count: int) -> list[range]:
    return [range(first, min(first + BATCH, count)) for first in range(0, count, BATCH)]


def _insert(model, columns: tuple[str, ...], rows) -> None:
    names = ", ".join(f'"{name}"' for name in columns)
    insert = f'INSERT INTO "{model._meta.db_table}" ({names}) VALUES ({", ".join(["%s"] * len(columns))})'
    with connection.cursor() as cursor:
        cursor.executemany(insert, list(rows))
