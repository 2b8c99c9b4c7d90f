"""The websocket lets in an own page of a person with a role, and nobody else, for as long as that stays true."""

from __future__ import annotations

from datetime import timedelta

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.utils import timezone

from roster.live import consumers
from roster.models import Agent, Anomaly
from roster.services import guard
from tests.live.conftest import closed_with, messages, said_until, sign_in, version

PUBLIC = "https://hub.example"
ORIGINS = [
    # origin, host asked under, whether it is let in
    ("http://localhost", "localhost", True),
    (PUBLIC, "localhost", True),
    (None, "localhost", False),
    ("null", "localhost", False),
    ("https://evil.example", "localhost", False),
    ("http://localhost.evil.example", "localhost", False),
    ("https://localhost", "localhost", False),
    ("http://localhost:8001", "localhost", False),
    ("http://hub.example", "localhost", False),
    ("http://evil.example", "evil.example", False),  # a name that was rebound to the hub's address
]


@pytest.mark.parametrize(("origin", "host", "let_in"), ORIGINS)
async def test_only_the_hubs_own_pages_open_a_websocket_P64_F063(pages, cookie, settings, origin, host, let_in):
    """Eight origins and the own one, each with a valid session: a foreign one is denied before it is accepted."""
    settings.CSRF_TRUSTED_ORIGINS = [PUBLIC]
    page = await pages.open(cookie, origin=origin, host=host)
    assert page.accepted is let_in
    if let_in:
        await said_until(page, "cursor")


@pytest.mark.core
async def test_without_a_sign_in_the_page_is_told_so_after_the_handshake(pages):
    """A refused handshake reads as a broken line to a browser, which then tries for ever; 4401 it understands."""
    page = await pages.open("")
    assert page.accepted
    assert await closed_with(page) == consumers.SIGNED_OUT


async def test_a_person_without_a_role_may_not_watch(pages):
    _, cookie = await sync_to_async(sign_in)("nobody", role=None)
    page = await pages.open(cookie)
    assert await closed_with(page) == consumers.NO_RIGHT


def log_out(client, user):
    client.logout()


def deactivate(client, user):
    user.is_active = False
    user.save(update_fields=["is_active"])


def change_password(client, user):
    user.set_password("another horse battery")
    user.save(update_fields=["password"])


def take_the_role(client, user):
    user.groups.clear()


def delete_the_session(client, user):
    Session.objects.all().delete()


REVOCATIONS = [
    (log_out, consumers.SIGNED_OUT),
    (deactivate, consumers.SIGNED_OUT),
    (change_password, consumers.SIGNED_OUT),
    (take_the_role, consumers.NO_RIGHT),
    (delete_the_session, consumers.SIGNED_OUT),
]


@pytest.mark.parametrize(("revoke", "code"), REVOCATIONS)
async def test_an_open_page_is_closed_soon_after_its_right_ended_F064_P64(
    pages, agent, beat, monkeypatch, revoke, code
):
    """Each of the five ways to lose the right closes the socket, and nothing about the fleet is sent after that.

    The period of the look is shortened here; that the real one is under 30 s is checked beside it.
    """
    assert consumers.RECHECK <= 30
    monkeypatch.setattr(consumers, "RECHECK", 0.05)
    _, token = await agent("echo", status="idle")
    client, cookie = await sync_to_async(sign_in)()
    _, other_cookie = await sync_to_async(sign_in)("noor")
    page, other = await pages.open(cookie), await pages.open(other_cookie)
    await beat(token, status="working: before")
    await said_until(page, "before")
    user = await User.objects.aget(username="mira")
    await sync_to_async(revoke)(client, user)
    if revoke is not delete_the_session:  # that one ends everybody's
        await beat(token, status="working: after")
        await said_until(other, "after")
    assert await closed_with(page) == code
    assert await page.receive_nothing(0.3)


async def test_frames_from_a_page_are_inert_and_a_person_who_lost_the_role_is_still_put_out_F150(
    pages, agent, monkeypatch
):
    """A page can say nothing that acts: whatever comes in is neither answered nor done, whoever sends it."""
    monkeypatch.setattr(consumers, "RECHECK", 0.3)
    await agent("echo", status="idle")
    _, cookie = await sync_to_async(sign_in)("mira", role="manager")
    page = await pages.open(cookie)
    await said_until(page, "echo")
    before = await version()
    user = await User.objects.aget(username="mira")
    await sync_to_async(user.groups.clear)()
    for said in ('{"action": "disable", "agent": "echo"}', "{", "<hx-partial>", '{"type": "nudge", "version": 99}'):
        await page.send_to(text_data=said)
        await page.send_to(bytes_data=said.encode())
    told = [message async for message in messages(page)]
    assert told.pop() == {"type": "websocket.close", "code": consumers.NO_RIGHT}
    fed = [message for message in told if not message["text"].startswith('{"mail"')]
    assert all('id="cursor"' in message["text"] for message in fed), "a page is sent what the feed has, and no answer"
    assert await version() == before
    assert await Agent.objects.filter(slug="echo", enabled=True).aexists()


async def test_after_the_session_expired_nothing_is_done_and_no_page_comes_but_the_sign_in_F050(pages):
    """The act answers with the way to sign in and does nothing, a plain request likewise, and the socket says 4401.

    The scenario disables an agent; the release of held edges is the act that the pages have.
    """
    client, cookie = await sync_to_async(sign_in)("mira", role="manager")
    hold = {"kind": guard.KIND, "subject": "expire_ephemeral", "evidence": {"would_flip": 9, "live": 9}}
    held = await Anomaly.objects.acreate(**hold, opened_at=timezone.now())
    await Session.objects.aupdate(expire_date=timezone.now() - timedelta(seconds=1))
    answers = await sync_to_async(lambda: [client.get("/"), client.post("/guard/release/")])()
    for asked in answers:
        assert asked.status_code == 302 and asked.headers["location"].startswith("/sign-in/?next=/")
    await held.arefresh_from_db()
    assert "released_by" not in held.evidence
    assert await closed_with(await pages.open(cookie)) == consumers.SIGNED_OUT
