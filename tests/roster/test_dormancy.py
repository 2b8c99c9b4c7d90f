"""Falling silent and coming back: at read at once, recorded by the next sweep, each edge once."""

import pytest

from roster import queries, schemas
from roster.models import Agent, Event
from roster.services import sweeps
from tests import make

from .fleet import TICK, edges, hours, listed, minutes, open_anomalies, seconds, shown, sweep, word

pytestmark = pytest.mark.django_db


# ---- members --------------------------------------------------------------------------------------------------------


@pytest.mark.core
def test_a_silent_async_agent_is_dormant_at_read_and_recorded_within_one_sweep_P05(now):
    """P05 with the default interval: live at exactly 60 min, dormant after; the edge at most 5 min later, dated to the
    deadline itself."""
    make.agent("analyst", now, liveness_mode="async", status="working: notes")
    deadline = now + hours(1)
    assert word("analyst", deadline) == "live" and sweep(deadline).edges == 0
    assert word("analyst", deadline + TICK) == "dormant"
    assert sweep(deadline + minutes(5)).edges == 1
    edge = Event.objects.filter(kind="presence").latest("pk")
    assert (edge.before, edge.after, edge.at, edge.by) == ("live", "dormant", deadline, "sweep")


@pytest.mark.parametrize("status", ["idle", "busy", "working: notes", "error"])
def test_dormancy_is_reached_from_every_claim_and_leaves_no_task(status, now):
    """R29, R30."""
    make.agent("analyst", now, liveness_mode="async", status=status)
    later = now + hours(2)
    for _ in ("before the sweep", "after it"):
        told = shown("analyst", later)
        assert (told["status"], told["task"], told["activity"]["value"]) == ("dormant", None, "unknown")
        assert told["activity"]["raw"] == status
        sweep(later)


def test_a_heartbeat_moves_the_deadline_and_the_sweep_follows_lazily(now):
    """R2: only the real deadline counts, however old the moment is at which the sweep meant to look."""
    _, token = make.agent("analyst", now, liveness_mode="async")
    for beat in range(1, 10):
        make.beat(token, now + minutes(30) * beat)
    run = sweep(now + minutes(300))
    assert (run.looked_at, run.edges, word("analyst", now + minutes(300))) == (1, 0, "live")
    assert Agent.objects.get().check_after == now + minutes(330)
    assert sweep(now + minutes(331)).edges == 1


def test_the_dormant_stay_on_the_list_with_their_last_heartbeat(now):
    """R27, R31: sweep after sweep."""
    make.agent("analyst", now, liveness_mode="async")
    for later in range(2, 20):
        sweep(now + hours(later))
    assert listed(now + hours(20)) == ["analyst"]
    assert shown("analyst", now + hours(20))["last_seen"] == schemas.stamp(now)
    assert edges("analyst") == [("dormant", "live"), ("live", "dormant")]


def test_the_first_heartbeat_after_dormancy_is_idle_unless_it_says_otherwise(now):
    """R28, D4."""
    _, token = make.agent("analyst", now, liveness_mode="async", status="working: notes")
    sweep(now + hours(2))
    make.beat(token, now + hours(3))
    assert (shown("analyst", now + hours(3))["status"], shown("analyst", now + hours(3))["task"]) == ("idle", None)
    sweep(now + hours(5))
    make.beat(token, now + hours(6), status="working: tests")
    assert shown("analyst", now + hours(6))["status"] == "working: tests"


def test_coming_back_tells_what_one_was_and_since_when_F080(now):
    """The heartbeat's outcome carries the presence before it; ``api`` turns it into ``rejoined``, which is the
    scenario's 'state=rejoined' and 'you were expired at T'."""
    _, token = make.agent("short", now, ttl=60)
    sweep(now + minutes(2), sweeps.EXPIRY)
    back = make.beat(token, now + hours(1))
    assert (back.before.word, back.before.since) == ("expired", now + minutes(1))
    assert back.agent.pk == Agent.objects.get(slug="short").pk
    assert edges("short")[-2:] == [("live", "expired"), ("expired", "live")]
    assert "was expired since" in Event.objects.filter(kind="presence").latest("pk").reason


def test_every_edge_is_in_the_history_and_back_is_told_once_F126(now):
    """idle -> error -> dormant -> error -> idle."""
    _, token = make.agent("analyst", now, liveness_mode="async", expected_interval=60)
    make.beat(token, now + minutes(1), status="error")
    sweep(now + minutes(10))
    make.beat(token, now + minutes(20), status="error")
    assert (word("analyst", now + minutes(20)), shown("analyst", now + minutes(20))["status"]) == ("live", "error")
    make.beat(token, now + minutes(21), status="idle")
    told = Event.objects.filter(agent__slug="analyst", kind__in=["presence", "activity"], at__gt=now).order_by("pk")
    history = [(each.kind, each.after if each.kind == "presence" else each.after["activity"]) for each in told]
    assert history == [("activity", "error"), ("presence", "dormant"), ("presence", "live"), ("activity", "idle")]


def test_a_dead_agent_whose_record_says_working_flips_once_in_twenty_sweeps_F083(now):
    make.agent("analyst", now, liveness_mode="async", status="working: notes")
    for i in range(20):
        sweep(now + hours(2) + minutes(5) * i)
    assert edges("analyst")[1:] == [("live", "dormant")]
    assert shown("analyst", now + hours(4))["task"] is None


def test_a_machine_that_slept_and_sends_its_queue_at_once_flips_once_each_way_F121(now):
    """45 min asleep with an interval of 60 s, then 45 beats within a second; half an hour of quiet follows. All of the
    burst is taken (the heartbeats' limit lies far above it), so the scenario's 'ignored' is no answer of the hub's; the
    rule is that none of it makes a flap."""
    _, token = make.agent("laptop", now, liveness_mode="async", expected_interval=60)
    wake = now + minutes(45)
    for i in range(9):
        sweep(now + minutes(5) * (i + 1) - seconds(1))
    for i in range(45):
        make.beat(token, wake + seconds(i / 45), status="idle")
    for i in range(30):
        make.beat(token, wake + minutes(i + 1), status="idle")
        sweep(wake + minutes(i + 1))
    assert edges("laptop")[1:] == [("live", "dormant"), ("dormant", "live")]


def test_a_long_declared_task_gives_no_extra_time_but_a_longer_interval_does_F157(now):
    """'working: nightly build' with max_task in meta, silent 3 h: dormant in every view after 60 min."""
    for slug, more in (("builder", {"meta": {"max_task": 14400}}), ("patient", {"expected_interval": 7200})):
        make.agent(slug, now, liveness_mode="async", status="working: nightly build", **more)
    at = now + hours(1)
    assert (word("builder", at), word("builder", at + TICK)) == ("live", "dormant")
    assert (word("patient", now + hours(4)), word("patient", now + hours(4) + TICK)) == ("live", "dormant")
    assert shown("builder", now + hours(3))["task"] is None
    assert [row.task for row in queries.page(queries.Selection(), now + hours(3)).rows] == [None, "nightly build"]


def test_reporting_a_minute_early_each_time_is_never_overdue_F158(now):
    """Interval 60 min, reports at 59, 118, 177 min ...: the deadline counts from the last report, not from slots."""
    _, token = make.agent("hourly", now, liveness_mode="async", expected_interval=3600)
    for i in range(1, 60):
        at = now + minutes(59) * i
        assert word("hourly", at) == "live" and sweep(at).edges == 0
        make.beat(token, at)


def test_heartbeats_at_the_edge_of_the_interval_never_make_an_edge_F067(now, soak):
    """Interval 60 s, beats every 59.9 to 60.1 s, a sweep each minute at the same second, 500 cycles: the deadline is
    exactly 120 s and only strictly later is dormant."""
    _, token = make.agent("steady", now, liveness_mode="async", expected_interval=60)
    at = now
    for cycle in range(500 if soak else 120):
        at += seconds(60 + (cycle % 3 - 1) / 10)
        sweep(now + minutes(cycle + 1))
        make.beat(token, at, status="idle")
    assert edges("steady") == [("dormant", "live")]


def test_a_beat_at_the_very_deadline_wins_over_the_sweep_of_the_same_instant_F067(now):
    _, token = make.agent("steady", now, liveness_mode="async", expected_interval=60)
    deadline = now + minutes(2)
    for first, second in ((sweep, make.beat), (make.beat, sweep)):
        for act in (first, second):
            act(deadline) if act is sweep else act(token, deadline)
        assert word("steady", deadline) == "live"
        deadline += minutes(2)
    assert edges("steady") == [("dormant", "live")]


# ---- always-on ------------------------------------------------------------------------------------------------------


def test_a_silent_always_on_agent_is_flagged_once_and_keeps_its_claim_P13(now):
    """P13, R9, R10, R25: silent at read right after 2 x interval, one anomaly for the whole silence, its word kept."""
    _, token = make.agent("watcher", now, liveness_mode="always-on", expected_interval=60, status="working: the door")
    deadline = now + minutes(2)
    assert (word("watcher", deadline), word("watcher", deadline + TICK)) == ("live", "silent")
    for i in range(12):
        sweep(deadline + minutes(5) * (i + 1))
    assert open_anomalies("silent_always_on") == ["watcher"]
    assert edges("watcher")[1:] == [("live", "silent")]
    told = shown("watcher", now + hours(2))
    assert (told["status"], told["task"]) == ("working: the door", "the door")
    make.beat(token, now + hours(3))
    assert open_anomalies() == []
    anomaly = Agent.objects.get().anomalies.get()
    assert (anomaly.opened_at, anomaly.closed_at) == (deadline + minutes(5), now + hours(3))


def test_an_always_on_agent_never_leaves_the_list(now):
    """R3."""
    make.agent("watcher", now, permanent=True)
    assert listed(now + hours(24 * 365)) == ["watcher"]
    assert word("watcher", now + hours(24 * 365)) == "silent"


def test_an_anomaly_of_silence_names_the_evidence(now):
    make.agent("watcher", now, liveness_mode="always-on", expected_interval=60, status="idle")
    sweep(now + hours(1))
    evidence = Agent.objects.get().anomalies.get().evidence
    assert evidence == {"last_seen": now.isoformat(), "claims": "idle", "interval": 60}
    assert [need.text for need in queries.needs_you(now + hours(1))] == ["silent, though it should always be on"]


# ---- ephemeral ------------------------------------------------------------------------------------------------------


def test_an_ephemeral_agent_leaves_the_roster_at_its_ttl_and_its_row_stays_P14(now):
    """P14, R1, R26: gone at read a microsecond after its ttl, never dormant, kept for the history."""
    make.agent("short", now, ttl=90)
    at = now + seconds(90)
    assert (listed(at), listed(at + TICK)) == (["short"], [])
    assert sweep(at + minutes(1)).looked_at == 0
    assert sweep(at + minutes(1), sweeps.EXPIRY).edges == 1
    assert edges("short")[1:] == [("live", "expired")]
    assert listed(at + TICK, presence="expired") == ["short"]
    assert Agent.objects.filter(slug="short").exists()


def test_a_killed_container_is_shown_with_its_age_until_its_ttl_F124(now):
    """Removed right after its heartbeat: 40 s later it is live by its own word, with the time of that word."""
    make.agent("container", now, ttl=60)
    told = shown("container", now + seconds(40))
    assert (told["presence"], told["activity"]["as_of"]) == ("live", schemas.stamp(now))
    assert told["presence_reason"] == "heard within 1 min" and not told["activity"]["verified"]
    assert listed(now + seconds(61)) == []


def test_an_ephemeral_agent_stays_as_long_as_it_beats(now):
    """R2."""
    _, token = make.agent("short", now, ttl=60)
    for i in range(1, 200):
        make.beat(token, now + seconds(50) * i)
        assert sweep(now + seconds(50) * i, sweeps.EXPIRY).edges == 0
    assert listed(now + seconds(50 * 199 + 60)) == ["short"]
