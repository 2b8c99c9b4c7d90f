"""How times are written wherever a program reads them."""

from __future__ import annotations

from datetime import UTC, datetime


def stamp(moment: datetime | None) -> str | None:
    """RFC 3339 in UTC with a Z (R220)."""
    if moment is None:
        return None
    if moment.tzinfo is not UTC:
        moment = moment.astimezone(UTC)
    return moment.isoformat(timespec="milliseconds")[: -len("+00:00")] + "Z"
