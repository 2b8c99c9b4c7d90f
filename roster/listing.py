"""The roster as the API's JSON, kept in bytes for as long as it is true.

Neither the roster's version nor any age says that: a heartbeat without news moves ``last_seen`` and no version, and
time alone turns words. So each call asks the database for what may have moved, which costs a tenth of the list; the
bytes are given again only where nothing did and no moment has passed at which a row would say something else.
"""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from dataclasses import dataclass
from datetime import datetime

from pydantic_core import to_json

from . import directory, queries, schemas

KEPT = 8  # lists
KEPT_BYTES = 8 * 1024 * 1024  # of all of them


@dataclass(frozen=True, slots=True)
class Listing:
    """One page of the roster as the API gives it, and the name of exactly these bytes."""

    body: bytes
    etag: str


@dataclass(frozen=True, slots=True)
class _True:
    """A listing with the stored state that it was made of and the span of time in which it says what is true of it."""

    listing: Listing
    state: tuple
    since: datetime
    until: datetime | None

    def at(self, state: tuple, now: datetime) -> bool:
        return self.state == state and self.since <= now and (self.until is None or now <= self.until)


_kept: OrderedDict[queries.Selection, _True] = OrderedDict()  # the last asked for last
_lock = threading.Lock()


def listing(selection: queries.Selection, now: datetime) -> Listing:
    """The page of ``selection`` as it is at ``now``."""
    state = _state(selection, now)
    if found := _found(selection, state, now):
        return found
    page = queries.page(selection, now)
    body = to_json({"agents": [schemas.agent(row) for row in page.rows], "next": page.next, "version": page.version})
    made = Listing(body, f'"{hashlib.sha256(body).hexdigest()[:32]}"')
    turns = (moment for row in page.rows for moment in row.turns_at(now))
    if _state(selection, now) == state:  # else something was written while it was made
        _keep(selection, _True(made, state, now, min(turns, default=None)))
    return made


def _state(selection: queries.Selection, now: datetime) -> tuple:
    return directory.versions(), queries.fingerprint(selection, now)


def _found(selection: queries.Selection, state: tuple, now: datetime) -> Listing | None:
    with _lock:
        kept = _kept.get(selection)
        if kept is None or not kept.at(state, now):
            return None
        _kept.move_to_end(selection)
        return kept.listing


def _keep(selection: queries.Selection, made: _True) -> None:
    """Keeps it in place of what was asked for longest ago, within the bounds."""
    with _lock:
        _kept[selection] = made
        _kept.move_to_end(selection)
        while len(_kept) > KEPT or sum(len(each.listing.body) for each in _kept.values()) > KEPT_BYTES:
            _kept.popitem(last=False)
