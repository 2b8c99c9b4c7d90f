"""Waiting for an answer, or for work, without a thread: one poller for each event loop asks for all who wait there."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from weakref import WeakKeyDictionary

from django.db import DatabaseError

from inbox.queries import queue
from inbox.services import running
from roster import clock
from roster.errors import Unavailable
from roster.offload import in_database

log = logging.getLogger("agora.api")
PERIOD = 0.2  # seconds between two looks
ENDED, WORK = "ended", "work"
Key = tuple[str, int]  # an exchange that ends, or work for an agent: the word and the primary key
Receive = Callable[[], Awaitable[dict]]


class Poller:
    """Those who wait in one event loop. It looks while there is anybody, and asks once for all of them."""

    def __init__(self):
        self._waiting: dict[asyncio.Future, Key] = {}
        self._looking: asyncio.Task | None = None

    async def wait(self, key: Key, seconds: float, receive: Receive) -> bool:
        """Waits until ``key`` has come true, ``seconds`` at most; False where the client, whose ASGI ``receive`` this is,
        has left meanwhile."""
        due = asyncio.get_running_loop().create_future()
        self._waiting[due] = key
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._look())
        left = asyncio.ensure_future(_left(receive))
        try:
            await asyncio.wait((due, left), timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
            return not left.done()
        finally:
            del self._waiting[due]
            due.cancel()
            left.cancel()

    async def _look(self) -> None:
        while self._waiting:
            await asyncio.sleep(PERIOD)
            try:
                found = await in_database(_come_true, set(self._waiting.values()))
            except (DatabaseError, Unavailable) as away:
                log.error("who waits is not told: %s", type(away).__name__)  # the next look, or the end of its time
                continue
            for due, key in self._waiting.items():
                if key in found and not due.done():
                    due.set_result(None)


_pollers: WeakKeyDictionary[asyncio.AbstractEventLoop, Poller] = WeakKeyDictionary()


async def wait(key: Key, seconds: float, receive: Receive) -> bool:
    """``Poller.wait`` of this event loop."""
    return await _pollers.setdefault(asyncio.get_running_loop(), Poller()).wait(key, seconds, receive)


async def gone(receive: Receive) -> bool:
    """Whether the client, whose ASGI ``receive`` this is, has left by now."""
    left = asyncio.ensure_future(_left(receive))
    await asyncio.wait((left,), timeout=0)
    left.cancel()
    return left.done()


async def _left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        """More of a body that was read already."""


def _come_true(keys: set[Key]) -> set[Key]:
    numbers = [number for word, number in keys if word == ENDED]
    agents = [key for word, key in keys if word == WORK]
    ended, able = queue.ended(numbers, clock.now()), running.able(agents)
    return {(ENDED, number) for number in ended} | {(WORK, key) for key in able}
