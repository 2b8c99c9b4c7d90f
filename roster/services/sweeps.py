"""The sweeps: they record and announce the edges that time brought, and never decide a word themselves.

A sweep takes the oldest due first, a batch at a time. It re-reads each row's real deadline, moves ``check_after`` of
those that were heard meanwhile, and records the edge of the others in short transactions in which a heartbeat that
came first wins. One bad row is counted, put off and never stops the rest (P48).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Case, F, OuterRef, Q, Subquery, Value, When

from roster import heard, queries, states
from roster.models import Agent, Anomaly, Profile, SweepRun

from . import anomalies, guard, journal
from .presence import locked

log = logging.getLogger(__name__)
DORMANCY, EXPIRY, WATCH = "dormancy_and_silence", "expire_ephemeral", "sweep_watch"
PUT_OFF = timedelta(hours=1)  # how far a row that cannot be judged is pushed back
KEEP_RUNS = timedelta(days=7)
KEEP_IDLE = timedelta(hours=1)  # a run that found nothing: some sweeps look every few seconds
PRUNED = 5_000  # old runs that one look removes at most: a backlog is worked off in short transactions, one a look
LEASE_PERIODS = 3  # a run that has not ended after so many periods no longer keeps the next one out


@dataclass(frozen=True)
class Plan:
    """One sweep over agents: its name, which rows are its own, how often it runs, how many rows a transaction."""

    name: str
    rows: Q
    period: timedelta
    batch: int = 500
    limits: guard.Limits = field(default_factory=guard.Limits)


def run(plan: Plan, now: datetime, *, stepped: bool = False) -> SweepRun | None:
    """One run of ``plan`` at ``now``; None where another is still running.

    ``stepped`` tells that the wall clock jumped since the last look: this run then records nothing (design rule 9).
    """
    this = start(plan.name, now, plan.period)
    if this is None:
        return None
    with ended(this, now):
        gone, flips = _look(plan, this, now)
        if stepped:
            this.outcome, this.note = "held", "clock stepped"
        elif guard.holds(plan.name, flips, now, plan.limits):
            this.outcome, this.note = "held", f"{flips} live agents would change at once"
        else:
            for first in range(0, len(gone), plan.batch):
                this.edges += record_edges(gone[first : first + plan.batch], now)
    return this


def start(name: str, now: datetime, period: timedelta) -> SweepRun | None:
    """Opens a run unless one of the same name is still open and young enough to be alive."""
    with transaction.atomic():
        journal.next_version("sweeps")
        running = SweepRun.objects.filter(name=name, finished_at=None, started_at__gt=now - LEASE_PERIODS * period)
        if running.filter(started_at__lte=now).exists():
            return None
        return SweepRun.objects.create(name=name, started_at=now)


@contextmanager
def ended(this: SweepRun, now: datetime) -> Iterator[None]:
    """Sees to it that a run is ended whatever happens in it: an open one keeps the next ones out."""
    try:
        yield
    except Exception as error:
        this.outcome, this.note = "failed", type(error).__name__
        raise
    finally:
        finish(this, now)


def each(this: SweepRun, keys: Iterable, step: Callable[[Any], int]) -> None:
    """Takes ``step`` for each of ``keys``, counted in the run ``this``; it says how many rows it changed. One that fails
    is counted too and never stops the rest (P48)."""
    for key in keys:
        this.looked_at += 1
        try:
            this.edges += step(key)
        except Exception:
            log.exception("%s: %s cannot be settled", this.name, key)
            this.errors += 1


def finish(this: SweepRun, now: datetime) -> None:
    if this.outcome == "running":
        this.outcome = "partial" if this.errors else "ok"
    this.finished_at = now
    this.save()


def _look(plan: Plan, this: SweepRun, now: datetime) -> tuple[list[int], int]:
    """Everyone of ``plan`` who is due: the keys of those that are gone, and how many of them were live till now."""
    mode = Profile.objects.filter(slug=OuterRef("slug")).values("liveness_mode")[:1]
    due = Agent.objects.filter(plan.rows, check_after__lte=now).annotate(profile_mode=Subquery(mode))
    gone, flips, after = [], 0, Q()
    while batch := list(due.filter(after).order_by("check_after", "pk")[: plan.batch]):
        last = batch[-1]
        after = Q(check_after__gt=last.check_after) | Q(check_after=last.check_after, pk__gt=last.pk)
        found = _judge(batch, this, now)
        gone += [agent.pk for agent in found]
        flips += sum(agent.recorded == states.LIVE for agent in found)
    return gone, flips


def _judge(batch: list[Agent], this: SweepRun, now: datetime) -> list[Agent]:
    """Those of ``batch`` that are gone; the others are looked at again at their real deadline."""
    gone, heard_since, bad = [], [], []
    for agent in batch:
        facts = agent.facts(agent.profile_mode)
        if problem := states.fault(facts):
            log.error("sweep: agent %s cannot be judged: %s", agent.slug, problem)
            bad.append(agent.pk)
        elif states.presence(facts, now).word == states.LIVE:
            heard_since.append(agent.pk)
        else:
            gone.append(agent)
    this.looked_at += len(batch)
    this.errors += len(bad)
    if heard_since:
        _look_again(heard_since)
    if bad:
        Agent.objects.filter(pk__in=bad).update(check_after=now + PUT_OFF)
    return gone


@transaction.atomic
def _look_again(keys: list[int]) -> None:
    """The next look at the agents ``keys`` is at their real deadline, unless a heartbeat has put it there."""
    early = locked(Agent.objects.filter(pk__in=keys, check_after__lt=F("deadline")))
    Agent.objects.filter(pk__in=early).update(check_after=F("deadline"))


@transaction.atomic
def record_edges(keys: list[int], now: datetime) -> int:
    """Records the edge of each agent in ``keys`` that is still gone and not yet recorded so; returns how many.

    The rows are locked and judged again, so a heartbeat that came first wins and two sweeps record an edge once.
    """
    mode = Profile.objects.filter(slug=OuterRef("slug")).values("liveness_mode")[:1]
    rows = Agent.objects.select_for_update(of=("self",), no_key=True).annotate(profile_mode=Subquery(mode))
    words, happenings, silent = {}, [], []
    for agent in rows.filter(pk__in=keys).exclude(lifecycle=states.RETIRED).order_by("pk"):
        found = states.presence(agent.facts(agent.profile_mode), now)
        if found.word in (states.LIVE, agent.recorded):
            continue
        words.setdefault(found.word, []).append(agent.pk)
        happenings.append(
            journal.happened(
                "presence",
                "sweep",
                found.since or now,
                agent=agent,
                before=agent.recorded,
                before_since=agent.live_since if agent.recorded == states.LIVE else None,
                after=found.word,
                reason=found.reason,
            )  # fmt: skip
        )
        if found.word == states.SILENT and agent.enabled:
            silent.append(_silence(agent, now))
    if words:
        _settle(words, happenings, silent)
    return len(happenings)


def _settle(words: dict[str, list[int]], happenings: list, silent: list[Anomaly]) -> None:
    version = journal.next_version()
    recorded = Case(*(When(pk__in=keys, then=Value(word)) for word, keys in words.items()))
    Agent.objects.filter(pk__in=[key for keys in words.values() for key in keys]).update(
        recorded=recorded, check_after=None, changed=version
    )
    if silent:
        Anomaly.objects.bulk_create(silent, ignore_conflicts=True)
    journal.append(version, happenings)


def _silence(agent: Agent, now: datetime) -> Anomaly:
    evidence = {"last_seen": agent.last_seen.isoformat(), "claims": agent.status, "interval": agent.expected_interval}
    return Anomaly(kind="silent_always_on", subject=agent.slug, agent=agent, opened_at=now, evidence=evidence)


def watch(periods: dict[str, timedelta], now: datetime) -> SweepRun | None:
    """Looks at the other sweeps: a late one is an anomaly until it runs again. Also closes what settled by itself."""
    this = start(WATCH, now, periods[WATCH])
    if this is None:
        return None
    with ended(this, now):
        for name, period in periods.items():
            _watch_one(name, period, now)
        for key in Anomaly.objects.filter(kind="duplicate_sessions", closed_at=None).values_list("agent_id", flat=True):
            _settle_rivals(key, now)
        _prune(now)
    return this


def _prune(now: datetime) -> None:
    idle = Q(started_at__lt=now - KEEP_IDLE, looked_at=0, edges=0, outcome="ok")
    old = SweepRun.objects.filter(idle | Q(started_at__lt=now - KEEP_RUNS)).order_by("pk").values("pk")[:PRUNED]
    SweepRun.objects.filter(pk__in=old).delete()


def _watch_one(name: str, period: timedelta, now: datetime) -> None:
    runs = SweepRun.objects.filter(name=name)
    if runs.exists() and not runs.filter(started_at__gt=now - queries.late_after(period)).exists():
        anomalies.open_anomaly("sweep_late", name, now)
    else:
        anomalies.close_anomaly("sweep_late", name, now)


@transaction.atomic
def _settle_rivals(key: int, now: datetime) -> None:
    agent = Agent.objects.select_for_update(no_key=True).get(pk=key)
    if not heard.rivals(agent.heard, now, agent.max_sessions):
        anomalies.close_anomaly("duplicate_sessions", agent.slug, now)
        journal.write(changed=[key])
