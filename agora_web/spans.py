"""Spans of time as somebody types them into a setting."""

from __future__ import annotations

from datetime import timedelta

MOST_DAYS = 36_500  # a hundred years; far more would leave the calendar


def days(typed: str) -> timedelta | None:
    """The span of so many days, from 0 to ``MOST_DAYS``, fractions too; None where ``typed`` is no such number."""
    try:
        number = float(typed)
    except ValueError:
        return None
    return timedelta(days=number) if 0 <= number <= MOST_DAYS else None
