"""Small words for what the tests of this room do again and again: pass time, sweep, look."""

from __future__ import annotations

from datetime import datetime, timedelta

from roster import access, plans, queries, schemas, states
from roster.models import Agent, Anomaly, Event, SweepRun
from roster.services import batch, sweeps
from tests import make


def seconds(n: float) -> timedelta:
    return timedelta(seconds=n)


def minutes(n: float) -> timedelta:
    return timedelta(minutes=n)


def hours(n: float) -> timedelta:
    return timedelta(hours=n)


TICK = timedelta(microseconds=1)


def sweep(now: datetime, name: str = sweeps.DORMANCY, **more) -> SweepRun | None:
    return sweeps.run(plans.plan(name), now, **more)


def sweep_all(now: datetime, **more) -> int:
    """Both sweeps over agents at ``now``; how many edges they recorded."""
    runs = [sweep(now, name, **more) for name in (sweeps.DORMANCY, sweeps.EXPIRY)]
    return sum(run.edges for run in runs if run)


def shown(slug: str, now: datetime) -> dict:
    """One agent as the API gives it."""
    return schemas.agent(queries.one(slug, now))


def word(slug: str, now: datetime) -> str:
    return shown(slug, now)["presence"]


def listed(now: datetime, **selection) -> list[str]:
    return [row.id for row in queries.page(queries.Selection(**selection, limit=500), now).rows]


def edges(slug: str | None = None) -> list[tuple]:
    """The recorded presence edges in order, as (before, after)."""
    found = Event.objects.filter(kind="presence")
    found = found.filter(agent__slug=slug) if slug else found
    return list(found.order_by("pk").values_list("before", "after"))


def open_anomalies(kind: str | None = None) -> list[str]:
    found = Anomaly.objects.filter(closed_at=None)
    return list((found.filter(kind=kind) if kind else found).values_list("subject", flat=True))


def many(n: int, now: datetime, mode: str = "async", interval: int = 1800, ttl: int = 3600, prefix: str = "agent",
         node=None) -> list[str]:  # fmt: skip
    """``n`` agents of one kind, heard at ``now`` and recorded live, made at once; returns their ids."""
    deadline = now + states.window(mode, interval, ttl)
    slugs = [f"{prefix}-{i:05}" for i in range(n)]
    Agent.objects.bulk_create(
        Agent(slug=slug, liveness_mode=mode, expected_interval=interval, ttl=ttl, status="idle", home_node=node,
              last_seen=now, last_seen_source="heartbeat", evidence_at=now, deadline=deadline, live_since=now,
              recorded="live", check_after=deadline, lifecycle_since=now, created_at=now)
        for slug in slugs
    )  # fmt: skip
    return slugs


class Fleet:
    """Agents that beat through one node's batches: the quickest honest way to keep hundreds alive."""

    def __init__(self, now: datetime, name: str = "alder"):
        _, _, self.token = make.node(name, now)
        self.who = access.caller(access.digest(self.token))

    def beat(self, slugs: list[str], at: datetime, status: str | None = None) -> int:
        accepted, _ = batch.record(self.who, [batch.Entry(slug, status) for slug in slugs], at)
        return len(accepted)
