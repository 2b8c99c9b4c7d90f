"""Reads that span tables: the lists, the counts, the hub's own state, and one agent with everything about it."""

from .history import events_of
from .hub import last_outage, late_sweeps
from .lists import Page, Selection, by_keys, changed_since, one, page, profile_key
from .overview import SHOWN_WORDS, Need, Tally, counts, held_back, needs_you
from .words import is_listed, presence_word

__all__ = [
    "Need",
    "Page",
    "SHOWN_WORDS",
    "Selection",
    "Tally",
    "by_keys",
    "changed_since",
    "counts",
    "events_of",
    "held_back",
    "is_listed",
    "last_outage",
    "late_sweeps",
    "needs_you",
    "one",
    "page",
    "presence_word",
    "profile_key",
]
