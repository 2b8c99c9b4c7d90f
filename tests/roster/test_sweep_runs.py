"""Each run of a sweep: bounded, recorded, one at a time, and not to be stopped by one bad row."""

import pytest
from django.db import IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext

from inbox.services import sweeping
from roster import glance, plans, queries
from roster.models import Agent, Event, HubUptime, SweepRun
from roster.services import finishing, journal, sweeps

from .fleet import edges, hours, many, minutes, open_anomalies, seconds, sweep, sweep_all

pytestmark = pytest.mark.django_db


@pytest.fixture
def past_the_constraints():
    """Writes columns that no constraint would let in."""
    if connection.vendor != "sqlite":
        pytest.skip("PostgreSQL lets nobody write broken rows")

    def write(slug: str, **columns):
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA ignore_check_constraints = ON")
            Agent.objects.filter(slug=slug).update(**columns)
            cursor.execute("PRAGMA ignore_check_constraints = OFF")

    return write


def broken_five(write, slugs: list[str]) -> None:
    """The scenario has a NULL interval too, which no SQLite column of ours can hold: a missing deadline stands in."""
    faults = [
        {"expected_interval": 0}, {"expected_interval": -5}, {"expected_interval": 10**12}, {"deadline": None},
        {"liveness_mode": "weird"},
    ]  # fmt: skip
    for slug, fault in zip(slugs, faults, strict=True):
        write(slug, **fault)


def test_one_bad_row_never_stops_a_sweep_P48(past_the_constraints, now):
    """P48, F017: 5 of 100 rows cannot be judged; the other 95 are, the run counts 5 errors and is partial."""
    slugs = many(100, now, interval=60)
    broken_five(past_the_constraints, [slugs[i] for i in (0, 20, 40, 60, 99)])
    at = now + minutes(5)
    sweep(at)
    Agent.objects.filter(recorded="live").update(check_after=at)
    run = sweep(at + minutes(15))
    assert (run.looked_at, run.errors, run.edges, run.outcome) == (100, 5, 95, "partial")
    assert edges() == [("live", "dormant")] * 95


def test_bad_rows_are_put_off_shown_as_unknown_and_no_reason_to_sweep_them_each_time_F017(past_the_constraints, now):
    slugs = many(10, now, interval=60)
    broken_five(past_the_constraints, slugs[:5])
    Agent.objects.filter(slug__gte=slugs[5]).update(recorded="dormant", check_after=None)
    assert sweep(now + minutes(5)).errors == 5
    assert sweep(now + minutes(10)).looked_at == 0
    assert sweep(now + minutes(5) + sweeps.PUT_OFF).errors == 5
    unknown = queries.page(queries.Selection(presence="unknown"), now + minutes(5)).rows
    assert [row.id for row in unknown] == slugs[:5]
    assert {row.presence.reason for row in unknown} >= {"the stored mode is not one the hub knows"}


def test_a_row_that_was_mended_is_judged_again(past_the_constraints, now):
    slugs = many(1, now, interval=60)
    past_the_constraints(slugs[0], expected_interval=0)
    sweep(now + minutes(5))
    Agent.objects.update(expected_interval=60)
    assert sweep(now + minutes(5) + sweeps.PUT_OFF).edges == 1


BAD = [
    {"expected_interval": 0}, {"expected_interval": 4}, {"expected_interval": 2592001}, {"ttl": 0}, {"ttl": 2592001},
    {"liveness_mode": "weird"}, {"lifecycle": "deleted"}, {"deadline": None}, {"expected_interval": None},
    {"ttl": None},
]  # fmt: skip


@pytest.mark.parametrize("columns", BAD, ids=str)
def test_the_database_refuses_a_bad_row_F017(columns, now):
    many(1, now)
    with pytest.raises(IntegrityError), transaction.atomic():
        Agent.objects.update(**columns)
    Agent.objects.update(expected_interval=5, ttl=2592000, liveness_mode="always-on")


# ---- what a run costs -----------------------------------------------------------------------------------------------


def test_a_batch_costs_a_fixed_handful_of_queries_P49(now):
    """At most five for the edges of a batch, whether it is 10 or 500 agents; the time is the bench's to measure."""
    many(500, now, interval=60)
    keys = list(Agent.objects.values_list("pk", flat=True))
    counts = []
    journal.next_version()  # the counter's own row is made once in a hub's life
    for batch in (keys[:10], keys[10:]):
        with CaptureQueriesContext(connection) as asked:
            assert sweeps.record_edges(batch, now + minutes(5)) == len(batch)
        counts.append(len([each for each in asked if "SAVEPOINT" not in each["sql"]]))
    assert counts[0] <= 5
    assert counts[1] <= counts[0] + len(keys) // 50  # bulk inserts are split by SQLite's limit of parameters


def test_a_look_at_the_unchanged_costs_a_fixed_handful_of_queries_P49(now, django_assert_max_num_queries):
    """499 agents were heard since: one read, one lock, one update, and the frame of the run."""
    many(499, now)
    Agent.objects.update(check_after=now)
    with django_assert_max_num_queries(19):
        assert sweep(now + minutes(30)).looked_at == 499
    assert sweep(now + minutes(31)).looked_at == 0


def test_a_large_fleet_is_swept_in_batches_of_at_most_500_P49(now):
    many(1_200, now, interval=60)
    many(8_000, now, prefix="ok")
    with CaptureQueriesContext(connection) as asked:
        run = sweep(now + minutes(5))
    assert (run.looked_at, run.edges, plans.plan(sweeps.DORMANCY).batch) == (1_200, 1_200, 500)
    looks = [each["sql"] for each in asked if "profile_mode" in each["sql"] and "LIMIT 500" in each["sql"]]
    assert len(looks) == 4  # three with rows in them, one that finds the end
    versions = set(Agent.objects.filter(recorded="dormant").values_list("changed", flat=True))
    assert len(versions) == 3  # three short transactions


def test_only_the_due_are_looked_at(now):
    many(50, now, prefix="later", interval=1800)
    many(3, now, prefix="due", interval=60)
    assert sweep(now + minutes(5)).looked_at == 3


def test_the_sweep_of_one_mode_leaves_the_others_alone(now):
    """R24, R26."""
    many(5, now, mode="ephemeral", ttl=60)
    many(5, now, interval=60, prefix="member")
    assert sweep(now + minutes(5), sweeps.EXPIRY).looked_at == 5
    assert sweep(now + minutes(20), sweeps.EXPIRY).looked_at == 5  # held the first time: all of one sweep's live
    assert Agent.objects.filter(slug__startswith="member", recorded="live").count() == 5


# ---- one at a time --------------------------------------------------------------------------------------------------


def test_a_second_run_is_none_while_one_is_open_F152(now):
    """A reload that sends a running task again starts no second sweep; when the first has ended the next one runs."""
    first = sweeps.start(sweeps.DORMANCY, now, minutes(5))
    assert sweep(now + seconds(1)) is None
    assert sweep(now + seconds(1), sweeps.EXPIRY) is not None
    sweeps.finish(first, now + seconds(40))
    assert sweep(now + seconds(41)).outcome == "ok"


def test_a_run_that_died_keeps_the_next_ones_out_for_three_periods_only_F141(now):
    sweeps.start(sweeps.DORMANCY, now, minutes(5))
    assert sweep(now + minutes(15) - seconds(1)) is None
    assert sweep(now + minutes(15)) is not None


def test_after_twelve_hours_without_a_beat_one_sweep_does_it_all_F018(now):
    """The missed ticks are not made up for: the first run records what happened meanwhile, the next finds nothing."""
    many(2, now, interval=60)
    many(40, now + hours(12), prefix="ok")
    assert sweep(now + hours(12)).edges == 2
    assert sweep(now + hours(12) + seconds(1)).looked_at == 0


def test_a_run_that_fails_is_recorded_as_failed_and_the_next_one_runs(now):
    many(4, now, interval=60)
    many(40, now, prefix="ok")
    plan = plans.plan(sweeps.DORMANCY)
    broken = sweeps.Plan(plan.name, plan.rows, plan.period, plan.batch, limits=None)
    with pytest.raises(AttributeError):
        sweeps.run(broken, now + minutes(5))
    assert SweepRun.objects.get().outcome == "failed"
    assert sweep(now + minutes(6)).edges == 4


def test_old_runs_are_pruned_and_events_are_not(now):
    many(1, now, interval=60)
    many(10, now, prefix="ok")
    sweep_all(now + minutes(5))
    sweeps.watch(plans.PERIODS, now + hours(24 * 8))
    assert SweepRun.objects.count() == 1 and Event.objects.filter(kind="presence").count() == 1


# ---- a sweep that does not run --------------------------------------------------------------------------------------


def up(now) -> None:
    HubUptime.objects.create(up_at=now, alive_at=now)


def test_a_late_sweep_is_on_the_page_and_an_anomaly_until_it_runs_again_P47(now):
    """R225: late after three periods, told with the moment at which it last began; presence stays right meanwhile."""
    up(now)
    sweep_all(now)
    at = now + minutes(15)
    assert set(queries.late_sweeps({sweeps.DORMANCY: minutes(5)}, at)) == set()
    late = at + seconds(1)
    assert queries.late_sweeps({sweeps.DORMANCY: minutes(5)}, late) == {sweeps.DORMANCY: now}
    assert "late" in next(each.text for each in glance.notices(late) if each.key == f"sweep-{sweeps.DORMANCY}")
    sweeps.watch(plans.PERIODS, late)
    assert sweeps.DORMANCY in open_anomalies("sweep_late")
    sweep_all(late + seconds(1))
    sweeps.watch(plans.PERIODS, late + minutes(1))
    assert open_anomalies("sweep_late") == []
    assert sweeps.DORMANCY not in queries.late_sweeps(plans.PERIODS, late + minutes(1))


def test_before_a_first_tick_is_due_no_sweep_is_late_P47(now):
    assert queries.late_sweeps(plans.PERIODS, now) == {}
    up(now)
    assert queries.late_sweeps(plans.PERIODS, now + seconds(30)) == {}
    assert queries.late_sweeps(plans.PERIODS, now + seconds(31)) == {sweeping.NAME: now, finishing.NAME: now}
    assert set(queries.late_sweeps(plans.PERIODS, now + minutes(2))) == {sweeping.NAME, finishing.NAME}
    assert sweeps.EXPIRY in queries.late_sweeps(plans.PERIODS, now + minutes(4))
    assert sweeps.DORMANCY not in queries.late_sweeps(plans.PERIODS, now + minutes(4))


def test_without_any_sweep_the_word_shown_is_still_right_F008(now):
    """Only beat is stopped: 30 min later the agent reads dormant, and the page says that no sweep ran."""
    up(now)
    sweep_all(now)
    many(1, now, interval=60)
    at = now + minutes(30)
    assert [row.presence.word for row in queries.page(queries.Selection(), at).rows] == ["dormant"]
    assert {each.level for each in glance.notices(at) if each.key.startswith("sweep-")} == {"alarm"}
