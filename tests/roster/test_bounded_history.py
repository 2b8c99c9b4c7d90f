"""What a fleet that only keeps beating leaves behind: nothing but the hub's own pulse, which is pruned (F053)."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from django.apps import apps
from django.db import connection

from roster import plans
from roster.models import Agent, Event, PresenceHour, SweepRun
from roster.services import hours, sweeps
from tests import make

from .fleet import Fleet, many, minutes, seconds, sweep_all

pytestmark = pytest.mark.django_db
EVERY = seconds(30)
OF_THE_HUB = (SweepRun, PresenceHour)  # written by time passing, however many agents beat


def rows() -> dict[str, int]:
    """How many rows each table has."""
    return {model._meta.db_table: model._base_manager.count() for model in apps.get_models()}


def stored() -> int:
    """The size of the database in bytes."""
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()")
        else:
            cursor.execute("SELECT pg_database_size(current_database())")
        return cursor.fetchone()[0]


def sweeps_at(now: datetime) -> None:
    """What beat would start within a minute, at most."""
    sweep_all(now)
    sweeps.watch(plans.PERIODS, now)
    hours.count(plans.PERIODS[hours.NAME], now)


def test_heartbeats_without_news_leave_no_history_F053(now, soak):
    """200 agents, a beat each 30 s and every sweep each minute: 90 days with --soak, a quarter of an hour otherwise."""
    fleet, slugs = Fleet(now), many(200, now, interval=60)
    sweeps_at(now)
    before, span = rows(), timedelta(days=90) if soak else minutes(15)
    for turn in range(1, span // EVERY + 1):
        at = now + turn * EVERY
        assert fleet.beat(slugs, at, "idle") == 200
        if turn % 2 == 0:
            sweeps_at(at)
    after = rows()
    for model in OF_THE_HUB:
        del before[model._meta.db_table], after[model._meta.db_table]
    assert after == before
    assert SweepRun.objects.count() <= 4 * (sweeps.KEEP_RUNS / minutes(1) + 1)
    assert stored() < 500 * 1024 * 1024


def test_an_agent_that_beats_for_itself_leaves_none_either_F053(now):
    """The fleet above beats through its node's batches, which are written in a way of their own."""
    _, token = make.agent("echo", now, status="working: notes", liveness_mode="async")
    before = rows()
    for turn in range(1, 50):
        make.beat(token, now + turn * EVERY, **({"status": "working: notes"} if turn % 2 else {}))
    assert rows() == before
    assert Agent.objects.get(slug="echo").last_seen == now + 49 * EVERY


@pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL reuses what it wrote over in its own time")
def test_the_database_does_not_grow_with_heartbeats_without_news_F053(now):
    fleet, slugs = Fleet(now), many(200, now, interval=60)
    fleet.beat(slugs, now + EVERY, "idle")
    size = stored()
    for turn in range(2, 40):
        fleet.beat(slugs, now + turn * EVERY, "idle")
    assert stored() == size


def test_old_runs_are_removed_a_bounded_number_at_a_time_F053(now, monkeypatch):
    """A hub that stood still for long has many: no look at the sweeps holds the database for all of them."""
    assert sweeps.PRUNED <= 5_000
    monkeypatch.setattr(sweeps, "PRUNED", 100)
    old, young = now - timedelta(days=8), now - timedelta(days=6)
    SweepRun.objects.bulk_create(SweepRun(name="old", started_at=old + n * EVERY, finished_at=old) for n in range(250))
    SweepRun.objects.create(name="young", started_at=young, finished_at=young)
    left = []
    for turn in range(1, 5):
        sweeps.watch(plans.PERIODS, now + minutes(turn))
        left.append(SweepRun.objects.filter(name="old").count())
    assert left == [150, 50, 0, 0]
    assert SweepRun.objects.filter(name="young").exists() and not Event.objects.exists()
