"""Which ids an agent can have, and what the others are told (F048, P46: the API's part)."""

from __future__ import annotations

from urllib.parse import quote

import pytest

from roster.models import Agent
from roster.offload import in_database
from tests.make import bearer
from tests.web.calls import stored
from tests.web.test_errors import check

GOOD = [
    "a",
    "7",
    "9lives",
    "dotnet-4.8-expert",
    "a.b.c",
    "a_b",
    "a-b",
    "a--b",
    "a..b",
    "a__b",
    "0.0.0.0",
    "x-",
    "x.",
    "x_",
    "z" * 64,
    "1" * 64,
    "node.alder",
    "2026-03-02",
    "a.b_c-d",
    "sign-in",
]
ODD = [
    "node:alder",
    "a/b",
    "élan",
    "agent 7",
    'x"y',
    "-a",
    ".a",
    "_a",
    "x" * 65,
    "a@b",
    "a+b",
    "a?b",
    "a#b",
    "<b>",
    "a\nb",
    "a\u2028b",
    "ａ",
    "a\\b",
    "..",
    "a%b",
]


@pytest.mark.core
async def test_twenty_legal_ids_register_and_are_found_F048_P46(api, fleet):
    assert len(set(GOOD)) == 20
    for slug in GOOD:
        made = await api.put(f"/api/agents/{slug}", json={"status": "idle"}, headers=bearer(fleet.enrolment))
        assert made.status_code == 201, slug
        assert (await api.get(f"/api/agents/{slug}", headers=bearer(made.json()["token"]))).json()["id"] == slug


@pytest.mark.core
async def test_twenty_odd_ids_are_refused_naming_what_is_allowed_F048_P46(api, fleet):
    """Including one with a slash: sent encoded, it is part of the id. '..' is encoded too, since it names a folder."""
    assert len(set(ODD)) == 20
    before = await in_database(stored)
    for slug in ODD:
        sent = quote(slug, safe="").replace(".", "%2E") if slug == ".." else quote(slug, safe="")
        answer = await api.put(f"/api/agents/{sent}", json={"status": "idle"}, headers=bearer(fleet.enrolment))
        told = check(answer, 422, "invalid")
        assert told["message"].startswith(f"id: '{slug}' is not a legal id."), told
        assert told["detail"]["field"] == "id" and "lower-case letters, digits, '.', '_' and '-'" in told["message"], (
            slug
        )
        told = check(await api.post("/api/nodes", json={"slug": slug}, headers=bearer(fleet.manager)), 422, "invalid")
        assert "lower-case letters" in told["message"], slug
    assert await in_database(stored) == before


async def test_case_variants_of_an_id_are_taken(api, fleet):
    before = await in_database(stored)
    for slug in ("ECHO", "Echo", "eCHO"):
        answer = await api.put(f"/api/agents/{slug}", json={"status": "idle"}, headers=bearer(fleet.enrolment))
        assert "'echo' is taken" in check(answer, 409, "taken")["message"]
    free = await api.put("/api/agents/Delta", json={"status": "idle"}, headers=bearer(fleet.enrolment))
    check(free, 422, "invalid")
    assert await in_database(stored) == before


async def test_a_new_id_needs_enrolment(api, fleet):
    for kind, raw in fleet.kinds().items():
        answer = await api.put(f"/api/agents/new-{kind}", json={"status": "idle"}, headers=bearer(raw))
        assert answer.status_code == (201 if kind in ("enrolment", "manager", "admin") else 403), kind
    made = await in_database(lambda: set(Agent.objects.filter(slug__startswith="new-").values_list("slug", flat=True)))
    assert made == {"new-enrolment", "new-manager", "new-admin"}


async def test_an_enrolment_token_registers_again_and_again_but_takes_nobody_over(api, fleet):
    for slug in ("one", "two"):
        made = await api.put(f"/api/agents/{slug}", json={"status": "idle"}, headers=bearer(fleet.enrolment))
        assert made.status_code == 201
    answer = await api.put("/api/agents/one", json={"status": "busy"}, headers=bearer(fleet.enrolment))
    check(answer, 403, "not_yours")


async def test_the_word_for_everybody_is_nobodys_id(api, fleet):
    """``"to": "live"`` reaches everybody who is live; an agent of that name could not be written to."""
    answer = await api.put("/api/agents/live", json={"status": "idle"}, headers=bearer(fleet.enrolment))
    check(answer, 422, "invalid")
    assert "everybody" in answer.json()["error"]["message"]
    assert not await Agent.objects.filter(slug="live").aexists()
