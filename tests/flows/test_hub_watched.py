"""What stands still in the hub itself is seen: in /readyz, on the page, and it mends without a restart."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import contextmanager

import httpx
import pytest

from tests import hubs
from tests.flows.outside import ago, change, killed_and_back, lasting, ready, rows
from tests.services import Valkey, wait_until


@contextmanager
def stopped(hub, name: str):
    """Process ``name`` stands still: it is there and does nothing, which no supervisor sees."""
    pid = hub.up["processes"][name]
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


@pytest.fixture
def person(sturdy):
    with httpx.Client(base_url=sturdy.url, follow_redirects=True, timeout=30) as client:
        client.get(sturdy.command("sign-in", "admin"))
        yield client


def reasons(hub) -> tuple[int, str]:
    with hub.client() as client:
        answer = client.get("/readyz")
    return answer.status_code, " ".join(answer.json()["reasons"])


def sweeps_were(hub, minutes: int) -> None:
    """Moves the hub's sweeps, and its own start, into the past: as if nothing had swept since."""
    change(hub, "update roster_sweeprun set started_at = ?, finished_at = ?", *[ago(minutes=minutes)] * 2)
    change(hub, "update roster_hubuptime set up_at = ?", ago(minutes=minutes + 1))


def test_a_hub_that_has_just_started_has_swept_by_itself(sturdy):
    """Each of the sweeps was sent by beat, taken by the worker and noted, with nobody asking for it."""
    names = "select distinct name from roster_sweeprun where outcome = 'ok' order by name"
    every = [
        ("dormancy_and_silence",),
        ("drain_ack",),
        ("employment",),
        ("expire_ephemeral",),
        ("presence_hours",),
        ("surge",),
        ("sweep_watch",),
    ]
    wait_until(lambda: rows(sturdy, names) == every, 20, "the first sweeps")


@pytest.mark.parametrize("name", ["beat", "worker"])
def test_a_beat_or_worker_that_stands_still_is_seen_and_presence_stays_right_P47_F008(sturdy, person, name):
    """30 minutes without a sweep: /readyz and the page say so, and a killed agent reads dormant all the same.

    The sweeps' periods are fixed, so the half hour is put into the database instead of waited for.
    """
    slug = f"bram-coder-{name}"
    sturdy.register(slug, liveness_mode="async", expected_interval=60)
    wait_until(lambda: ready(sturdy), 30, "/readyz")
    with stopped(sturdy, name):
        columns = "evidence_at = ?, last_seen = ?, deadline = ?, check_after = ?"
        times = [ago(minutes=30)] * 2 + [ago(minutes=28)] * 2
        change(sturdy, f"update roster_agent set {columns} where slug = ?", *times, slug)
        sweeps_were(sturdy, 30)
        code, why = reasons(sturdy)
        assert code == 503
        assert all(sweep in why for sweep in ("dormancy_and_silence", "expire_ephemeral", "sweep_watch"))
        with sturdy.client() as client:
            assert client.get(f"/api/agents/{slug}").json()["presence"] == "dormant"
        assert "on-dormant" in person.get("/", params={"q": slug}).text
        late = "The sweep dormancy_and_silence is late"
        wait_until(lambda: late in person.get("/").text, 10, "the notice")  # what stands above is 5 s old at most
    killed_and_back(sturdy, "beat")  # another beat sweeps at once
    wait_until(lambda: ready(sturdy), 30, "/readyz")
    wait_until(lambda: "is late" not in person.get("/").text, 10, "the notice's end")
    recorded = "select count(*) from roster_event e join roster_agent a on a.id = e.agent_id where slug = ? and by = ?"
    wait_until(lambda: rows(sturdy, recorded, slug, "sweep") == [(1,)], 10, "the edge")


def test_a_broker_that_stands_still_fails_readyz_and_costs_no_heartbeat_P47(sturdy, person):
    token = sturdy.register("without-broker")
    with stopped(sturdy, "valkey"):
        code, why = reasons(sturdy)
        assert code == 503 and "the broker does not answer" in why
        with sturdy.client(token) as own:
            for n in range(5):
                assert own.post("/api/heartbeat", json={"status": f"working: {n}"}).status_code == 200
        assert "without-broker" in person.get("/", params={"q": "without"}).text
    wait_until(lambda: ready(sturdy), 20, "/readyz")


QUICK = """
from datetime import timedelta
from agora_web.celery import app
for entry in app.conf.beat_schedule.values():
    entry.update(schedule=timedelta(seconds=0.5), options={})
app.start(["-q", "beat", "--pidfile=", "-l", "WARNING"])
"""


def test_after_a_broker_outage_beat_ticks_on_without_a_restart_F012(tmp_path, soak):
    """The hub's own beat, with half seconds for minutes: the broker goes away and comes back, the same beat goes on."""
    import redis

    broker = Valkey(tmp_path)
    env = hubs.environment(tmp_path, REDIS_URL=broker.url, DJANGO_SETTINGS_MODULE="agora_web.settings")
    beat = subprocess.Popen([sys.executable, "-c", QUICK], cwd=hubs.ROOT, env=env)
    ticks = redis.Redis.from_url(broker.url)
    try:
        wait_until(lambda: ticks.llen("celery") >= 3, 20, "the first ticks")
        broker.kill()
        lasting(90 if soak else 3)
        assert beat.poll() is None
        broker.start()
        wait_until(lambda: ticks.llen("celery") >= 8, 20, "ticks after the outage")
        assert beat.poll() is None
    finally:
        beat.kill()
        beat.wait()
        broker.stop()
