"""An open page hears that other mail waits for its person, and the page of a box that the box changed; neither hears
what it is."""

from __future__ import annotations

import json

import pytest
from asgiref.sync import sync_to_async
from django.db import transaction
from django.utils import timezone

from roster import events
from roster.live import consumers
from roster.live import feed as feeds
from roster.models import Agent
from tests import make
from tests.inbox import post

from .conftest import closed_with, joined, said_until

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
async def token(agent) -> str:
    return (await agent("echo", status="idle"))[1]


@sync_to_async
def send(token: str, to: str, **more) -> int:
    return post.send(token, to, timezone.now(), "secret words", **more).seq


async def key(slug: str) -> int:
    return (await Agent.objects.aget(slug=slug)).pk


async def hints(page, until: int) -> list[int]:
    """The counts that ``page`` is told, up to ``until``."""
    told = []
    while not told or told[-1] != until:
        told.append(json.loads(await said_until(page, '{"mail"'))["mail"]["waiting"])
    return told


@pytest.mark.parametrize("path", ["/live/roster/", "/live/agents/{pk}/", "/live/mail/{pk}/"])
async def test_every_live_page_is_told_how_much_waits_for_its_person_and_only_when_it_changed(
    pages, token, cookie, path
):
    page = await pages.open(cookie, path.format(pk=await key("echo")))
    assert await hints(page, 0) == [0]
    await joined(1)
    await send(token, "mira", subject="secret subject")
    assert await hints(page, 1) == [1]
    await sync_to_async(make.beat)(token, timezone.now(), status="working: on")  # somebody else's news
    await send(token, "mira")
    assert await hints(page, 2) == [2]


@pytest.mark.parametrize("path", ["/live/roster/", "/live/agents/{pk}/", "/live/mail/{pk}/"])
async def test_a_letter_to_very_many_is_hinted_at_like_any_other(pages, token, cookie, path, monkeypatch):
    """So many rows change with it that no page is told of each."""
    monkeypatch.setattr(feeds, "MANY", 0)
    page = await pages.open(cookie, path.format(pk=await key("echo")))
    await hints(page, 0)
    await joined(1)
    await send(token, "mira")
    assert await hints(page, 1) == [1]


async def test_a_box_is_told_of_its_own_changes_and_of_nothing_in_it(pages, token, cookie, agent):
    await agent("analyst", status="idle")
    page = await pages.open(cookie, f"/live/mail/{await key('analyst')}/")
    await said_until(page, '"box"')
    await joined(1)
    await send(token, "analyst", subject="secret subject")
    assert json.loads(await said_until(page, '"box"')) == {"box": True}


async def test_the_box_of_nobody_closes(pages, cookie):
    page = await pages.open(cookie, "/live/mail/999999/")
    assert await closed_with(page) == consumers.NOBODY


async def test_a_page_that_is_up_to_date_is_not_sent_to_ask(pages, token, cookie):
    from roster.directory import versions
    from roster.stamps import stamp

    pk = await key("echo")
    await said_until(
        await pages.open(cookie, f"/live/mail/{pk}/"), '"box"'
    )  # whoever looks comes to life: that is news
    version = (await sync_to_async(versions)())[0]
    fresh = await pages.open(cookie, f"/live/mail/{pk}/?rev={version}&as_of={stamp(timezone.now())}")
    assert json.loads(await said_until(fresh, '"box"'))["box"] is False
    late = await pages.open(cookie, f"/live/mail/{pk}/?rev={version - 1}&as_of={stamp(timezone.now())}")
    assert json.loads(await said_until(late, '"box"'))["box"] is True


def test_a_change_of_what_waits_is_hinted_at_once_and_only_if_it_was_committed_P42(now, monkeypatch, soak):
    """A hundred sends and drains with --soak, ten otherwise, that are rolled back, and one of each that is not."""
    tokens = {slug: make.agent(slug, now)[1] for slug in ("echo", "scribe")}
    hinted = []
    monkeypatch.setattr(events, "nudge", hinted.append)
    for act in (lambda: post.send(tokens["scribe"], "echo", now), lambda: post.drain(tokens["echo"], "echo", now)):
        for _ in range(50 if soak else 5):
            with transaction.atomic():
                act()
                transaction.set_rollback(True)
        assert hinted == []
        act()
        assert hinted == [Agent.objects.get(slug="echo").changed]
        hinted.clear()
