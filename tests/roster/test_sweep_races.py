"""Two sweeps, or a sweep and a heartbeat, at the same instant: each edge once (P08), and the heartbeat wins (P09)."""

from __future__ import annotations

import random
from functools import partial

import pytest
from django.db import transaction
from django.db.models import F

from roster import access, plans
from roster.beats import Said
from roster.errors import Conflict
from roster.models import Agent, Anomaly, Event, SweepRun
from roster.services import presence, sweeps, uptime
from tests import make
from tests.together import at_once

from .fleet import edges, many, minutes, open_anomalies, seconds, sweep, word

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.core
def test_each_edge_is_recorded_once_by_two_sweeps_P08(now, soak):
    """Two sweeps past the lock that keeps them apart, on the same deadlines at the same instant: 50 rounds of 500 with
    --soak, 3 of 120 otherwise."""
    rounds, size = (50, 500) if soak else (3, 120)
    for turn in range(rounds):
        begun = now + minutes(10 * turn)
        many(size, begun, interval=60, prefix=f"turn{turn}")
        keys = list(Agent.objects.filter(slug__startswith=f"turn{turn}-").values_list("pk", flat=True))
        at, batches = begun + minutes(5), [keys[i : i + 40] for i in range(0, size, 40)]

        def one_sweep(batches=batches, at=at):
            return sum(sweeps.record_edges(batch, at) for batch in batches)

        assert sum(at_once(one_sweep, one_sweep)) == size
    assert edges() == [("live", "dormant")] * (rounds * size)
    assert Event.objects.filter(kind="presence").values("agent").distinct().count() == rounds * size


def test_a_second_sweep_stands_back_while_one_runs_F016(now):
    """Two beats by mistake, 25 agents past their deadline in the same tick: 25 edges, one version for all of them."""
    many(25, now, interval=60)
    many(300, now, prefix="ok")
    runs = at_once(*(lambda: sweep(now + minutes(5)) for _ in range(4)))
    assert sum(run.edges for run in runs if run) == 25
    assert len(edges()) == 25
    assert len(set(Agent.objects.filter(recorded="dormant").values_list("changed", flat=True))) == 1
    assert sweep(now + minutes(5)).edges == 0


def test_the_lock_lets_one_of_many_starters_in(now):
    period = plans.PERIODS[sweeps.DORMANCY]
    started = at_once(*(lambda: sweeps.start(sweeps.DORMANCY, now, period) for _ in range(6)))
    assert len([each for each in started if each]) == 1
    assert SweepRun.objects.count() == 1


def test_two_sweeps_open_one_anomaly_for_one_silence(now):
    many(30, now, "always-on", interval=60)
    keys = list(Agent.objects.values_list("pk", flat=True))
    at_once(*(lambda: sweeps.record_edges(keys, now + minutes(5)) for _ in range(2)))
    assert Anomaly.objects.count() == len(open_anomalies("silent_always_on")) == 30


def test_a_heartbeat_wins_against_a_simultaneous_sweep_P09(now, soak):
    """A beat and the sweep's decision about the same agent, begun together right after its deadline: 2,000 rounds with
    --soak, 40 otherwise. Whoever comes first, the agent ends live, and no recorded word outlives a newer beat."""
    _, token = make.agent("analyst", now, liveness_mode="async", expected_interval=60)
    key = Agent.objects.get().pk
    for turn in range(2_000 if soak else 40):
        at = Agent.objects.get().deadline + seconds(1)
        at_once(lambda at=at: make.beat(token, at), lambda at=at: sweeps.record_edges([key], at))
        agent = Agent.objects.get()
        assert (agent.recorded, agent.last_seen, word("analyst", at)) == ("live", at, "live"), turn
    assert not Agent.objects.exclude(recorded="live").filter(evidence_at__gt=F("deadline")).exists()
    told = edges("analyst")
    assert all(earlier[1] == later[0] or later[0] == "dormant" for earlier, later in zip(told, told[1:], strict=False))


def test_two_registrations_of_one_id_make_one_agent(now):
    """P71: the loser is told that the id is taken."""

    def register():
        try:
            return make.agent("echo", now)[1]
        except Conflict as refusal:
            return refusal.code

    outcomes = at_once(*(register for _ in range(5)))
    assert sorted(each == "taken" for each in outcomes) == [False, True, True, True, True]
    assert Agent.objects.count() == 1


def test_twenty_enrolments_of_one_node_make_one_node_with_one_agent(now):
    """P33, P71."""

    def enrol():
        try:
            return make.node("alder", now)[2]
        except Conflict as refusal:
            return refusal.code

    outcomes = at_once(*(enrol for _ in range(20)))
    assert len([each for each in outcomes if each != "taken"]) == 1
    assert Agent.objects.filter(kind="node").count() == 1


@pytest.mark.core
def test_heartbeats_sweeps_and_moved_deadlines_never_wait_for_each_other(now):
    """All change many rows at once, and the rows lie in another order than their keys: without one order of locking,
    PostgreSQL ends one of any two that wait for each other, and a heartbeat is refused."""
    raws = [make.agent(f"echo-{n}", now, liveness_mode="async")[1] for n in range(60)]
    keys = list(Agent.objects.values_list("pk", flat=True))
    for key in random.sample(keys, len(keys)):
        Agent.objects.filter(pk=key).update(check_after=now)

    def beats(turn):
        said = Said(status=f"working: {turn}")
        presence.record([presence.Beat(access.digest(raw), None, said, now) for raw in random.sample(raws, 40)])

    def looks(turn):
        sweeps._look_again(keys)
        Agent.objects.filter(pk__in=random.sample(keys, 1)).update(check_after=now)

    def moves(turn):
        with transaction.atomic():
            uptime.move_deadlines(now, now + minutes(turn))

    at_once(*(partial(_many_times, act) for act in (beats, beats, looks, moves)))


def _many_times(act) -> None:
    for turn in range(15):
        act(turn)
