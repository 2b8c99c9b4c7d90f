"""Reads that span tables: the lists, the counts, the hub's own state, and one agent with everything about it."""

from .fingerprint import fingerprint
from .history import (
    ACTS,
    MANY,
    AnomalySelection,
    EventPage,
    EventSelection,
    Standing,
    agent_key,
    event_kinds,
    events,
    events_of,
    last_event_before,
    newer_events,
    standing,
)
from .hub import last_outage, late_after, late_sweeps, outages
from .lists import Page, Selection, by_keys, changed_since, ended_between, ids, member, one, page
from .near import near
from .overview import DISABLED, SHOWN_WORDS, Hour, Need, Tally, counts, held_back, last_hours, needs_you, total
from .staff import Employment, NodeRow, employed, employment_of, node, nodes
from .words import is_listed, presence_word

__all__ = [
    "ACTS",
    "AnomalySelection",
    "DISABLED",
    "Employment",
    "EventPage",
    "EventSelection",
    "Hour",
    "MANY",
    "Need",
    "NodeRow",
    "Page",
    "SHOWN_WORDS",
    "Selection",
    "Standing",
    "Tally",
    "agent_key",
    "by_keys",
    "changed_since",
    "counts",
    "employed",
    "employment_of",
    "ended_between",
    "event_kinds",
    "events",
    "events_of",
    "fingerprint",
    "held_back",
    "ids",
    "is_listed",
    "last_event_before",
    "last_hours",
    "last_outage",
    "late_after",
    "late_sweeps",
    "member",
    "near",
    "needs_you",
    "newer_events",
    "node",
    "nodes",
    "one",
    "outages",
    "page",
    "presence_word",
    "standing",
    "total",
]
