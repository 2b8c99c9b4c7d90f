"""How often a caller may call: a bucket each, heartbeats apart, neighbours untouched (P63, F108, F109)."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from roster import auth
from roster.limits import Buckets
from tests.make import bearer
from tests.web.conftest import calling_from
from tests.web.test_errors import check


@pytest.fixture
def tight(monkeypatch):
    """Limits that a test can reach: five calls, ten beats, eight refusals."""
    for name, burst in (("api", 5), ("heartbeat", 10), ("refused", 8)):
        monkeypatch.setitem(auth.buckets, name, Buckets(0.1, burst))


async def statuses(client, count: int, method: str, address: str, **how) -> list[int]:
    return [(await client.request(method, address, **how)).status_code for _ in range(count)]


@pytest.mark.core
async def test_a_caller_over_its_limit_is_told_when_to_come_back_and_neighbours_are_not_P63(api, fleet, tight):
    """That a neighbour is not slowed is held by its bucket, which stays full, and not by measuring its p95."""
    assert await statuses(api, 8, "GET", "/api/whoami", headers=bearer(fleet.agent)) == [200] * 5 + [429] * 3
    refused = await api.get("/api/agents", headers=bearer(fleet.agent))
    check(refused, 429, "too_many_requests")
    assert 1 <= int(refused.headers["retry-after"]) <= 10
    assert await statuses(api, 5, "GET", "/api/whoami", headers=bearer(fleet.bram)) == [200] * 5


async def test_heartbeats_have_a_bucket_of_their_own_P63(api, fleet, tight):
    own = bearer(fleet.agent)
    assert await statuses(api, 6, "GET", "/api/whoami", headers=own) == [200] * 5 + [429]
    assert await statuses(api, 12, "POST", "/api/heartbeat", json={}, headers=own) == [200] * 10 + [429] * 2
    assert await statuses(api, 1, "PUT", "/api/agents/echo", json={"status": "idle"}, headers=own) == [429]
    assert await statuses(api, 1, "POST", "/api/heartbeat", json={}, headers=bearer(fleet.bram)) == [200]


async def test_one_noisy_agent_blocks_none_behind_the_same_address_F109(api, fleet, tight):
    """The limit is the token's, not the address's: good tokens behind one proxy do not share it."""
    await statuses(api, 30, "POST", "/api/heartbeat", json={}, headers=bearer(fleet.agent))
    await statuses(api, 30, "GET", "/api/whoami", headers=bearer("agora_a_" + "x" * 43))
    for raw in (fleet.bram, fleet.manager):
        assert await statuses(api, 2, "GET", "/api/whoami", headers=bearer(raw)) == [200] * 2


async def test_an_address_that_guesses_is_slowed_whatever_it_forwards_F108(fleet, tight, soak):
    """Another token and another X-Forwarded-For each time change nothing; another real peer is heard.

    There is no setting for trusted proxies: a forwarded address is never believed, so the scenario's two cases are one.
    """
    async with calling_from("203.0.113.9") as guesser:
        said = []
        count = 1000 if soak else 40
        for n in range(count):
            headers = bearer(
                f"agora_a_{n:043}", **{"X-Forwarded-For": f"198.51.100.{n}", "Forwarded": f"for=198.51.100.{n}"}
            )
            said.append((await guesser.get("/api/whoami", headers=headers)).status_code)
        assert said[:8] == [401] * 8 and set(said[8:]) <= {401, 429} and said.count(401) <= 8 + count // 100
        assert (await guesser.get("/api/whoami", headers=bearer(fleet.agent))).status_code == 200
    async with calling_from("203.0.113.10") as neighbour:
        assert (await neighbour.get("/api/whoami")).status_code == 401


def test_a_bucket_fills_again_with_time():
    bucket = Buckets(rate=2, burst=4)
    for _ in range(4):
        bucket.take("echo", now=100.0)
    with pytest.raises(Exception) as refusal:
        bucket.take("echo", now=100.1)
    assert refusal.value.retry_after == 1
    bucket.take("echo", now=100.6)
    bucket.take("bram", now=100.6)


def test_the_callers_remembered_are_bounded(monkeypatch):
    from roster import limits

    monkeypatch.setattr(limits, "KEPT", 50)
    bucket = Buckets(rate=1, burst=1)
    for n in range(500):
        bucket.take(f"caller {n}", now=1.0)
    assert len(bucket._left) == 50


def test_the_shipped_limits_leave_a_fleet_room():
    """The tests' settings lift the limits; what is shipped is read here, in a process of its own."""
    code = "import json; from agora_web import settings as s; print(json.dumps(s.RATES))"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    rates = json.loads(said)
    assert set(rates) == {"api", "heartbeat", "refused"}
    assert rates["heartbeat"][0] >= 200 and rates["refused"][0] < rates["api"][0] < rates["heartbeat"][0]
