"""The database is held by somebody else: callers are told to come back, nothing acknowledged is lost, all goes on."""

from __future__ import annotations

import sqlite3
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import datetime

import httpx
import pytest

from tests.flows.beating import keep_beating, missing
from tests.flows.outside import kill, lasting, ready
from tests.services import wait_until


@contextmanager
def locked(hub):
    """Holds an exclusive lock on the hub's database file from outside."""
    holder = sqlite3.connect(hub.data / "hub.sqlite3", timeout=0, isolation_level=None)
    wait_until(lambda: _taken(holder), 20, "the lock")  # SQLite's own waiting gets slower and loses to a busy writer
    try:
        yield
    finally:
        holder.execute("ROLLBACK")
        holder.close()


def _taken(holder: sqlite3.Connection) -> bool:
    try:
        holder.execute("BEGIN EXCLUSIVE")
    except sqlite3.OperationalError:
        return False
    return True


@pytest.fixture
def agent(sturdy, request):
    slug = f"locked-{request.node.name[5:25].strip('_')}"
    return slug, sturdy.register(slug, ttl=30)


def post(hub, token) -> tuple[int, float, httpx.Headers]:
    began = time.monotonic()
    with hub.client(token) as client:
        answer = client.post("/api/heartbeat", json={})
    return answer.status_code, time.monotonic() - began, answer.headers


def test_while_the_database_is_locked_callers_get_503_in_time_and_nobody_needs_a_restart_F112(sturdy, agent, soak):
    """The scenario's lock is held for 120 s (--soak); by default for as long as it takes that the first are refused."""
    before = sturdy.up["processes"]
    held_for = 120 if soak else 0
    with locked(sturdy), ThreadPoolExecutor(20) as pool:
        until = time.monotonic() + held_for
        answers = list(pool.map(lambda _: post(sturdy, agent[1]), range(20)))
        while time.monotonic() < until:
            answers += list(pool.map(lambda _: post(sturdy, agent[1]), range(20)))
    assert {code for code, _, _ in answers} == {503}
    assert max(seconds for _, seconds, _ in answers) <= 21
    assert all("retry-after" in headers for _, _, headers in answers)
    with ThreadPoolExecutor(20) as pool:
        assert {code for code, _, _ in pool.map(lambda _: post(sturdy, agent[1]), range(100))} == {200}
    assert sturdy.up["processes"] == before
    wait_until(lambda: ready(sturdy), 20, "/readyz")


def test_a_slow_database_costs_nobody_their_window_F119(sturdy, agent, soak):
    """A heartbeat that takes seconds to commit counts from its arrival, is no expiry, and shows in the metrics."""
    slug, token = agent
    hold = 12 if soak else 2
    sent = time.time()
    with ThreadPoolExecutor(1) as pool:
        with locked(sturdy):
            answer = pool.submit(post, sturdy, token)
            with sturdy.client() as client:
                words = _words_for(hold, lambda: client.get(f"/api/agents/{slug}").json()["presence"])
        code, took, _ = answer.result()
    assert code == 200 and took >= hold - 0.5
    assert words == {"live"}
    with sturdy.client() as client:
        seen = datetime.fromisoformat(client.get(f"/api/agents/{slug}").json()["last_seen"]).timestamp()
        slow = client.get("/metrics").text
    assert abs(seen - sent) < 1
    assert _over_a_second(slow) >= 1


def _words_for(seconds: float, ask) -> set[str]:
    """Every answer of ``ask()`` within ``seconds``, at a pace that no limit minds."""
    words, until = set(), time.monotonic() + seconds
    wait_until(lambda: words.add(ask()) or time.monotonic() > until, seconds + 10)
    return words


def _over_a_second(metrics: str) -> float:
    found = dict(line.rsplit(" ", 1) for line in metrics.splitlines() if line.startswith("agora_heartbeat_seconds"))
    return float(found["agora_heartbeat_seconds_count"]) - float(found['agora_heartbeat_seconds_bucket{le="1.0"}'])


def test_what_waited_in_memory_was_never_acknowledged_F131(sturdy, soak):
    """500 heartbeats; the database goes away in the middle of them and the web process is killed before it returns.

    Whatever was answered 2xx is there afterwards; the rest was told so and came again. The scenario's sends come with
    the mailbox; its limit of open files is looked at where ``up`` raises it.
    """
    tokens = {f"away-{n}": sturdy.register(f"away-{n}", liveness_mode="async") for n in range(10)}

    def away():
        old = sturdy.up["processes"]["web"]
        with locked(sturdy):
            lasting(60 if soak else 1)
            kill(sturdy, "web")
        wait_until(lambda: sturdy.up["processes"]["web"] != old, 30, "another web process")

    told = keep_beating(sturdy, tokens, 50, away, tries=120)
    assert len(told.kept) == 500
    assert missing(sturdy, told) == set()
    assert told.broken > 0 and set(told.refused) <= {503}
    wait_until(lambda: ready(sturdy), 30, "/readyz")
