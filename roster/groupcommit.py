"""Group commit: items that arrive while a write is running are written together by the next one.

There is no timer. One thread a process writes, so a process never competes with itself for the database, and each
caller's future is resolved only after the transaction that held its item has committed (design rule 5).
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Generic, TypeVar

from django.db import close_old_connections

Item = TypeVar("Item")
LARGEST = 500  # items a transaction


class GroupCommit(Generic[Item]):
    """Collects items for ``write``, which takes a list and returns one outcome each, an exception standing for a
    refusal of that item alone. Where ``write`` itself raises, every item of the group gets that exception."""

    def __init__(self, write: Callable[[list[Item]], list], name: str):
        self._write, self._name = write, name
        self._waiting: queue.SimpleQueue = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def submit(self, item: Item) -> Future:
        """A future of the item's outcome, resolved after its commit."""
        future: Future = Future()
        self._waiting.put((item, future))
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
            if not group:
                continue
            try:
                close_old_connections()
                outcomes = self._write([item for item, _ in group])
            except Exception as error:
                outcomes = [error] * len(group)
            _resolve(group, outcomes)

    def _gather(self) -> list[tuple[Item, Future]]:
        group = [self._waiting.get()]
        while len(group) < LARGEST:
            try:
                group.append(self._waiting.get_nowait())
            except queue.Empty:
                break
        # whoever gave up waiting was told so; what it asked for must not happen behind its back
        return [(item, future) for item, future in group if future.set_running_or_notify_cancel()]


def _resolve(group: list, outcomes: list) -> None:
    for (_, future), outcome in zip(group, outcomes, strict=True):
        if isinstance(outcome, Exception):
            future.set_exception(outcome)
        else:
            future.set_result(outcome)
