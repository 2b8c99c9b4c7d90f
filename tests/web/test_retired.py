"""A retired identity cannot return by itself: whatever it writes, and whatever is written to it, is 410; it can be read as
before (P37, F040)."""

from __future__ import annotations

import pytest
from django.db import OperationalError

from roster import access
from roster.models import Agent, Event, Token
from roster.offload import in_database
from roster.services import lifecycle as verbs
from roster.services import memory, nodes, switch, tokens
from tests import make
from tests.inbox import post
from tests.make import bearer
from tests.roster.staff import ADMIN, MANAGER, hire, lifecycle, sweep
from tests.web.calls import body_of, by_permission, operations, stored, where

WRITES = [(method, path) for method, path in operations() if method in ("PUT", "POST", "PATCH")]
# what an agent writes as itself; the others take a permission, and are 403 for whoever has none
OWN = [
    (method, path)
    for method, path in WRITES
    if ("{id}" in path or path in ("/api/heartbeat", "/api/messages")) and not by_permission(path) and method != "PATCH"
]


@pytest.fixture
def gone(transactional_db, now) -> dict[str, str]:
    """The agent echo, at home on alder, was live, had mail and memory, and retired; its successor is nova."""
    make.node("birch", now)
    raws = {"alder": make.node("alder", now)[2], "sender": make.agent("sender", now)[1]}
    make.agent("nova", now)
    raws["echo"] = hire("echo", now)[1]
    make.beat(raws["echo"], now, status="working: notes")
    post.send(raws["sender"], "echo", now)
    memory.remember(post.hand(raws["echo"], "", now).who, "echo", "fact", "the fan rattles", now)
    verbs.retire(MANAGER, "echo", "replaced", "nova", now)
    verbs.force_retire(ADMIN, "echo", "replaced at once", "echo", now)
    return raws | {
        "enrolment": make.enrolment_token(),
        "manager": make.person_token("mira", "manager"),
        "admin": make.person_token("ada", "admin"),
    }


async def refused(answer) -> None:
    error = answer.json()["error"]
    assert (answer.status_code, error["code"]) == (410, "retired"), (answer.request.url, answer.text)
    assert error["detail"]["successor"] == "nova" and error["detail"]["reason"] == "replaced at once"
    assert error["detail"]["since"] == "2026-03-02T12:00:00.000Z"


async def test_each_writing_call_of_a_retired_agent_is_410_and_leaves_no_trace_p37_f040(api, gone):
    """Its last_seen is not moved either. What has no agent in its address is about a message: marking it read."""
    before = await in_database(stored)
    for method, path in [*OWN, ("POST", "/api/messages/{seq}/read")]:
        await refused(await api.request(method, where(path), json=body_of(method, path), headers=bearer(gone["echo"])))
    assert await in_database(stored) == before and len(OWN) >= 8


async def test_no_other_token_brings_it_back_p37_f040(api, gone):
    """A fresh enrolment, a manager's, its node's; alone and in a batch."""
    before = await in_database(stored)
    status = {"status": "idle"}
    for kind in ("enrolment", "manager", "admin", "alder"):
        await refused(await api.put("/api/agents/echo", json=status, headers=bearer(gone[kind])))
    as_echo = bearer(gone["alder"], **{"Agora-Agent": "echo"})
    await refused(await api.post("/api/heartbeat", json=status, headers=as_echo))
    await refused(await api.post("/api/messages", json={"to": "sender", "body": "hello"}, headers=as_echo))
    await refused(await api.patch("/api/agents/echo", json={"max_sessions": 2}, headers=bearer(gone["manager"])))
    await refused(await api.put("/api/agents/echo/engram", json={"text": "Be back."}, headers=bearer(gone["admin"])))
    batch = await api.post("/api/heartbeats", json=[{"agent": "echo"}], headers=bearer(gone["alder"]))
    (line,) = batch.json()["refused"]
    assert (line["agent"], line["code"]) == ("echo", "retired") and "nova" in line["message"]
    after = await in_database(stored)
    after["roster_node"] = before["roster_node"]  # alder has called
    assert after == before


async def test_no_verb_revives_it_p37_f040(api, gone):
    for verb in ("workspace", "reassign", "drain", "retire", "force-retire", "disable", "enable"):
        body = body_of("POST", f"/api/agents/{{id}}/{verb}")
        kind = "alder" if verb == "workspace" else "admin"
        answer = await api.post(f"/api/agents/echo/{verb}", json=body, headers=bearer(gone[kind]))
        error = answer.json()["error"]
        assert (answer.status_code, error["state"], error["allowed"]) == (409, "retired", []), verb
    await in_database(make.profile, "echo", liveness_mode="always-on", title="Echo")
    assert await in_database(lifecycle, "echo") == "retired"
    told = (await api.get("/api/agents/echo", headers=bearer(gone["manager"]))).json()
    assert (told["lifecycle"], told["display_name"]) == ("retired", "Echo")


async def test_it_is_read_as_before_p37(api, gone):
    """By its own token too: its entry, its mail, its memory. The roster shows it to who asks for it."""
    own, manager = bearer(gone["echo"]), bearer(gone["manager"])
    for path in (
        "agents/echo",
        "agents/echo/inbox?state=all",
        "messages/1",
        "agents/echo/memory",
        "agents/echo/engram",
        "whoami",
    ):
        assert (await api.get(f"/api/{path}", headers=own)).status_code == 200, path
    told = (await api.get("/api/agents/echo", headers=own)).json()
    assert told["employment"]["successor"] == "nova" and told["employment"]["allowed"] == []
    listed = (await api.get("/api/agents", headers=manager)).json()["agents"]
    assert "echo" not in [each["id"] for each in listed]
    asked = (await api.get("/api/agents?lifecycle=retired", headers=manager)).json()["agents"]
    assert [each["id"] for each in asked] == ["echo"]


async def test_an_ephemeral_one_is_read_long_after_it_went_silent_p37(api, gone, now):
    await in_database(make.agent, "brief", now)
    assert (await api.get("/api/agents/brief", headers=bearer(gone["manager"]))).json()["error"]["code"] == "expired"
    await in_database(verbs.force_retire, ADMIN, "brief", "done", "brief", now)
    assert (await api.get("/api/agents/brief", headers=bearer(gone["manager"]))).status_code == 200


async def test_mail_to_it_is_refused_at_once_and_nothing_is_filed_f085(api, gone):
    """Three letters that want an answer: 410 each, with why and who follows; no notice about it, and none about that."""
    before = await in_database(stored)
    for n in range(3):
        letter = {"to": "echo", "body": f"please reply ({n})", "importance": "high"}
        answer = await api.post("/api/messages", json=letter, headers=bearer(gone["sender"]))
        await refused(answer)
        assert "nova" in answer.json()["error"]["message"]
    assert await in_database(stored) == before


async def test_each_failure_has_a_code_of_its_own_and_one_alone_asks_for_a_new_token_f003(api, gone, now, monkeypatch):
    """Revoked and ended, a clock that is off, disabled, retired, a fault of the hub. None sends a client to register."""
    token = (await in_database(make.agent, "iris"))[1]

    async def beat(raw, **said):
        return await api.post("/api/heartbeat", json={"status": "idle"} | said, headers=bearer(raw))

    codes = {"skewed": (await beat(token, sent_at="2020-01-01T00:00:00Z")).status_code}
    assert (await in_database(lambda: Event.objects.filter(agent__slug="iris", kind="clock_skew").count())) == 1
    await in_database(switch.disable, MANAGER, "iris", "it is wrong", now)
    disabled = await beat(token)
    codes["disabled"] = (disabled.status_code, disabled.json()["enabled"], disabled.json()["disabled"]["by"])
    codes["retired"] = (await beat(gone["echo"])).json()["error"]["code"]
    revoked = await in_database(lambda: Token.objects.get(agent__slug="iris"))
    await in_database(tokens.revoke, revoked, by="mira", now=now)
    codes["revoked"], codes["unknown"] = [
        (await beat(each)).json()["error"]["code"] for each in (token, "agora_a_none")
    ]
    other = (await in_database(make.agent, "june"))[1]

    def away(*_):
        raise OperationalError("the disk is gone")

    monkeypatch.setattr(access, "speakers", away)
    codes["hub"] = (await beat(other)).json()["error"]["code"]
    assert codes == {
        "skewed": 200, "disabled": (200, False, "mira"), "retired": "retired", "revoked": "unauthorized",
        "unknown": "unauthorized", "hub": "unavailable",
    }  # fmt: skip
    assert await in_database(Agent.objects.filter(slug="iris").count) == 1


async def test_a_retired_node_speaks_for_nobody_without_a_home_p37(api, transactional_db, now):
    """Its token is good for reading what is its own; the machine may be somebody else's by now."""

    def retire() -> str:
        raw = make.node("cedar", now)[2]
        make.agent("drifter", now)
        nodes.retire(MANAGER, "cedar", "sold", now)
        sweep(now)
        return raw

    raw = await in_database(retire)
    mine, as_drifter = bearer(raw), bearer(raw, **{"Agora-Agent": "drifter"})
    calls = {
        "heartbeat": {"status": "idle"}, "messages": {"to": "drifter", "body": "hello"}, "nodes/cedar/prompt": {"body": "hello"},
    }  # fmt: skip
    for path, body in calls.items():
        assert (await api.post(f"/api/{path}", json=body, headers=as_drifter)).status_code == 403, path
    assert (await api.put("/api/agents/drifter", json={"status": "idle"}, headers=mine)).status_code == 403
    for path in ("inbox/drain", "queue/claim", "memory"):
        body = {"kind": "fact", "text": "hello"} if path == "memory" else {}
        assert (await api.post(f"/api/agents/drifter/{path}", json=body, headers=mine)).status_code == 404, path
    assert (await api.get("/api/agents/drifter/inbox", headers=mine)).status_code == 404
    batch = await api.post("/api/heartbeats", json=[{"agent": "drifter", "status": "idle"}], headers=mine)
    assert batch.json()["refused"][0]["code"] == "not_yours"
    assert (await api.get("/api/nodes/cedar/record", headers=mine)).status_code == 200
