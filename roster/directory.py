"""The profiles that lists need, kept in memory and read again when their version moved (R44, R45).

The version is read with every list, so an edit shows with the next answer in every process and no refresh is missed.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass

from django.db.models import Q

from . import states
from .models import Counter, Profile

# A profile stands in the roster by itself when it declares a member, or cannot be read.
LISTED = Q(liveness_mode__in=states.PERSISTENT) | ~Q(parse_error="")


@dataclass(frozen=True, slots=True)
class Entry:
    pk: int
    slug: str
    title: str
    mode: str | None
    expected_interval: int | None
    parse_error: str


class Directory:
    """All profiles of one version by slug, and whether any of them is ``LISTED``."""

    def __init__(self, version: int, entries: list[Entry]):
        self.version = version
        self.by_slug = {entry.slug: entry for entry in entries}
        self.listed = any(entry.mode in states.PERSISTENT or entry.parse_error for entry in entries)


_lock = threading.Lock()
_kept: Directory | None = None


def versions() -> tuple[int, int]:
    """The present roster and profile versions, in one query."""
    found = dict(Counter.objects.filter(name__in=("roster", "profiles")).values_list("name", "value"))
    return found.get("roster", 0), found.get("profiles", 0)


def at(version: int) -> Directory:
    """The directory of profile version ``version``; reads the table only when the version is new to this process."""
    global _kept
    with _lock:
        if _kept is None or _kept.version != version:
            columns = ("pk", "slug", "title", "liveness_mode", "expected_interval", "parse_error")
            rows = Profile.objects.values_list(*columns)
            _kept = Directory(version, [Entry(*row) for row in rows])
        return _kept
