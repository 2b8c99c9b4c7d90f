"""Acting on a running hub from outside: its broker, its database file, its processes."""

from __future__ import annotations

import os
import signal
import sqlite3
import threading
from contextlib import closing
from datetime import timedelta

from django.utils import timezone

from tests.hubs import Hub
from tests.services import wait_until


def task(hub: Hub, name: str) -> None:
    """Sends the task ``name`` to the hub's own worker, through its broker, as beat does."""
    from celery import Celery

    sender = Celery(broker=f"redis+socket://{hub.data / 'run' / 'valkey.sock'}", set_as_current=False)
    with sender.connection_for_write() as connection:
        sender.send_task(f"roster.tasks.{name}", connection=connection, ignore_result=True)


def rows(hub: Hub, query: str, *values) -> list[tuple]:
    """What the database file itself holds."""
    with closing(sqlite3.connect(f"file:{hub.data / 'hub.sqlite3'}?mode=ro", uri=True, timeout=20)) as file:
        return file.execute(query, values).fetchall()


def change(hub: Hub, statement: str, *values) -> None:
    """Changes the database file behind the hub's back."""
    with closing(sqlite3.connect(hub.data / "hub.sqlite3", timeout=20)) as file, file:
        file.execute(statement, values)


def ago(**span) -> str:
    """A moment ``span`` before now, as the database file writes it."""
    return (timezone.now() - timedelta(**span)).strftime("%Y-%m-%d %H:%M:%S.%f")


def runs(hub: Hub) -> int:
    """How many sweeps have ended."""
    return rows(hub, "select count(*) from roster_sweeprun where finished_at is not null")[0][0]


def kill(hub: Hub, name: str) -> None:
    """``kill -9`` to one process of the hub."""
    os.kill(hub.up["processes"][name], signal.SIGKILL)


def killed_and_back(hub: Hub, name: str, seconds: float = 30) -> None:
    """Kills a process and waits until the supervisor has started another in its place."""
    old = hub.up["processes"][name]
    kill(hub, name)
    wait_until(lambda: hub.up["processes"][name] != old, seconds, f"another {name}")


def ready(hub: Hub) -> bool:
    """Whether /readyz answers 200; False also while nobody answers."""
    import httpx

    try:
        with hub.client() as client:
            return client.get("/readyz", timeout=5).status_code == 200
    except httpx.TransportError:
        return False


def lasting(seconds: float) -> None:
    """Lets an outage last: its length is part of what happens, nothing is waited for."""
    threading.Event().wait(seconds)
