"""kill -9 of each process of the embedded hub under heartbeats: nothing acknowledged is lost, all is well again."""

from __future__ import annotations

from contextlib import ExitStack

import httpx
import pytest

from tests import hubs
from tests.cli.conftest import is_alive
from tests.flows.beating import keep_beating, missing
from tests.flows.outside import killed_and_back, ready, rows, runs, task
from tests.services import wait_until


@pytest.mark.parametrize("name", ["web", "valkey", "worker", "beat"])
def test_no_acknowledged_heartbeat_is_lost_when_a_process_is_killed(sturdy, name):
    """1,000 heartbeats of eight clients that try again; at a third of them the process is killed."""
    tokens = {f"{name}-{n}": sturdy.register(f"{name}-{n}", liveness_mode="async") for n in range(8)}
    swept = runs(sturdy)
    told = keep_beating(sturdy, tokens, 125, lambda: killed_and_back(sturdy, name))
    assert len(told.kept) == 1000, (told.refused, told.broken)
    assert missing(sturdy, told) == set()
    assert set(told.refused) <= {503}
    if name != "web":
        assert told.broken == 0 and told.refused == []  # a heartbeat needs the web process and the database only
    _newest_word_is_in_the_api(sturdy, tokens, told)
    wait_until(lambda: ready(sturdy), 30, "/readyz")
    if name == "beat":
        wait_until(lambda: runs(sturdy) > swept, 20, "the sweeps of another beat")
    _sweeps_go_on(sturdy)


def test_no_acknowledged_heartbeat_is_lost_when_the_supervisor_is_killed(tmp_path):
    """It takes the whole hub with it; the next start, on the same data and port, has all that was answered 2xx."""
    with hubs.running(tmp_path) as first, ExitStack() as again:
        tokens = {f"orphan-{n}": first.register(f"orphan-{n}", liveness_mode="async") for n in range(8)}
        port, pids = first.url.rpartition(":")[2], first.up["processes"].values()

        def killed_and_started_again():
            first.process.kill()
            first.process.wait()
            wait_until(lambda: not any(map(is_alive, pids)), 10, "the end of its processes")
            again.enter_context(hubs.running(tmp_path, "--port", port))

        told = keep_beating(first, tokens, 125, killed_and_started_again)
        assert len(told.kept) == 1000 and told.broken > 0, (told.refused, told.broken)
        assert missing(first, told) == set()
        _newest_word_is_in_the_api(first, tokens, told)


def _newest_word_is_in_the_api(hub, tokens, told) -> None:
    last = {task.split()[0]: task for task in told.kept}
    with hub.client() as client:
        for slug in tokens:
            assert client.get(f"/api/agents/{slug}").json()["task"] == last[slug]


def _sweeps_go_on(hub) -> None:
    before = runs(hub)

    def swept():
        task(hub, "expire_ephemeral")
        return wait_for_a_moment(lambda: runs(hub) > before)

    wait_until(swept, 20, "a sweep")


def wait_for_a_moment(condition) -> bool:
    """Whether it comes true within half a second; a task sent while a worker connects may go to the one that died."""
    try:
        return wait_until(condition, 0.5)
    except AssertionError:
        return False


def test_with_the_cache_emptied_and_web_killed_the_roster_is_whole_again_F081(sturdy):
    """50 agents; the broker is emptied and the web process killed: everybody is listed before any new heartbeat, with
    their history, and their next heartbeats count."""
    import redis

    tokens = {f"fleet-{n:02}": sturdy.register(f"fleet-{n:02}", liveness_mode="async") for n in range(50)}
    events = rows(sturdy, "select count(*) from roster_event")[0][0]
    redis.Redis(unix_socket_path=str(sturdy.data / "run" / "valkey.sock")).flushall()
    killed_and_back(sturdy, "web")
    wait_until(lambda: _answers(sturdy), 30, "the web process")
    with sturdy.client() as client:
        listed = client.get("/api/agents", params={"q": "fleet-", "limit": 500}).json()["agents"]
    assert [each["id"] for each in listed] == sorted(tokens)
    assert {each["presence"] for each in listed} == {"live"}
    assert rows(sturdy, "select count(*) from roster_event")[0][0] >= events
    told = keep_beating(sturdy, dict(list(tokens.items())[:8]), 2)
    assert len(told.kept) == 16
    _sweeps_go_on(sturdy)


def _answers(hub) -> bool:
    try:
        return httpx.get(f"{hub.url}/healthz", timeout=5).is_success
    except httpx.TransportError:
        return False
