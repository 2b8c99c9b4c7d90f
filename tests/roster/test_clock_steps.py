"""Steps of the wall clock cause no false edge (P03): windows move along, and the sweep that notices records nothing."""

import random
from datetime import datetime, timedelta

import pytest

from roster import access, plans
from roster.models import Agent, Event, SweepRun
from roster.services import registry, sweeps, uptime
from tests import make

from .fleet import Fleet, edges, hours, listed, many, minutes, seconds, sweep, sweep_all, word

pytestmark = pytest.mark.django_db


class Hub:
    """A worker and a web process on a wall clock that can be set, beside a steady one that cannot.

    ``sweep`` does what ``roster.tasks`` does with each tick, ``mark`` what the web process's pulse does.
    """

    def __init__(self, now: datetime):
        self.wall, self.steady = now, 1000.0
        self.worker, self.web = uptime.StepWatch(), uptime.StepWatch()
        uptime.begin(now, 5)
        self.sweep()
        self.mark()

    def passes(self, span: timedelta) -> None:
        self.wall += span
        self.steady += span.total_seconds()

    def step(self, by: timedelta) -> None:
        self.wall += by

    def sweep(self) -> int:
        step = self.worker.look(self.wall, self.steady)
        stepped = abs(step) > plans.STEP_LIMIT
        if stepped:
            uptime.clock_stepped(step, self.wall)
        return sweep_all(self.wall, stepped=stepped)

    def mark(self) -> None:
        step = self.web.look(self.wall, self.steady)
        if abs(step) > plans.STEP_LIMIT:
            uptime.clock_stepped(step, self.wall)
        else:
            uptime.mark(self.wall)


STEPS = [hours(1), -hours(1), hours(24), -hours(24), minutes(3), -minutes(3)]


@pytest.mark.parametrize("first", ["worker", "web"])
@pytest.mark.parametrize("step", STEPS, ids=str)
def test_a_step_of_the_wall_clock_flips_nobody_F006(step, first, now):
    """30 live agents that beat every 60 s of real time, whichever process notices first."""
    fleet, hub = Fleet(now), Hub(now)
    slugs = many(30, now, interval=60)
    hub.step(step)
    for look in [hub.sweep, hub.mark] if first == "worker" else [hub.mark, hub.sweep]:
        look()
    assert len(listed(hub.wall, presence="live")) == 30
    for _ in range(20):
        hub.passes(minutes(1))
        fleet.beat(slugs, hub.wall)
        hub.mark()
        assert hub.sweep() == 0
    assert edges() == []
    assert Event.objects.filter(kind="clock_stepped").count() == 1


def test_three_steps_in_a_row_flip_nobody_F006(now):
    """+1 h, sweep; -1 h, sweep; +24 h, sweep; a quarter of an hour between them."""
    fleet, hub = Fleet(now), Hub(now)
    slugs = many(30, now, interval=60)
    for step in (hours(1), -hours(1), hours(24)):
        hub.step(step)
        assert hub.sweep() == 0
        for _ in range(15):
            hub.passes(minutes(1))
            fleet.beat(slugs, hub.wall)
            assert hub.sweep() == 0
        assert len(listed(hub.wall, presence="live")) == 30
    assert Event.objects.filter(kind="clock_stepped").count() == 3


def test_the_sweep_that_notices_says_so_records_nothing_and_is_the_only_one(now):
    """The run is marked 'clock stepped', and the next one is an ordinary run again."""
    many(2, now - hours(3))
    run = sweep(now, stepped=True)
    assert (run.outcome, run.note, run.edges, edges()) == ("held", "clock stepped", 0, [])
    run = sweep(now + minutes(5))
    assert (run.outcome, run.edges) == ("ok", 2)


def test_the_step_is_in_the_journal_with_its_length(now):
    hub = Hub(now)
    many(5, now)
    hub.step(hours(1))
    hub.sweep()
    told = Event.objects.get(kind="clock_stepped")
    assert (told.by, told.after) == ("hub", {"seconds": 3600, "deadlines_moved": 5})


def test_two_processes_that_notice_one_step_move_the_windows_once(now):
    hub = Hub(now)
    many(5, now)
    hub.step(hours(1))
    hub.passes(seconds(5))
    hub.mark()
    hub.passes(seconds(50))
    hub.sweep()
    assert set(Agent.objects.values_list("deadline", flat=True)) == {now + hours(2)}


def test_who_was_dormant_before_the_step_stays_dormant(now):
    hub = Hub(now)
    many(2, now - hours(2), prefix="gone")
    hub.step(-hours(1))
    hub.sweep()
    assert set(Agent.objects.values_list("deadline", flat=True)) == {now - hours(1)}


def test_after_a_step_back_silence_is_still_recorded_in_time(now):
    """P05 holds on the stepped clock too: the sweep does not wait for a moment of the old time."""
    hub = Hub(now)
    make.agent("analyst", now, liveness_mode="async", expected_interval=60)
    hub.step(-hours(24))
    hub.sweep()
    for _ in range(2):
        hub.passes(minutes(5))
        hub.sweep()
    assert edges("analyst")[1:] == [("live", "dormant")]


def test_a_heartbeat_after_a_step_back_is_a_return_although_the_goodbye_looks_newer(now):
    """The goodbye's time lies in the future of the stepped clock; the order in which they came is what counts."""
    hub = Hub(now)
    _, token = make.agent("analyst", now, liveness_mode="async")
    registry.sign_off(access.caller(access.digest(token)), "analyst", None, now)
    hub.step(-hours(1))
    hub.sweep()
    make.beat(token, hub.wall + seconds(1))
    assert word("analyst", hub.wall + seconds(2)) == "live"
    assert edges("analyst")[1:] == [("live", "dormant"), ("dormant", "live")]


def test_slow_drift_and_small_corrections_are_no_step(now):
    """A leap second smeared over a day, a correction of two minutes at most: nothing moves, nothing is held."""
    watch = uptime.StepWatch()
    assert watch.look(now, 0.0) == timedelta()
    wall = now
    for tick in range(1, 24):
        wall += hours(1) + seconds(1 / 24)
        assert abs(watch.look(wall, tick * 3600.0)) <= plans.STEP_LIMIT
    assert abs(watch.look(wall + minutes(2), 23 * 3600.0)) <= plans.STEP_LIMIT
    assert abs(watch.look(wall + minutes(5), 23 * 3600.0)) > plans.STEP_LIMIT


def test_a_run_of_the_future_keeps_no_sweep_out_after_a_step_back(now):
    """A run that was open when the clock went back lies ahead of it, and must not count as still running."""
    SweepRun.objects.create(name=sweeps.DORMANCY, started_at=now)
    assert sweep(now + minutes(1)) is None
    assert sweep(now - hours(1)) is not None


def test_many_hours_with_random_steps_bring_no_false_edge_P03(now, soak):
    """A fleet of 40 that never misses a beat, steps of up to a day at random: 10,000 hours with --soak, in which a step
    comes about every ten hours; 50 hours otherwise. Everybody is looked at each quarter of an hour."""
    dice, fleet, hub = random.Random(3), Fleet(now), Hub(now)
    slugs = many(20, now) + many(10, now, mode="ephemeral", prefix="short") + many(10, now, "always-on", prefix="watch")
    for quarter in range((10_000 if soak else 50) * 4):
        hub.passes(minutes(15))
        if quarter % 40 == 7:
            hub.step(hours(dice.choice([1, -1, 24, -24, dice.uniform(-24, 24)])))
        for look in dice.sample([hub.mark, hub.sweep], 2):
            assert not look()
        if quarter % 2:
            fleet.beat(slugs, hub.wall)
        assert len(listed(hub.wall, presence="live")) == 40
    assert edges() == []
