"""One agent is hired, and everything that lists agents is opened: a list that forgot how agents are employed fails here
and not on the day of the first hire (R105, R128)."""

from __future__ import annotations

import pytest

from roster.models import Agent
from tests.make import bearer
from tests.web.calls import addresses, operations, where

LISTS = {"/api/agents", "/api/agents/{id}", "/api/nodes", "/api/nodes/{node}", "/api/events"}
PAGES = ("/", "/agents/zelda/", "/nodes/", "/nodes/alder/", "/events/", "/inbox/write/", "/admin/roster/agent/",
         "/?lifecycle=hired", "/?node=alder", "/?q=zelda")  # fmt: skip


@pytest.fixture
def admin(fleet) -> str:
    return fleet.admin


async def hired(api, admin: str) -> None:
    answer = await api.post("/api/agents", json={"id": "zelda", "node": "alder"}, headers=bearer(admin))
    assert (answer.status_code, answer.json()["lifecycle"]) == (201, "hired"), answer.text


async def test_every_call_that_lists_agents_shows_one_that_was_just_hired_R105(api, admin):
    await hired(api, admin)
    for method, path in operations():
        if method != "GET":
            continue
        answer = await api.get(_where(path), headers=bearer(admin))
        assert answer.status_code < 500, (path, answer.text)
        if path in LISTS:
            assert answer.status_code == 200 and "zelda" in answer.text, path
    listed = (await api.get("/api/agents", headers=bearer(admin))).json()["agents"]
    assert {each["id"]: each["lifecycle"] for each in listed}["zelda"] == "hired"


async def test_the_list_of_those_lists_is_whole(api, admin):
    """Whatever call shows zelda without being asked for her by name is on it."""
    await hired(api, admin)
    shown = set()
    for method, path in operations():
        if method == "GET" and "{id}" not in path:
            answer = await api.get(_where(path), headers=bearer(admin))
            shown |= {path} if "zelda" in answer.text else set()
    assert shown <= LISTS


@pytest.mark.django_db(transaction=True)
async def test_every_page_that_lists_agents_shows_one_that_was_just_hired_R105(api, admin):
    await hired(api, admin)
    client = await _signed_in()
    for address in PAGES:
        answer = await client.get(address)
        assert answer.status_code == 200 and b"zelda" in answer.content, address
    for name, address in addresses():
        if name not in ("sign-out", "logout") and not address.startswith("/api/"):
            assert (await client.get(address.replace("echo", "zelda"))).status_code < 500, address


async def _signed_in():
    from asgiref.sync import sync_to_async
    from django.test import AsyncClient

    client = AsyncClient()
    user = (await Agent.objects.select_related("user").aget(slug="ada")).user
    await sync_to_async(client.force_login)(user)
    return client


def _where(path: str) -> str:
    return where(path.replace("{node}", "alder"), "zelda")
