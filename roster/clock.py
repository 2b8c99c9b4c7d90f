"""The hub's one clock: its database's. Hosts whose own clocks differ agree about every deadline (F144)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

from django.db import connection
from django.utils import timezone


class Clock:
    """This host's clock, set by the database's. SQLite lives on the same host, so there is nothing to ask."""

    def __init__(self, own: Callable[[], datetime] = timezone.now):
        self._own = own
        self._ahead = timedelta()

    def now(self) -> datetime:
        return self._own() + self._ahead

    def follow(self) -> None:
        """Asks the database what time it is. A difference within the time that asking took says nothing."""
        if connection.vendor == "sqlite":
            return
        asked = self._own()
        with connection.cursor() as cursor:
            cursor.execute("SELECT clock_timestamp()")
            theirs = cursor.fetchone()[0]
        took = self._own() - asked
        ahead = theirs - (asked + took / 2)
        if abs(ahead - self._ahead) > took / 2:
            self._ahead = ahead


hub = Clock()


def now() -> datetime:
    """The time at the hub. Edges take it here; rules, reads and services are given it."""
    return hub.now()
