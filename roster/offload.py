"""Blocking work beside the event loop: a small pool of threads, each call with a database connection of its own."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from django.db import connections

from .errors import Unavailable

THREADS = 8
PATIENCE = 15.0  # seconds a caller waits for a group commit before it is told to come back

_pool = ThreadPoolExecutor(THREADS, thread_name_prefix="database")


async def in_database(work: Callable, *args, **kwargs) -> Any:
    """The result of ``work(*args, **kwargs)``, run on a thread that may block on the database."""
    context = contextvars.copy_context()
    return await asyncio.get_running_loop().run_in_executor(_pool, context.run, _closing, work, args, kwargs)


def _closing(work: Callable, args: tuple, kwargs: dict) -> Any:
    try:
        return work(*args, **kwargs)
    finally:
        connections.close_all()  # kept connections would outlive their use; PostgreSQL's go back to their pool


async def committed(future: asyncio.Future) -> Any:
    """The outcome of a group commit. Raises Unavailable when the database keeps the writer waiting for too long."""
    try:
        async with asyncio.timeout(PATIENCE):
            return await future
    except TimeoutError:
        raise Unavailable("The database did not answer in time. Send it again: it may not have been stored.") from None
