"""A hub that has run for long: many agents and a long journal, written in bulk past the services."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db import connection, transaction

from roster import access
from roster.models import Agent, Anomaly, Event, Node, Profile, Token

COLUMNS = ("at", "kind", "agent_id", "by", "before", "after", "reason")
ACTS = ("edited", "registered", "role_given", "signed_in", "token_issued", "token_revoked")
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
    members = Agent.objects.filter(slug__gte=slug(numbers.start), slug__lte=slug(numbers.stop - 1))
    keys = list(members.values_list("pk", flat=True))
    names = ", ".join(f'"{name}"' for name in COLUMNS)
    insert = f'INSERT INTO "{Event._meta.db_table}" ({names}) VALUES ({", ".join(["%s"] * len(COLUMNS))})'

    def row(number: int) -> tuple:
        at = connection.ops.adapt_datetimefield_value(begin + number * step)
        kind = "presence" if number % 10 else "activity"
        return at, kind, keys[number % len(keys)], "hub", '"live"', '"dormant"', "no heartbeat in time"

    with transaction.atomic(), connection.cursor() as cursor:
        for first in range(0, count, BATCH):
            cursor.executemany(insert, [row(number) for number in range(first, min(first + BATCH, count))])
