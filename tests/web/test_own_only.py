"""A token touches its own entry only, and only the fields that it may say (P60)."""

from __future__ import annotations

import pytest

from roster.models import Agent
from roster.offload import in_database
from tests import make
from tests.make import bearer
from tests.web.calls import body_of, by_permission, is_private, operations, stored, to_anybody, where

WRITES = [
    (method, path)
    for method, path in operations()
    if "{id}" in path and method in ("PUT", "POST") and not to_anybody(path)
]
FORBIDDEN = {
    "id": "other",
    "slug": "other",
    "pk": 1,
    "display_name": "Boss",
    "kind": "node",
    "modality": "human",
    "lifecycle": "retired",
    "lifecycle_since": "2020-01-01T00:00:00Z",
    "enabled": False,
    "disabled": {"reason": "x"},
    "disabled_reason": "x",
    "home_node": "birch",
    "home_node_id": 1,
    "waiting": 7,
    "trust_posture": "hardened",
    "user": 1,
    "recorded": "silent",
    "presence": "dormant",
    "presence_since": "2020-01-01T00:00:00Z",
    "last_seen": "2030-01-01T00:00:00Z",
    "last_seen_source": "x",
    "evidence_at": "2030-01-01T00:00:00Z",
    "deadline": "2030-01-01T00:00:00Z",
    "check_after": None,
    "signed_off_at": None,
    "changed": 0,
    "created_at": "2020-01-01T00:00:00Z",
    "expires_at": "2030-01-01T00:00:00Z",
    "token": "agora_a_mine",
    "heard": {},
    "clock_skew": 1,
    "role": "admin",
    "by": "mira",
    "source": "verified",
    "verified": True,
}
UNTOUCHED = (
    "slug",
    "display_name",
    "kind",
    "modality",
    "lifecycle",
    "lifecycle_since",
    "enabled",
    "disabled_reason",
    "home_node_id",
    "waiting",
    "trust_posture",
    "user_id",
    "recorded",
    "check_after",
    "created_at",
    "heard",
    "clock_skew",
)


@pytest.mark.core
async def test_no_agent_writes_anothers_entry_P60(api, fleet):
    """Two agents, every writing call, the own id, the other's, a person's, a node agent's and one that is nobody's. An
    entry is forbidden; an inbox is not there."""
    _, mallory = await in_database(make.agent, "mallory")
    own_ids = {fleet.agent: "echo", mallory: "mallory"}
    for token, own in own_ids.items():
        for method, path in WRITES:
            for slug in {"echo", "mallory", "bram", "alder", "mira", "nobody"} - {own}:
                before = await in_database(stored)
                body = body_of(method, path)
                answer = await api.request(method, where(path, slug), json=body, headers=bearer(token))
                assert answer.status_code == (404 if is_private(path) else 403), (method, path, slug)
                assert await in_database(stored) == before
            body = body_of(method, path)
            if "lease" in body:
                body["lease"] = await leased(api, token, own)
            good = await api.request(method, where(path, own), json=body, headers=bearer(token))
            good_ones = (403,) if by_permission(path) else (200, 201, 204)
            assert good.status_code in good_ones, (method, path, good.text)


async def leased(api, token: str, slug: str) -> str:
    """A lease of ``slug`` on a message that it wrote to itself."""
    await api.post("/api/messages", json={"to": slug, "body": "a note"}, headers=bearer(token))
    return (await api.post(f"/api/agents/{slug}/inbox/drain", headers=bearer(token))).json()["lease"]


async def test_a_name_in_the_header_lends_an_agent_nothing_P60(api, fleet):
    before = await in_database(stored)
    for slug, code in (("bram", "not_yours"), ("nobody", "not_registered"), ("mira", "not_yours")):
        answer = await api.post("/api/heartbeat", json={}, headers=bearer(fleet.agent, **{"Agora-Agent": slug}))
        assert (answer.status_code, answer.json()["error"]["code"]) == (403, code)
    assert await in_database(stored) == before
    assert (
        await api.post("/api/heartbeat", json={}, headers=bearer(fleet.agent, **{"Agora-Agent": "echo"}))
    ).status_code == 200


async def test_a_node_speaks_for_those_at_home_there_and_for_the_homeless_P60(api, fleet):
    for token, slug, status in (
        (fleet.node, "alder", 200), (fleet.node, "echo", 200), (fleet.birch, "bram", 200), (fleet.birch, "birch", 200),
        (fleet.node, "bram", 403), (fleet.node, "birch", 403), (fleet.node, "mira", 403), (fleet.node, "nobody", 403),
    ):  # fmt: skip
        as_slug = bearer(token, **{"Agora-Agent": slug})
        answers = [
            await api.post("/api/heartbeat", json={}, headers=as_slug),
            await api.put(f"/api/agents/{slug}", json={"status": "idle"}, headers=as_slug),
            await api.post(f"/api/agents/{slug}/sign-off", headers=as_slug),
        ]
        assert [each.status_code for each in answers] == [status] * 3, slug
    other = await api.post("/api/agents/echo/sign-off", headers=bearer(fleet.node, **{"Agora-Agent": "alder"}))
    assert other.status_code == 403


async def test_enrolment_and_people_beat_for_nobody_P60(api, fleet):
    for kind in ("enrolment", "viewer", "manager", "admin"):
        before = await in_database(stored)
        for slug in ("echo", "mira", "vera"):
            headers = bearer(fleet.kinds()[kind], **{"Agora-Agent": slug})
            assert (await api.post("/api/heartbeat", json={}, headers=headers)).status_code == 403
            assert (await api.put(f"/api/agents/{slug}", json={"status": "idle"}, headers=headers)).status_code == 403
            assert (await api.post(f"/api/agents/{slug}/sign-off", headers=headers)).status_code == 403
        assert await in_database(stored) == before


@pytest.mark.parametrize("field", FORBIDDEN)
async def test_a_report_sets_nothing_but_what_it_may_say_P60(api, fleet, field):
    def row():
        return Agent.objects.filter(slug="echo").values(*UNTOUCHED).get()

    before = await in_database(row)
    body = {"status": "idle", field: FORBIDDEN[field]}
    own = bearer(fleet.agent)
    assert (await api.put("/api/agents/echo", json=body, headers=own)).status_code == 200
    assert (await api.post("/api/heartbeat", json=body, headers=own)).status_code == 200
    assert await in_database(row) == before
    assert (await api.post("/api/agents/echo/sign-off", json={field: FORBIDDEN[field]}, headers=own)).status_code == 422


async def test_a_new_agent_cannot_give_itself_more_P60(api, fleet):
    made = await api.put("/api/agents/new", json={"status": "idle"} | FORBIDDEN, headers=bearer(fleet.enrolment))
    told = made.json()
    assert made.status_code == 201 and told["token"] != "agora_a_mine"
    assert (told["id"], told["kind"], told["modality"], told["lifecycle"], told["enabled"]) == (
        "new",
        "employee",
        "ai",
        "active",
        True,
    )
    assert (told["home_node"], told["trust_posture"], told["waiting"], told["presence"]) == (
        None,
        "untrusted-host",
        0,
        "live",
    )
