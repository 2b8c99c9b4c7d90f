"""Nodes: enrolled by a manager, with one agent and one token; their batches say what was taken and what was not."""

from __future__ import annotations

from roster.models import Agent, Node, Token
from roster.offload import in_database
from tests.make import bearer


async def test_a_manager_enrols_a_node_with_its_agent_and_its_token(api, fleet):
    made = await api.post("/api/nodes", json={"slug": "cedar", "name": "Rack 3"}, headers=bearer(fleet.manager))
    assert made.status_code == 201 and set(made.json()) == {"node", "agent", "token"}
    assert made.json()["node"] == {"slug": "cedar", "name": "Rack 3", "lifecycle": "enrolled"}
    told = made.json()["agent"]
    assert (told["id"], told["kind"], told["liveness_mode"], told["home_node"]) == (
        "cedar",
        "node",
        "always-on",
        "cedar",
    )
    beaten = await api.post(
        "/api/heartbeat", json={"status": "idle"}, headers=bearer(made.json()["token"]) | {"Agora-Agent": "cedar"}
    )
    assert beaten.json()["presence"] == "live"


async def test_only_a_manager_enrols(api, fleet):
    for kind, raw in fleet.kinds().items():
        answer = await api.post("/api/nodes", json={"slug": f"n-{kind}"}, headers=bearer(raw))
        assert answer.status_code == (201 if kind in ("manager", "admin") else 403), kind
    assert await in_database(lambda: set(Node.objects.values_list("slug", flat=True))) == {
        "alder",
        "birch",
        "n-manager",
        "n-admin",
    }


async def test_a_taken_name_is_a_conflict_and_makes_nothing(api, fleet):
    before = await in_database(lambda: (Node.objects.count(), Agent.objects.count(), Token.objects.count()))
    for slug in ("alder", "echo", "mira", "ECHO"):
        answer = await api.post("/api/nodes", json={"slug": slug}, headers=bearer(fleet.manager))
        told = answer.json()["error"]
        assert (answer.status_code, told["code"]) == (409, "taken") and {"state", "allowed"} <= set(told)
    assert await in_database(lambda: (Node.objects.count(), Agent.objects.count(), Token.objects.count())) == before


async def test_a_batch_says_what_was_taken_and_what_was_not(api, fleet):
    lines = [
        {"agent": "echo", "status": "working", "task": "a"},
        {"agent": "alder"},
        {"agent": "bram", "status": "busy"},
        {"agent": "nobody", "status": "idle"},
        {"agent": "mira", "status": "idle"},
        {"agent": "echo2", "status": 7},
        {"agent": 5},
        "echo",
    ]
    answer = await api.post("/api/heartbeats", json={"heartbeats": lines}, headers=bearer(fleet.node))
    assert answer.status_code == 200 and set(answer.json()) == {"accepted", "refused"}
    assert sorted(answer.json()["accepted"]) == ["alder", "echo"]
    refused = {(each["agent"], each["code"]) for each in answer.json()["refused"]}
    assert refused == {
        ("bram", "not_yours"),
        ("nobody", "not_registered"),
        ("mira", "not_yours"),
        ("echo2", "invalid"),
        (None, "invalid"),
    }
    told = (await api.get("/api/agents/echo", headers=bearer(fleet.agent))).json()
    assert (told["task"], told["last_seen_source"]) == ("a", "heartbeat")
    assert not await in_database(Agent.objects.filter(slug__in=["nobody", "echo2"]).exists)


async def test_a_batch_is_a_list_too_and_has_a_largest_size(api, fleet):
    own = bearer(fleet.node)
    assert (await api.post("/api/heartbeats", json=[{"agent": "alder"}], headers=own)).json()["accepted"] == ["alder"]
    most = [{"agent": f"a{n}"} for n in range(1000)]
    assert len((await api.post("/api/heartbeats", json=most, headers=own)).json()["refused"]) == 1000
    over = await api.post("/api/heartbeats", json=[*most, {"agent": "one-more"}], headers=own)
    assert (over.status_code, over.json()["error"]["detail"]["field"]) == (422, "heartbeats")


async def test_only_a_node_sends_batches(api, fleet):
    for kind, raw in fleet.kinds().items():
        answer = await api.post("/api/heartbeats", json=[], headers=bearer(raw))
        assert answer.status_code == (200 if kind == "node" else 403), kind
