"""Open pages without a browser: a websocket of the real application, signed in by a real session."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
from asgiref.sync import sync_to_async
from channels.testing import WebsocketCommunicator
from django.test import Client
from django.utils import timezone

from roster import directory
from roster.live.feed import feed
from tests import make

HOST = "localhost"


def sign_in(name: str = "mira", role: str | None = "viewer") -> tuple[Client, str]:
    """A signed-in client and its cookie header."""
    client = Client()
    client.force_login(make.person(name, role))
    return client, "; ".join(f"{key}={morsel.value}" for key, morsel in client.cookies.items())


class Pages:
    """Opens live pages for one person and closes them all at the end of the test."""

    def __init__(self):
        self._open: list[WebsocketCommunicator] = []

    async def open(self, cookie: str, path: str = "/live/roster/", origin: str | None = f"http://{HOST}", host=HOST):
        """A connected page. ``page.accepted`` tells whether the handshake was accepted."""
        from agora_web.routing import application

        headers = [(b"cookie", cookie.encode()), (b"host", host.encode())]
        headers += [(b"origin", origin.encode())] if origin is not None else []
        page = WebsocketCommunicator(application, path, headers)
        page.accepted, page.denied_with = await page.connect(timeout=10)
        if page.accepted:
            self._open.append(page)
        return page

    async def close(self) -> None:
        for page in self._open:
            if not page.future.cancelled():
                await page.disconnect(timeout=5)


async def closed_with(page: WebsocketCommunicator, seconds: float = 10) -> int:
    """The code that ``page`` is closed with; whatever it is sent before that is passed over."""
    return [message async for message in messages(page, seconds)][-1]["code"]


async def messages(page: WebsocketCommunicator, seconds: float = 10) -> AsyncIterator[dict]:
    """What ``page`` is sent, up to its close; ``seconds`` is the longest wait for one."""
    message = {}
    while message.get("type") != "websocket.close":
        message = await page.receive_output(seconds)
        yield message


async def said_until(page: WebsocketCommunicator, part: str, seconds: float = 10) -> str:
    """The first message of ``page`` that holds ``part``."""
    async with asyncio.timeout(seconds):
        while True:
            text = await page.receive_from(timeout=seconds)
            if part in text:
                return text


async def version() -> int:
    """The roster's version now."""
    return (await sync_to_async(directory.versions)())[0]


async def joined(count: int, seconds: float = 10) -> None:
    """Waits until ``count`` pages hear the feed; a page is sent its first message a moment before."""
    async with asyncio.timeout(seconds):
        while len(feed().pages) < count:
            await asyncio.sleep(0.01)


@pytest.fixture
async def pages(transactional_db):
    opened = Pages()
    yield opened
    await opened.close()


@pytest.fixture
async def cookie(transactional_db) -> str:
    return (await sync_to_async(sign_in)())[1]


@pytest.fixture
def agent(transactional_db):
    """Makes a registered agent beside the event loop: ``await agent("echo", status="idle")`` gives row and token."""

    async def made(slug: str, **said):
        return await sync_to_async(make.agent)(slug, timezone.now(), **said)

    return made


@pytest.fixture
def beat():
    """One heartbeat, received now."""

    async def heard(token: str, **said):
        return await sync_to_async(make.beat)(token, timezone.now(), **said)

    return heard
