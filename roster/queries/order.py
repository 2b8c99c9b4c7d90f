"""The orders in which the fleet can be listed, each as SQL, as a key of a row, and as a cursor between pages.

A cursor names the place it stands at (keyset), so the hundredth page costs what the first one does.
"""

from __future__ import annotations

import math
from datetime import UTC, datetime

from django.db.models import F, Q, QuerySet
from django.utils.dateparse import parse_datetime

from roster import rows


class Order:
    """By id."""

    columns: tuple = ("slug",)

    def key(self, row: rows.Row) -> tuple:
        """Where ``row`` stands: rows in this order have rising keys."""
        return self.key_of(row.last_seen, row.id)

    def key_of(self, seen: datetime | None, slug: str) -> tuple:
        return (slug,)

    def cursor(self, row: rows.Row) -> str:
        """The place right after ``row``, as the address of the next page has it."""
        return row.id

    def cursor_key(self, cursor: str) -> tuple | None:
        """The key that ``cursor`` stands for, or None for the begin."""
        return (cursor,) if cursor else None

    def after(self, agents: QuerySet, cursor: str) -> QuerySet:
        """Those of ``agents`` that come after ``cursor``."""
        return agents.filter(slug__gt=cursor) if cursor else agents


class BySeen(Order):
    """By when they were last seen, oldest or newest first; who was never seen comes last either way (F070)."""

    def __init__(self, *, newest_first: bool):
        self._newest_first = newest_first
        seen = F("last_seen").desc(nulls_last=True) if newest_first else F("last_seen").asc(nulls_last=True)
        self.columns = (seen, "slug")

    def key_of(self, seen: datetime | None, slug: str) -> tuple:
        if seen is None:
            return (math.inf, slug)
        return (-seen.timestamp() if self._newest_first else seen.timestamp(), slug)

    def cursor(self, row: rows.Row) -> str:
        return f"{row.last_seen.astimezone(UTC):%Y-%m-%dT%H:%M:%S.%fZ}~{row.id}" if row.last_seen else f"~{row.id}"

    def cursor_key(self, cursor: str) -> tuple | None:
        return self.key_of(*_read(cursor)) if cursor else None

    def after(self, agents: QuerySet, cursor: str) -> QuerySet:
        if not cursor:
            return agents
        seen, slug = _read(cursor)
        if seen is None:
            return agents.filter(last_seen=None, slug__gt=slug)
        further = Q(last_seen__lt=seen) if self._newest_first else Q(last_seen__gt=seen)
        return agents.filter(further | Q(last_seen=seen, slug__gt=slug) | Q(last_seen=None))


def _read(cursor: str) -> tuple[datetime | None, str]:
    """The moment and the id in a cursor; one that somebody bent reads as never seen."""
    moment, _, slug = cursor.rpartition("~")
    try:
        seen = parse_datetime(moment)
        return (seen and (seen if seen.tzinfo else seen.replace(tzinfo=UTC)).astimezone(UTC)), slug
    except (ValueError, OverflowError):  # the second: in UTC it lies outside of all years
        return None, slug


ORDERS = {"": Order(), "seen": BySeen(newest_first=False), "-seen": BySeen(newest_first=True)}


def order(name: str) -> Order:
    """The order of this name; an unknown one is the order by id."""
    return ORDERS.get(name, ORDERS[""])
