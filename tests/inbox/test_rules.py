"""What a delivery is and what may be done with it, as tables, without a database."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from inbox import rules
from inbox.rules import ACKED, ARCHIVED, DEAD, LEASED, WAITING, Facts

NOW = datetime(2026, 3, 2, 12, 0, 0, tzinfo=UTC)
TICK = timedelta(microseconds=1)


def held(seconds: float = 60, attempts: int = 0, expires: float | None = None) -> Facts:
    """Held by the lease ``mine`` until so many seconds from now."""
    return Facts(LEASED, attempts, "mine", at(seconds), None if expires is None else at(expires))


def waiting(attempts: int = 0, expires: float | None = None, lease: str | None = None) -> Facts:
    return Facts(WAITING, attempts, lease, at(-60) if lease else None, None if expires is None else at(expires))


def at(seconds: float) -> datetime:
    return NOW + timedelta(seconds=seconds)


STATES = {
    "it waits": (waiting(), WAITING, ""),
    "it waits after four lapsed leases": (waiting(attempts=4), WAITING, ""),
    "it expires in a moment": (waiting(expires=1e-6), WAITING, ""),
    "it expires now": (waiting(expires=0), DEAD, rules.TOO_LATE),
    "it is held": (held(), LEASED, ""),
    "it is held for another moment": (held(1e-6), LEASED, ""),
    "its lease ends now": (held(0), WAITING, ""),
    "its lease ended long ago, before any sweep": (held(-9999), WAITING, ""),
    "its fifth lease is running": (held(attempts=4), LEASED, ""),
    "its fifth lease ends now": (held(0, attempts=4), DEAD, rules.EXHAUSTED),
    "its fourth lease ends now": (held(0, attempts=3), WAITING, ""),
    "it expired in the hand of its holder, who may still ack it": (held(expires=-9), LEASED, None),
    "it expired in the hand of a holder who let it go": (held(0, expires=-9), DEAD, rules.TOO_LATE),
    "its fifth lease lapsed, and it expired as well": (held(0, attempts=4, expires=-9), DEAD, rules.EXHAUSTED),
    "it is acked": (Facts(ACKED, expires_at=at(-9)), ACKED, None),
    "it was acked under a lease that has ended": (Facts(ACKED, 4, "mine", at(-9)), ACKED, None),
    "it is dead": (Facts(DEAD, 5), DEAD, None),
    "it is archived": (Facts(ARCHIVED, expires_at=at(-9)), ARCHIVED, None),
}


@pytest.mark.parametrize("case", STATES)
def test_what_a_delivery_is_follows_from_its_times(case):
    """``death`` is asked only of what is pending and in nobody's hand."""
    facts, state, why = STATES[case]
    assert rules.state(facts, NOW) == state
    if why is not None:
        assert rules.death(facts, NOW) == why


ACKS = {
    "of what waits, without a lease": (waiting(), None, "acked"),
    "of what waits, under a lease that lost it": (waiting(lease="mine"), "mine", "lease_expired"),
    "of what waits again after it was given back": (waiting(), "mine", "lease_expired"),
    "by its holder": (held(), "mine", "acked"),
    "by its holder in the last moment": (held(1e-6), "mine", "acked"),
    "by its holder when the lease ends": (held(0), "mine", "lease_expired"),
    "by its holder though it expired meanwhile": (held(expires=-9), "mine", "acked"),
    "of what another lease holds": (held(), "other", "held"),
    "of what a lease holds, without one": (held(), None, "held"),
    "without a lease once the holder's has ended": (held(0), None, "acked"),
    "of what died, without a lease": (waiting(expires=-9), None, "dead"),
    "of what died in one's hand": (held(0, attempts=4), "mine", "lease_expired"),
    "of what is dead, without a lease": (Facts(DEAD, 5), None, "dead"),
    "of what is dead, under the lease that lost it": (Facts(DEAD, 5, "mine", at(-9)), "mine", "lease_expired"),
    "a second time by the holder": (Facts(ACKED, 0, "mine", at(60)), "mine", "already_acked"),
    "a second time by the holder, long after": (Facts(ACKED, 0, "mine", at(-9999)), "mine", "already_acked"),
    "of what another holder acked": (Facts(ACKED, 1, "other", at(60)), "mine", "lease_expired"),
    "of what was acked without a lease": (Facts(ACKED), "mine", "lease_expired"),
    "without a lease of what was acked": (Facts(ACKED, 0, "other", at(60)), None, "already_acked"),
    "of what is archived": (Facts(ARCHIVED), None, "already_acked"),
    "of what is archived, by who acked it": (Facts(ARCHIVED, 0, "mine", at(-9)), "mine", "already_acked"),
}


@pytest.mark.parametrize("case", ACKS)
def test_an_ack(case):
    facts, lease, verdict = ACKS[case]
    assert rules.ack(facts, lease, NOW) == verdict


RELEASES = {
    "of what it holds": (held(), "mine", "released"),
    "of what expired in its hand": (held(expires=-9), "mine", "released"),
    "when the lease ends": (held(0), "mine", "not_held"),
    "of what another lease holds": (held(), "other", "not_held"),
    "of what waits": (waiting(), "mine", "not_held"),
    "of what is dead": (Facts(DEAD, 5, "mine", at(-9)), "mine", "not_held"),
    "of what was acked": (Facts(ACKED, 0, "mine", at(60)), "mine", "already_acked"),
    "of what is archived": (Facts(ARCHIVED), "mine", "already_acked"),
}


@pytest.mark.parametrize("case", RELEASES)
def test_a_release(case):
    facts, lease, verdict = RELEASES[case]
    assert rules.release(facts, lease, NOW) == verdict


HOURS = 3600
ENDS = {
    "two minutes from its begin": (0, 120, 120),
    "two minutes from when it is asked for": (60, 120, 180),
    "twelve hours, which is the most": (0, 12 * HOURS, 12 * HOURS),
    "twelve hours after its begin, however late it is asked": (11 * HOURS, 2 * HOURS, 12 * HOURS),
    "not a moment later": (12 * HOURS, 60, 12 * HOURS),
}


@pytest.mark.parametrize("case", ENDS)
def test_a_lease_ends(case):
    later, seconds, ends = ENDS[case]
    assert rules.lease_end(NOW, at(later), seconds) == at(ends)


def test_the_numbers_are_those_of_the_contract():
    """P20, P26, P27; the bounds of the design, section 5."""
    assert (rules.LARGEST_BODY, rules.MOST_WAITING, rules.MOST_BYTES) == (256 * 1024, 1000, 10 * 1024 * 1024)
    assert (rules.MOST_ATTEMPTS, rules.LEASE, rules.SHORTEST_LEASE, rules.LONGEST_LEASE) == (5, 120, 1, 12 * HOURS)
