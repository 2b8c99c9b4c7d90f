"""The rules of an exchange: pure functions over stored facts, standard library only.

A prompt queues, runs under the lease of a runner, and ends answered or failed. A lease that lapsed has failed it, whether
or not the sweep has written that down yet; then the next one starts (design section 4).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

QUEUED, RUNNING, ANSWERED, FAILED, REFUSED = STATES = ("queued", "running", "answered", "failed", "refused")
OPEN = (QUEUED, RUNNING)
OUTCOMES = ("answered", "failed", "disabled", "draining", "retired")

LEASE = 120  # seconds a runner has, unless it asks for another time; it extends for as long as it works
LONGEST_NOTE = 2000  # characters of why one failed
LONGEST_WAIT = 60  # seconds that a call may wait for an answer or for work
LAPSED = "its runner did not answer before its lease ended"
MOST_QUEUED = 1000  # prompts that wait for one agent
HISTORY = 50  # exchanges before this one that a runner is told
HISTORY_BYTES = 256 * 1024  # of their prompts and answers


@dataclass(frozen=True, slots=True)
class Facts:
    """What the state of an exchange depends on."""

    state: str
    lease_key: str = ""
    lease_until: datetime | None = None
    finished_at: datetime | None = None


def lapsed(facts: Facts, now: datetime) -> bool:
    return facts.state == RUNNING and facts.lease_until <= now


def state(facts: Facts, now: datetime) -> str:
    """What the exchange is at ``now``."""
    return FAILED if lapsed(facts, now) else facts.state


def hand_in(facts: Facts, lease: str, now: datetime) -> str:
    """What a runner's word under ``lease`` meets at ``now``: ``running`` takes it; ``finished`` is a repeat of its own;
    ``lease_expired`` and ``foreign_lease`` refuse it."""
    if facts.lease_key != lease:
        return "foreign_lease"
    if facts.state == RUNNING:
        return "lease_expired" if lapsed(facts, now) else "running"
    return "lease_expired" if facts.finished_at >= facts.lease_until else "finished"


def remembered(sizes: list[int]) -> int:
    """How many exchanges of these ``sizes``, newest first, a runner is told; the newest comes whatever its size."""
    room = HISTORY_BYTES - sum(sizes[:1])
    for count, size in enumerate(sizes[1:HISTORY], 1):
        room -= size
        if room < 0:
            return count
    return min(len(sizes), HISTORY)
