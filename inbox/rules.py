"""The rules of a delivery: pure functions over stored facts, standard library only.

A delivery is one message in one inbox. It waits, is leased to whoever drains it, and is acked by the holder of the
lease; a lease that lapses gives it back. What a lapsed or expired delivery *is* follows from its times alone, whether
or not the sweep has written it down yet.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

WAITING, LEASED, ACKED, DEAD, ARCHIVED = STATES = ("waiting", "leased", "acked", "dead", "archived")
PENDING = (WAITING, LEASED)
UNDONE = (*PENDING, DEAD)  # what a person may have to see to
IMPORTANCE = ("low", "normal", "high")
MAIL, SYSTEM, WARNING, PROMPT, ANSWER = KINDS = ("mail", "system", "warning", "prompt", "answer")

LARGEST_BODY = 256 * 1024  # bytes of a message's body
LONGEST_SUBJECT = 300  # characters
MOST_WAITING = 1000  # messages an inbox holds that nobody has acked
MOST_BYTES = 10 * 1024 * 1024  # of such messages in one inbox
MOST_NAMED = 500  # recipients named one by one in a send
MOST_ATTEMPTS = 5  # leases that may lapse before a message is given up
LARGEST_ANSWER = 4 * 1024 * 1024  # bytes of bodies in one drain, or one page of a thread
LEASE = 120  # seconds, where the caller asks for nothing else
SHORTEST_LEASE, LONGEST_LEASE = 1, 12 * 3600  # seconds; a lease never lasts longer, however often it is extended

EXHAUSTED = f"taken {MOST_ATTEMPTS} times and never acked: each lease ran out"
TOO_LATE = "it expired before anybody acked it"


@dataclass(frozen=True, slots=True)
class Facts:
    """What a delivery's state depends on: its stored state, the lease that holds or last held it, and its expiry."""

    state: str
    attempts: int = 0
    lease: str | None = None
    until: datetime | None = None
    expires_at: datetime | None = None


def lapsed(facts: Facts, now: datetime) -> bool:
    return facts.state == LEASED and facts.until <= now


def state(facts: Facts, now: datetime) -> str:
    """What the delivery is at ``now``. A lease ends at its ``until``; mail that expires while it is leased may still be
    acked by the holder."""
    if facts.state == LEASED and not lapsed(facts, now):
        return LEASED
    if facts.state in PENDING and death(facts, now):
        return DEAD
    return WAITING if facts.state == LEASED else facts.state


def death(facts: Facts, now: datetime) -> str:
    """Why a pending delivery that nobody holds at ``now`` is given up; "" where it is not."""
    if facts.attempts + lapsed(facts, now) >= MOST_ATTEMPTS:
        return EXHAUSTED
    if facts.expires_at is not None and facts.expires_at <= now:
        return TOO_LATE
    return ""


def ack(facts: Facts, lease: str | None, now: datetime) -> str:
    """What an ack under ``lease`` (None: without one) does at ``now``: ``acked``, ``already_acked`` and ``dead`` are
    results, ``held`` and ``lease_expired`` refuse the whole call.

    Only who holds a message may ack it; without a lease it must be held by nobody. A second ack of the same holder says
    the same; one under a lease that lost the message is refused even where somebody else has acked it since.
    """
    found = state(facts, now)
    if found == LEASED:
        return "acked" if lease == facts.lease else "held"
    if lease is not None and (found in (WAITING, DEAD) or lease != facts.lease):
        return "lease_expired"
    return {WAITING: "acked", DEAD: "dead"}.get(found, "already_acked")


def release(facts: Facts, lease: str, now: datetime) -> str:
    """What giving a message back under ``lease`` does at ``now``: ``released``, ``already_acked`` or ``not_held``."""
    if state(facts, now) == LEASED and facts.lease == lease:
        return "released"
    return "already_acked" if facts.state in (ACKED, ARCHIVED) else "not_held"


def fitting(sizes: list[int]) -> int:
    """How many messages with bodies of these ``sizes``, in their order, one answer carries; the first comes whatever its
    size."""
    room = LARGEST_ANSWER - sum(sizes[:1])
    for count, size in enumerate(sizes[1:], 1):
        room -= size
        if room < 0:
            return count
    return len(sizes)


def lease_end(began: datetime, now: datetime, seconds: int) -> datetime:
    """When a lease that ``began`` ends if it is asked for ``seconds`` more from ``now``."""
    return min(now + timedelta(seconds=seconds), began + timedelta(seconds=LONGEST_LEASE))
