"""Reads that span tables: the lists, the counts, the hub's own state, and one agent with everything about it."""

from .fingerprint import fingerprint
from .history import event_kinds, events_of, last_event_before
from .hub import last_outage, late_sweeps
from .lists import Page, Selection, by_keys, changed_since, one, page, profile_key
from .near import near
from .overview import DISABLED, SHOWN_WORDS, Hour, Need, Tally, counts, held_back, last_hours, needs_you, total
from .words import is_listed, presence_word

__all__ = [
    "DISABLED",
    "Hour",
    "Need",
    "Page",
    "SHOWN_WORDS",
    "Selection",
    "Tally",
    "by_keys",
    "changed_since",
    "counts",
    "event_kinds",
    "events_of",
    "fingerprint",
    "held_back",
    "is_listed",
    "last_event_before",
    "last_hours",
    "last_outage",
    "late_sweeps",
    "near",
    "needs_you",
    "one",
    "page",
    "presence_word",
    "profile_key",
    "total",
]
