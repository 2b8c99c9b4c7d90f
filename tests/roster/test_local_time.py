"""Time zones and daylight saving play no part: stored times are aware UTC, and the schedule counts seconds."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from celery.schedules import schedule
from django.apps import apps
from django.core.checks import run_checks
from django.db import models
from django.test import override_settings
from django.utils import timezone

from agora_web.celery import app
from agora_web.schedule import BEAT_SCHEDULE, InMemoryScheduler
from inbox.services import sweeping
from roster import plans, queries
from roster.models import Agent, SweepRun
from roster.services import finishing, surge, sweeps
from roster.services import hours as hourly
from tests import make

from .fleet import Fleet, edges, hours, many, minutes, sweep_all, word

# The same wall-clock minute comes twice in the first, not at all in the second; a July and a southern one beside them.
SWITCHES = {
    "the repeated hour in Los Angeles": datetime(2025, 11, 2, 1, 30, tzinfo=ZoneInfo("America/Los_Angeles")),
    "its second fold": datetime(2025, 11, 2, 1, 30, fold=1, tzinfo=ZoneInfo("America/Los_Angeles")),
    "the missing hour in Berlin": datetime(2025, 3, 30, 2, 30, tzinfo=ZoneInfo("Europe/Berlin")),
    "July in London": datetime(2025, 7, 1, 12, 0, tzinfo=ZoneInfo("Europe/London")),
    "the switch on Lord Howe by half an hour": datetime(2025, 4, 6, 1, 45, tzinfo=ZoneInfo("Australia/Lord_Howe")),
}


@pytest.mark.django_db
@pytest.mark.parametrize("switch", SWITCHES)
def test_a_switch_of_daylight_saving_flips_nobody_F015(switch):
    """Sweeps and beats through the local instant, two hours before to two after: every slot runs once. The hub's one
    clock is UTC (``timezone.now``), so a local instant only ever reaches it as UTC."""
    start = SWITCHES[switch].astimezone(UTC) - hours(2)
    fleet = Fleet(start)
    slugs = many(10, start, interval=300)
    for slot in range(48):
        at = start + minutes(5) * slot
        fleet.beat(slugs, at)
        assert sweep_all(at) == 0
    assert ("live", "dormant") not in edges()
    begun = list(SweepRun.objects.filter(name="expire_ephemeral").order_by("pk").values_list("started_at", flat=True))
    assert [later - earlier for earlier, later in zip(begun, begun[1:], strict=False)] == [minutes(5)] * 47


@pytest.mark.django_db
def test_rows_of_before_the_switch_are_judged_right_after_it_F118():
    """Heard at 01:10 the first time; 01:10 the second time is an hour later, not the same moment."""
    zone = ZoneInfo("America/Los_Angeles")
    first = datetime(2025, 11, 2, 1, 10, tzinfo=zone).astimezone(UTC)
    second = datetime(2025, 11, 2, 1, 10, fold=1, tzinfo=zone).astimezone(UTC)
    make.agent("analyst", first, liveness_mode="async", expected_interval=1500)
    assert word("analyst", second) == "dormant"
    assert sweep_all(second) == 1
    assert Agent.objects.get().last_seen == first


def test_every_stored_time_is_aware_utc_F014(settings):
    """One kind of column holds times, and it takes none without a zone."""
    assert (settings.USE_TZ, settings.TIME_ZONE, settings.CELERY_TIMEZONE) == (True, "UTC", "UTC")
    tables = [table for room in ("roster", "inbox") for table in apps.get_app_config(room).get_models()]
    fields = [field for table in tables for field in table._meta.get_fields()]
    times = [field for field in fields if isinstance(field, models.DateField | models.TimeField)]
    assert len(times) > 25 and all(isinstance(field, models.DateTimeField) for field in times)
    assert timezone.now().tzinfo is UTC


def refusals(deploy: bool = False) -> list[str]:
    """The ids of the hub's own start-up errors, asked as every command of ``manage.py`` asks before it runs."""
    return [each.id for each in run_checks(include_deployment_checks=deploy) if each.id.startswith("agora.")]


@pytest.mark.parametrize("wrong", [{"USE_TZ": False}, {"TIME_ZONE": "Europe/London"}])
def test_the_hub_refuses_to_start_with_local_times_F014(wrong):
    assert refusals() == []
    with override_settings(**wrong):
        assert refusals() == ["agora.E001"]


def test_the_hub_refuses_a_layer_that_does_not_cross_processes_F042():
    assert refusals() == []
    with override_settings(CHANNEL_LAYERS={"default": {"BACKEND": "channels.layers.InMemoryChannelLayer"}}):
        assert refusals() == ["agora.E002"]


def test_the_hub_refuses_to_be_deployed_for_any_host_F063():
    with override_settings(ALLOWED_HOSTS=["hub.example"]):
        assert refusals(deploy=True) == []
    with override_settings(ALLOWED_HOSTS=["*"]):
        assert refusals(deploy=True) == ["agora.E003"]


def test_a_tick_that_nobody_took_in_time_is_not_made_up_for_F018():
    """Each task expires with its period, so a queue never holds more than one of a kind."""
    assert set(BEAT_SCHEDULE) == {
        "dormancy_and_silence", "expire_ephemeral", "presence_hours", "sweep_watch", "drain_ack", "employment",
        "surge",
    }  # fmt: skip
    for entry in BEAT_SCHEDULE.values():
        assert entry["options"]["expires"] == entry["schedule"].total_seconds() > 0


def test_the_periods_and_leases_are_those_of_the_design_F141():
    """The effective values, not only the settings: ticks of 300, 60, 300, 60, 3, 5 and 60 s, and a lease of at least three
    ticks. Mail that lapsed is back within 5 s of its lease's end, so its tick is shorter (P20)."""
    assert {name: period.total_seconds() for name, period in plans.PERIODS.items()} == {
        sweeps.DORMANCY: 300, sweeps.EXPIRY: 60, hourly.NAME: 300, sweeps.WATCH: 60, sweeping.NAME: 3, finishing.NAME: 5,
        surge.NAME: 60,
    }  # fmt: skip
    assert sweeps.LEASE_PERIODS >= 3
    assert queries.late_after(plans.PERIODS[sweeping.NAME]) == timedelta(seconds=30)  # not at the first three that miss
    assert plans.plan(sweeps.DORMANCY).batch <= 500
    assert plans.plan(sweeps.DORMANCY).limits.hold <= timedelta(minutes=15)


def test_beat_keeps_nothing_on_disk_and_begins_with_every_sweep_due_F118():
    """No last run is stored, so none can be misread in a repeated hour; a restart sweeps at once, each sweep once."""
    app.conf.beat_schedule = BEAT_SCHEDULE
    scheduler = InMemoryScheduler(app=app)
    mine = {name: entry for name, entry in scheduler.schedule.items() if name in BEAT_SCHEDULE}
    assert set(mine) == set(BEAT_SCHEDULE)
    for entry in mine.values():
        assert entry.is_due().is_due
        after = next(entry)
        assert not after.is_due().is_due
        assert isinstance(entry.schedule, schedule)
