"""Two callers at once: a check and the act that rests on it are one step (P71)."""

from __future__ import annotations

import asyncio
from collections import Counter

import pytest

from roster.models import Agent, Node, Token
from roster.offload import in_database
from tests.make import bearer


@pytest.mark.core
async def test_one_of_many_registers_a_new_id_P71(api, fleet):
    """And it alone gets a token; the others hear that the id is taken or another's, and nobody a fault."""
    for round_ in range(5):
        slug = f"race-{round_}"
        calls = [
            api.put(f"/api/agents/{slug}", json={"status": "idle"}, headers=bearer(fleet.enrolment)) for _ in range(12)
        ]
        answers = await asyncio.gather(*calls)
        said = Counter(each.status_code for each in answers)
        assert said[201] == 1 and said[403] + said[409] == 11, said
        assert [each for each in answers if "token" in each.json()] == [
            each for each in answers if each.status_code == 201
        ]
        assert await in_database(Token.objects.filter(agent__slug=slug).count) == 1


@pytest.mark.core
async def test_one_of_many_enrols_a_node_P71(api, fleet):
    calls = [api.post("/api/nodes", json={"slug": "cedar"}, headers=bearer(fleet.manager)) for _ in range(20)]
    said = Counter(each.status_code for each in await asyncio.gather(*calls))
    assert said == {201: 1, 409: 19}
    assert await in_database(
        lambda: (Node.objects.filter(slug="cedar").count(), Agent.objects.filter(slug="cedar").count())
    ) == (1, 1)


async def test_a_node_and_an_agent_racing_for_one_name_share_one_space_P71(api, fleet):
    for round_ in range(5):
        slug = f"both-{round_}"
        agent = [
            api.put(f"/api/agents/{slug}", json={"status": "idle"}, headers=bearer(fleet.enrolment)) for _ in range(3)
        ]
        node = [api.post("/api/nodes", json={"slug": slug}, headers=bearer(fleet.manager)) for _ in range(3)]
        said = Counter(each.status_code for each in await asyncio.gather(*agent, *node))
        assert said[201] == 1 and said[500] == 0, said
        assert await in_database(Agent.objects.filter(slug=slug).count) == 1


async def test_a_link_that_many_open_lets_one_in_P71(fleet):
    from django.utils import timezone

    from roster.services import people
    from tests.web.conftest import calling_from

    link = await in_database(lambda: people.sign_in_link("vera", by="test", now=timezone.now()))

    async def opens() -> int:
        async with calling_from("127.0.0.1") as client:
            return (await client.get(f"/sign-in/link/{link}/")).status_code

    assert Counter(await asyncio.gather(*[opens() for _ in range(8)])) == {302: 1, 410: 7}
