"""The pages of nodes are told that something there changed, and of nothing else."""

from __future__ import annotations

import contextlib
import json

import pytest
from asgiref.sync import sync_to_async
from django.utils import timezone

from inbox.services import prompting
from roster import access, plans
from roster.errors import Conflict
from roster.live import feed as feeds
from roster.services import hiring, lifecycle, switch
from roster.services.hiring import Wanted
from tests import make

from .conftest import closed_with, joined, said_until

pytestmark = pytest.mark.django_db(transaction=True)
ADA = access.Caller("person", "ada", role="admin")


@pytest.fixture(autouse=True)
async def fleet(transactional_db):
    for slug in ("harbor", "cedar"):
        await sync_to_async(make.node)(slug)


@sync_to_async
def disable(slug: str) -> None:
    switch.disable(ADA, slug, "a test", timezone.now())


@sync_to_async
def hire(slug: str, node: str) -> None:
    hiring.hire(ADA, Wanted(slug, node), plans.TOOLS, timezone.now())


async def opened(pages, cookie, path: str, count: int = 1):
    page = await pages.open(cookie, path)
    await said_until(page, '"mail"')  # the last of where it stands when it opens
    await joined(count)
    return page


async def test_a_node_hears_of_its_agent_and_of_who_comes_to_live_there_and_of_no_other_node(
    pages, cookie, monkeypatch
):
    monkeypatch.setattr(feeds, "LOOK", 0.2)
    harbor = await opened(pages, cookie, "/live/nodes/harbor/")
    every = await opened(pages, cookie, "/live/nodes/", 2)
    await disable("cedar")
    assert json.loads(await said_until(every, '"box"'))["box"] is True
    assert await harbor.receive_nothing(0.5), await harbor.receive_from()
    for act in (disable("harbor"), hire("echo", "harbor")):
        await act
        for page in (harbor, every):
            assert json.loads(await said_until(page, '"box"'))["box"] is True


@sync_to_async
def ask(slug: str, token: str) -> None:
    with contextlib.suppress(Conflict):  # a refused prompt stands in the record too
        prompting.ask(prompting.Prompt(None, slug, "hello", timezone.now(), token=access.digest(token)))


async def test_a_node_hears_of_a_prompt_that_its_switch_answers_and_an_employee_of_one_that_is_refused(
    pages, cookie, monkeypatch
):
    monkeypatch.setattr(feeds, "LOOK", 0.2)
    token = (await sync_to_async(make.agent)("scout"))[1]
    await hire("echo", "harbor")
    await disable("harbor")
    harbor = await opened(pages, cookie, "/live/nodes/harbor/")
    await ask("harbor", token)
    assert json.loads(await said_until(harbor, '"box"'))["box"] is True
    await sync_to_async(lifecycle.drain)(ADA, "echo", "a test", timezone.now())
    assert json.loads(await said_until(harbor, '"box"'))["box"] is True
    await ask("echo", token)
    assert json.loads(await said_until(harbor, '"box"'))["box"] is True


async def test_of_a_missing_node_the_page_ends(pages, cookie):
    assert await closed_with(await pages.open(cookie, "/live/nodes/lime/")) == 4404
