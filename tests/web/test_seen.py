"""Which calls count as being seen: what an agent writes does, what it reads does not (P11)."""

from __future__ import annotations

import pytest

from roster.models import Agent
from roster.offload import in_database
from tests.make import bearer
from tests.web.calls import addresses, operations

# Does the call move echo's last_seen, and where to does its source point? Every call of the API is in here.
MOVES = {
    ("PUT", "/api/agents/{id}"): "heartbeat",
    ("POST", "/api/heartbeat"): "heartbeat",
    ("POST", "/api/heartbeats"): "heartbeat",
    ("POST", "/api/agents/{id}/sign-off"): "own_call",
    ("DELETE", "/api/agents/{id}"): None,
    ("GET", "/api/agents/{id}"): None,
    ("GET", "/api/agents"): None,
    ("GET", "/api/whoami"): None,
    ("POST", "/api/nodes"): None,
    ("GET", "/api/events"): None,
    ("GET", "/api/anomalies"): None,
}
BODIES = {
    ("PUT", "/api/agents/{id}"): {"status": "idle"},
    ("POST", "/api/heartbeats"): [{"agent": "echo"}],
    ("POST", "/api/nodes"): {"slug": "cedar"},
}


def seen(slug: str = "echo") -> tuple:
    return Agent.objects.values_list("last_seen", "evidence_at", "last_seen_source").get(slug=slug)


@pytest.mark.core
async def test_writing_counts_as_being_seen_and_reading_does_not_P11(api, fleet):
    """The whole table of calls, made with the agent's own token; a batch is its node's."""
    assert set(MOVES) == set(operations())
    for (method, path), source in MOVES.items():
        before = await in_database(seen)
        token = fleet.node if path == "/api/heartbeats" else fleet.agent
        await api.request(method, path.replace("{id}", "echo"), json=BODIES.get((method, path)), headers=bearer(token))
        after = await in_database(seen)
        if source is None:
            assert after == before, (method, path)
        else:
            assert after[0] > before[0] and after[2] == source, (method, path)


async def test_a_refused_call_is_not_seen_P11(api, fleet):
    before = await in_database(seen)
    own = bearer(fleet.agent)
    await api.put("/api/agents/echo", json={"status": "idle", "ttl": 1}, headers=own)
    await api.post("/api/heartbeat", json={"status": ""}, headers=own)
    await api.post("/api/agents/echo/sign-off", json={"x": 1}, headers=own)
    await api.put("/api/agents/bram", json={"status": "idle"}, headers=own)
    await api.post("/api/heartbeat", json={}, headers=bearer(fleet.birch) | {"Agora-Agent": "nobody"})
    assert await in_database(seen) == before


async def test_looking_at_the_pages_moves_no_agent_P11(api, fleet):
    before = await in_database(seen)
    for _, address in addresses():
        await api.get(address, headers=bearer(fleet.agent))
    assert await in_database(seen) == before
