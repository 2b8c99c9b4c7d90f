"""Which calls count as being seen: what an agent writes does, what it reads does not (P11)."""

from __future__ import annotations

import pytest

from roster import employment
from roster.models import Agent
from roster.offload import in_database
from tests.make import bearer
from tests.web.calls import addresses, operations, where

# Does the call move echo's last_seen, and where to does its source point? Every call of the API is in here.
MOVES = {
    ("PUT", "/api/agents/{id}"): "heartbeat",
    ("POST", "/api/heartbeat"): "heartbeat",
    ("POST", "/api/heartbeats"): "heartbeat",
    ("GET", "/api/agents/{id}"): None,
    ("GET", "/api/agents"): None,
    ("GET", "/api/whoami"): None,
    ("POST", "/api/nodes"): None,
    ("GET", "/api/nodes"): None,
    ("GET", "/api/nodes/{node}"): None,
    ("POST", "/api/nodes/{node}/retire"): None,
    ("POST", "/api/agents"): None,
    ("PATCH", "/api/agents/{id}"): None,
    **{("POST", f"/api/agents/{{id}}/{verb}"): None for verb in (*employment.VERBS, *employment.SWITCHES)},
    ("GET", "/api/events"): None,
    ("GET", "/api/anomalies"): None,
    ("POST", "/api/messages"): "own_call",
    ("GET", "/api/agents/{id}/inbox"): None,
    ("GET", "/api/messages/{seq}"): None,
    ("POST", "/api/messages/{seq}/read"): None,
    ("GET", "/api/threads/{seq}"): None,
    ("GET", "/api/search"): None,
    ("POST", "/api/agents/{id}/inbox/drain"): "own_call",
    ("POST", "/api/agents/{id}/inbox/extend"): "own_call",
    ("POST", "/api/agents/{id}/inbox/release"): "own_call",
    ("POST", "/api/agents/{id}/inbox/ack"): "own_call",
    ("POST", "/api/agents/{id}/memory"): "own_call",
    ("GET", "/api/agents/{id}/memory"): None,
    ("GET", "/api/agents/{id}/engram"): None,
    ("GET", "/api/agents/{id}/engram/revisions"): None,
    ("PUT", "/api/agents/{id}/engram"): None,
    ("GET", "/api/agents/{id}/warnings"): None,
    ("GET", "/api/templates"): None,
    ("POST", "/api/templates"): None,
    ("POST", "/api/templates/{template}/clone"): None,
    ("POST", "/api/violations"): None,
    ("POST", "/api/warnings/{warning}/withdraw"): None,
    ("POST", "/api/agents/{id}/prompt"): "own_call",
    ("POST", "/api/agents/{id}/queue/claim"): "own_call",
    ("POST", "/api/exchanges/{exchange}/extend"): "own_call",
    ("POST", "/api/exchanges/{exchange}/answer"): "own_call",
    ("POST", "/api/nodes/{node}/prompt"): "own_call",
    ("POST", "/api/exchanges/{exchange}/fail"): "own_call",
    ("GET", "/api/exchanges/{exchange}"): None,
    ("GET", "/api/agents/{id}/record"): None,
    ("GET", "/api/nodes/{node}/record"): None,
    ("POST", "/api/agents/{id}/sign-off"): "own_call",
    ("DELETE", "/api/agents/{id}"): None,
}
BODIES = {
    ("PUT", "/api/agents/{id}"): {"status": "idle"},
    ("POST", "/api/heartbeats"): [{"agent": "echo"}],
    ("POST", "/api/nodes"): {"slug": "cedar"},
    ("POST", "/api/messages"): {"to": "echo", "body": "a note"},
    ("POST", "/api/agents/{id}/memory"): {"kind": "note", "text": "hello"},
    ("POST", "/api/agents/{id}/inbox/extend"): {"lease": "…"},  # that of the drain before it
    ("POST", "/api/agents/{id}/inbox/release"): {"lease": "…"},
    ("POST", "/api/agents/{id}/inbox/ack"): {"seqs": [1]},
    ("POST", "/api/agents/{id}/prompt"): {"body": "hello"},
    ("POST", "/api/nodes/{node}/prompt"): {"body": "hello"},
    ("POST", "/api/exchanges/{exchange}/extend"): {"lease": "…"},  # that of the claim before it
    ("POST", "/api/exchanges/{exchange}/answer"): {"lease": "…", "body": "hello"},
    ("POST", "/api/exchanges/{exchange}/fail"): {"lease": "…", "error": "no model"},
}
REFUSED = {
    "/api/messages": {"to": "nobody", "body": "x"},
    "/api/agents/bram/inbox/drain": {},
    "/api/agents/echo/inbox/drain": {"limit": 0},
    "/api/agents/echo/inbox/ack": {"seqs": [1], "lease": "none"},
    "/api/agents/echo/inbox/extend": {"lease": "none"},
    "/api/agents/echo/inbox/release": {"lease": "none"},
}


MUST_SUCCEED = ("/inbox", "/messages", "/prompt", "/queue", "/exchanges")


def seen(slug: str = "echo") -> tuple:
    return Agent.objects.values_list("last_seen", "evidence_at", "last_seen_source").get(slug=slug)


@pytest.mark.core
async def test_writing_counts_as_being_seen_and_reading_does_not_P11(api, fleet):
    """The whole table of calls, made with the agent's own token; a batch is its node's."""
    assert set(MOVES) == set(operations())
    headers = {path: bearer(fleet.node if path == "/api/heartbeats" else fleet.agent) for _, path in MOVES}
    await play(api, MOVES, headers)


async def test_a_node_that_handles_an_agents_mail_speaks_for_it_P11(api, fleet):
    mail = {call: source for call, source in MOVES.items() if "/inbox" in call[1] or "/messages" in call[1]}
    as_echo = bearer(fleet.node, **{"Agora-Agent": "echo"})
    await play(api, mail, dict.fromkeys((path for _, path in mail), as_echo))


async def play(api, moves: dict, headers: dict) -> None:
    """Makes each call in order and holds echo's last_seen to the table."""
    lease = exchange = None
    for (method, path), source in moves.items():
        if path.endswith("/fail"):  # of another prompt than the one that was answered
            await api.post("/api/agents/echo/prompt", json={"body": "hello"}, headers=headers[path])
            taken = (await api.post("/api/agents/echo/queue/claim", headers=headers[path])).json()
            lease, exchange = taken["lease"], taken["exchange"]
        before = await in_database(seen)
        body = BODIES.get((method, path))
        if isinstance(body, dict) and "lease" in body:
            body = body | {"lease": lease}
        answer = await api.request(
            method, where(path, exchange=exchange, node="alder"), json=body, headers=headers[path]
        )
        told = answer.json()
        lease, exchange = told.get("lease") or lease, told.get("exchange") or exchange
        assert answer.is_success or not any(part in path for part in MUST_SUCCEED), (method, path, answer.text)
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
    for path, body in REFUSED.items():
        assert not (await api.post(path, json=body, headers=own)).is_success, path
    assert await in_database(seen) == before


async def test_looking_at_the_pages_moves_no_agent_P11(api, fleet):
    before = await in_database(seen)
    for _, address in addresses():
        await api.get(address, headers=bearer(fleet.agent))
    assert await in_database(seen) == before
