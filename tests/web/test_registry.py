"""The registry's calls keep their shapes: other programs are written against them (design section 5)."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.utils import timezone

from roster.models import Agent
from roster.offload import in_database
from tests import make
from tests.make import bearer

AGENT = set(
    """id display_name kind modality lifecycle enabled disabled liveness_mode permanent presence presence_since status
    activity task work_mode attention meta expected_interval last_seen last_seen_source home_node sessions waiting
    synthesized trust_posture expires_at""".split()
)
STAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")


@pytest.mark.core
async def test_registering_gives_the_token_once(api, fleet):
    body = {"status": "working: notes", "meta": {"team": "docs"}, "expected_interval": 60, "liveness_mode": "async"}
    made = await api.put("/api/agents/nora", json=body, headers=bearer(fleet.enrolment))
    assert made.status_code == 201
    own = bearer(made.json()["token"])
    again = await api.put("/api/agents/nora", json=body, headers=own)
    assert again.status_code == 200 and "token" not in again.json()
    told = (await api.get("/api/agents/nora", headers=own)).json()
    assert AGENT <= set(told) and "token" not in told
    assert set(told["activity"]) == {"value", "raw", "source", "verified", "as_of", "since"}
    assert (told["status"], told["task"], told["meta"]) == ("working: notes", "notes", {"team": "docs"})
    assert (told["expected_interval"], told["liveness_mode"], told["presence"]) == (60, "async", "live")


async def test_all_times_are_utc_with_a_z(api, fleet):
    told = (await api.get("/api/agents/echo", headers=bearer(fleet.agent))).json()
    beaten = (await api.post("/api/heartbeat", json={}, headers=bearer(fleet.agent))).json()
    events = (await api.get("/api/events", headers=bearer(fleet.agent))).json()["events"]
    times = [
        told["last_seen"],
        told["presence_since"],
        told["activity"]["as_of"],
        beaten["server_time"],
        events[0]["at"],
    ]
    assert all(STAMP.fullmatch(each) for each in times), times


async def test_permanent_is_taken_and_given_back_derived(api, fleet):
    """R68 and the old hub's bodies: ``permanent`` maps to always-on; false on an existing agent changes nothing."""
    made = await api.put("/api/agents/old", json={"status": "busy", "permanent": True}, headers=bearer(fleet.enrolment))
    assert (made.json()["permanent"], made.json()["liveness_mode"], made.json()["status"]) == (
        True,
        "always-on",
        "busy",
    )
    own = bearer(made.json()["token"])
    again = (await api.put("/api/agents/old", json={"status": "idle", "permanent": False}, headers=own)).json()
    assert (again["permanent"], again["liveness_mode"]) == (True, "always-on")
    plain = await api.put("/api/agents/brief", json={"status": "idle"}, headers=bearer(fleet.enrolment))
    assert (plain.json()["permanent"], plain.json()["liveness_mode"]) == (False, "ephemeral")


async def test_put_replaces_what_is_said_and_keeps_what_is_declared(api, fleet):
    own = bearer(fleet.agent)
    first = {"status": "working", "task": "a", "meta": {"x": 1}, "liveness_mode": "async", "expected_interval": 300}
    await api.put("/api/agents/echo", json=first, headers=own)
    told = (await api.put("/api/agents/echo", json={"status": "idle"}, headers=own)).json()
    assert (told["status"], told["task"], told["meta"]) == ("idle", None, {})
    assert (told["liveness_mode"], told["expected_interval"]) == ("async", 300)


async def test_the_interval_may_come_inside_meta_R71(api, fleet):
    body = {"status": "idle", "liveness_mode": "async", "meta": {"expected_interval": 120}}
    told = (await api.put("/api/agents/echo", json=body, headers=bearer(fleet.agent))).json()
    assert told["expected_interval"] == 120
    both = body | {"expected_interval": 60}
    assert (await api.put("/api/agents/echo", json=both, headers=bearer(fleet.agent))).json()["expected_interval"] == 60


async def test_a_heartbeat_says_what_an_agent_should_know_P17(api, fleet):
    """The suggested next time stays within 10 % of the interval, so that a fleet does not stay in step."""
    own = bearer(fleet.agent)
    body = {"status": "idle", "liveness_mode": "async", "expected_interval": 1000}
    await api.put("/api/agents/echo", json=body, headers=own)
    answers = [(await api.post("/api/heartbeat", json={}, headers=own)).json() for _ in range(40)]
    keys = {"presence", "waiting", "enabled", "disabled", "next_heartbeat_in", "server_time", "rejoined"}
    assert set(answers[0]) == keys
    suggested = [each["next_heartbeat_in"] for each in answers]
    assert min(suggested) >= 900 and max(suggested) <= 1100 and len(set(suggested)) > 10


async def test_a_heartbeat_without_a_status_keeps_it_and_one_without_a_task_clears_the_task(api, fleet):
    own = bearer(fleet.agent)

    async def after(**body):
        await api.post("/api/heartbeat", json=body, headers=own)
        told = (await api.get("/api/agents/echo", headers=own)).json()
        return told["status"], told["task"]

    assert await after(status="working", task="notes") == ("working: notes", "notes")
    assert await after() == ("working: notes", "notes")
    assert await after(status="working") == ("busy", None)


@pytest.mark.parametrize("way", ["PUT", "POST"])
async def test_an_agent_that_had_been_gone_learns_of_it_F080(api, transactional_db, way):
    left = timezone.now() - timedelta(hours=3)
    _, token = await in_database(make.agent, "echo", left)
    own = bearer(token)
    gone = await api.get("/api/agents/echo", headers=own)
    assert (gone.status_code, gone.json()["error"]["code"]) == (404, "expired")
    assert STAMP.fullmatch(gone.json()["error"]["detail"]["last_seen"])
    address = "/api/agents/echo" if way == "PUT" else "/api/heartbeat"
    back = await api.request(way, address, json={"status": "idle"}, headers=own)
    assert back.status_code == 200 and back.json()["presence"] == "live"
    assert back.json()["rejoined"]["was"] == "expired" and STAMP.fullmatch(back.json()["rejoined"]["since"])
    again = await api.request(way, address, json={"status": "idle"}, headers=own)
    assert again.json()["rejoined"] is None
    assert await in_database(lambda: Agent.objects.filter(slug="echo").count()) == 1


async def test_a_sign_off_ends_presence_by_mode(api, fleet):
    own = bearer(fleet.agent)
    for mode, word in (("async", "dormant"), ("always-on", "silent"), ("ephemeral", "expired")):
        await api.put("/api/agents/echo", json={"status": "working: x", "liveness_mode": mode}, headers=own)
        left = await api.post("/api/agents/echo/sign-off", headers=own)
        assert (left.status_code, left.json()["presence"]) == (200, word)
        assert left.json()["presence_reason"] == "signed off"
        assert left.json()["task"] is None or word == "silent"


async def test_a_late_goodbye_of_an_old_session_hides_nothing_F082(api, fleet):
    own = bearer(fleet.agent)
    for session in ("s1", "s2"):
        await api.post("/api/heartbeat", json={"status": "idle", "session": session}, headers=own)
    late = await api.post("/api/agents/echo/sign-off", json={"session": "s1"}, headers=own)
    assert late.json()["presence"] == "live"
    last = await api.post("/api/agents/echo/sign-off", json={"session": "s2"}, headers=own)
    assert last.json()["presence"] == "expired"


async def test_a_members_entry_is_synthesized_from_its_profile_and_nobody_else_is_found(api, fleet):
    await in_database(make.profile, "sage", title="The sage", liveness_mode="async")
    told = (await api.get("/api/agents/sage", headers=bearer(fleet.agent))).json()
    assert AGENT <= set(told) and told["synthesized"] is True
    assert (told["presence"], told["last_seen"], told["display_name"]) == ("dormant", None, "The sage")
    missing = await api.get("/api/agents/nobody", headers=bearer(fleet.agent))
    assert (missing.status_code, missing.json()["error"]["code"]) == (404, "not_found")


async def test_whoami_names_every_kind_of_token(api, fleet):
    said = {kind: (await api.get("/api/whoami", headers=bearer(raw))).json() for kind, raw in fleet.kinds().items()}
    assert said == {
        "agent": {"kind": "agent", "id": "echo", "role": None},
        "node": {"kind": "node", "id": "alder", "role": None},
        "enrolment": {"kind": "enrolment", "id": None, "role": None},
        "viewer": {"kind": "person", "id": "vera", "role": "viewer"},
        "manager": {"kind": "person", "id": "mira", "role": "manager"},
        "admin": {"kind": "person", "id": "ada", "role": "admin"},
    }


async def test_a_senders_clock_never_becomes_a_time_of_the_hub_F004_F005(api, fleet):
    """F004 and F005: claims of time only ever show as skew; no field of a body sets last_seen."""
    own, now = bearer(fleet.agent), timezone.now()
    for claim in (
        now - timedelta(hours=3),
        now + timedelta(hours=3),
        None,
        "1970-01-01T00:00:00Z",
        now + timedelta(days=400),
    ):
        body = {"status": "idle", "last_active": str(claim), "last_seen": str(claim)}
        if claim:
            body["sent_at"] = str(claim)
        before = timezone.now()
        told = (await api.put("/api/agents/echo", json=body, headers=own)).json()
        row = await in_database(Agent.objects.get, slug="echo")
        assert before <= row.last_seen <= timezone.now() and told["status"] == "idle"
        assert told["presence"] == "live" and row.deadline == row.last_seen + timedelta(seconds=row.ttl)
    assert abs(told["clock_skew_s"] - 400 * 86400) < 60
