"""Group commit: items that arrive while a write is running are written together by the next one.

There is no timer. One thread a process writes, so a process never competes with itself for the database, and each
caller's future is resolved only after the transaction that held its item has committed (design rule 5).
"""

from __future__ import annotations

import asyncio
import contextlib
import queue
import threading
from collections.abc import Callable
from typing import Generic, NamedTuple, TypeVar

from django.db import connection

Item = TypeVar("Item")
LARGEST = 500  # items a transaction


class Waiting(NamedTuple):
    """An item on its way, and who waits for it."""

    item: object
    loop: asyncio.AbstractEventLoop
    future: asyncio.Future


class GroupCommit(Generic[Item]):
    """Collects items for ``write``, which takes a list and returns one outcome each, an exception standing for a
    refusal of that item alone. Where ``write`` itself raises, every item of the group gets that exception."""

    def __init__(self, write: Callable[[list[Item]], list], name: str):
        self._write, self._name = write, name
        self._waiting: queue.SimpleQueue[Waiting] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def submit(self, item: Item) -> asyncio.Future:
        """A future of the running loop for the item's outcome, resolved after its commit."""
        loop = asyncio.get_running_loop()
        future = loop.create_future()
        self._waiting.put(Waiting(item, loop, future))
        if self._thread is None:
            self._start()
        return future

    def _start(self) -> None:
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name=self._name, daemon=True)
                self._thread.start()

    def _run(self) -> None:
        while True:
            group = self._gather()
            if group:
                _hand_back(group, self._outcomes([each.item for each in group]))

    def _outcomes(self, items: list[Item]) -> list:
        """What ``write`` says. Its connection stays open: opening one costs more than a group, and closing SQLite's
        last one writes the whole log back. After an error it is opened anew."""
        try:
            if not connection.is_usable():  # PostgreSQL was restarted since the last group
                connection.close()
            return self._write(items)
        except Exception as error:
            connection.close()
            return [error] * len(items)

    def _gather(self) -> list[Waiting]:
        group = [self._waiting.get()]
        while len(group) < LARGEST:
            try:
                group.append(self._waiting.get_nowait())
            except queue.Empty:
                break
        # whoever gave up waiting was told so; what it asked for must not happen behind its back
        return [each for each in group if not each.future.cancelled()]


def _hand_back(group: list[Waiting], outcomes: list) -> None:
    """Resolves the futures on their loops. Each loop is woken once a group: waking it is a system call."""
    by_loop: dict[asyncio.AbstractEventLoop, list] = {}
    for each, outcome in zip(group, outcomes, strict=True):
        by_loop.setdefault(each.loop, []).append((each.future, outcome))
    for loop, settled in by_loop.items():
        with contextlib.suppress(RuntimeError):  # a loop that has ended has nobody waiting
            loop.call_soon_threadsafe(_settle, settled)


def _settle(settled: list[tuple[asyncio.Future, object]]) -> None:
    for future, outcome in settled:
        if future.done():
            continue  # its caller gave up while the write was running
        if isinstance(outcome, Exception):
            future.set_exception(outcome)
        else:
            future.set_result(outcome)
