"""Reading an address: each value on its own, and one that means nothing is left out and said so."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from urllib.parse import urlencode

from django.http import QueryDict

LARGEST = 2**63 - 1  # of an id
CUT = 80  # characters of a value that anything here can have


class Asked:
    """What an address asks for; ``problems`` tells of the values that were left out, in words for the page."""

    def __init__(self, given: QueryDict):
        self._given = given
        self.problems: list[str] = []

    def text(self, name: str) -> str:
        return self._given.get(name, "").strip().replace("\0", "")[:CUT]  # no database holds a NUL

    def choice(self, name: str, allowed: Iterable[str]) -> str:
        """One of ``allowed``; "" where none is asked for, or another."""
        value = self.text(name)
        if not value or value in allowed:
            return value
        self._left_out(name, value, f"is none of: {', '.join(sorted(allowed))}")
        return ""

    def day(self, name: str) -> date | None:
        value = self.text(name)
        try:
            return date.fromisoformat(value) if value else None
        except ValueError:
            self._left_out(name, value, "is no day like 2026-11-30")
            return None

    def number(self, name: str) -> int | None:
        value = self.text(name)
        if value.isascii() and value.isdigit() and int(value) <= LARGEST:
            return int(value)
        if value:
            self._left_out(name, value, "is no number of a row")
        return None

    def _left_out(self, name: str, value: str, why: str) -> None:
        self.problems.append(f"“{name}” was left out: “{value}” {why}.")


def address(path: str, **values: object) -> str:
    """``path`` with those of ``values`` that are not empty."""
    told = urlencode({name: value for name, value in values.items() if value not in ("", None)})
    return f"{path}?{told}" if told else path
