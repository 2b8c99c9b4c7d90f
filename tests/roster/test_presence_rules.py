"""Presence is one pure function over facts: every rule, and each boundary to the microsecond."""

from datetime import UTC, datetime, timedelta

import pytest

from roster import states
from roster.states import Facts, presence

NOW = datetime(2026, 3, 2, 12, 0, 0, tzinfo=UTC)
TICK = timedelta(microseconds=1)
LATE = timedelta(seconds=1)


def facts(mode="async", age=60, interval=1800, ttl=3600, **more):
    """Facts of an agent that was heard ``age`` seconds ago."""
    at = NOW - timedelta(seconds=age)
    base = {"evidence_at": at, "evidence_source": "heartbeat", "live_since": at}
    whole = not states.fault(Facts(mode, interval, ttl))
    deadline = at + states.window(mode, interval, ttl) if whole else NOW + LATE
    return Facts(mode, interval, ttl, **(base | {"deadline": deadline} | more))


CASES = {
    # rule 2: own evidence inside its window
    "an ephemeral agent heard within its ttl": (facts("ephemeral", 3599), "live"),
    "an ephemeral agent exactly at its ttl": (facts("ephemeral", 3600), "live"),
    "an async agent heard within twice its interval": (facts("async", 3599), "live"),
    "an async agent exactly at twice its interval": (facts("async", 3600), "live"),
    "an always-on agent exactly at twice its interval": (facts("always-on", 3600), "live"),
    "an async agent does not look at its ttl": (facts("async", 3000, ttl=5), "live"),
    "an ephemeral agent does not look at its interval": (facts("ephemeral", 3000, interval=5), "live"),
    "evidence newer than the sign-off": (facts(signed_off_at=NOW - timedelta(seconds=61)), "live"),
    "evidence from a clock that was ahead": (facts(age=-30), "live"),
    "a deadline moved by hub downtime": (facts(age=9000, deadline=NOW + LATE), "live"),
    # rule 4: the window passed, or signed off
    "an ephemeral agent after its ttl": (facts("ephemeral", 3601), "expired"),
    "an async agent after twice its interval": (facts("async", 3601), "dormant"),
    "an always-on agent after twice its interval": (facts("always-on", 3601), "silent"),
    "an async agent that signed off": (facts(signed_off_at=NOW), "dormant"),
    "an ephemeral agent that signed off": (facts("ephemeral", signed_off_at=NOW), "expired"),
    "an always-on agent that signed off": (facts("always-on", signed_off_at=NOW), "silent"),
    "a sign-off in the same instant as the evidence": (facts(signed_off_at=NOW - timedelta(seconds=60)), "dormant"),
    "a lapsed ephemeral with a profile of a member": (facts("ephemeral", 3601, profile_mode="async"), "dormant"),
    "a lapsed ephemeral with an ephemeral profile": (facts("ephemeral", 3601, profile_mode="ephemeral"), "expired"),
    "a profile never softens an always-on agent": (facts("always-on", 3601, profile_mode="async"), "silent"),
    # rules 5 and 6: no evidence at all
    "an async agent never heard": (Facts("async"), "dormant"),
    "an ephemeral agent never heard, whose profile makes it a member": (
        Facts("ephemeral", profile_mode="async"),
        "dormant",
    ),
    "an always-on agent never heard": (Facts("always-on"), "dormant"),
    "an ephemeral agent never heard": (Facts("ephemeral"), "unknown"),
    "a profile of an async member": (Facts(None, profile_mode="async"), "dormant"),
    "a profile of an always-on member": (Facts(None, profile_mode="always-on"), "dormant"),
    "an ephemeral profile": (Facts(None, profile_mode="ephemeral"), "unknown"),
    "a profile without a mode": (Facts(None), "unknown"),
    # facts that cannot be judged
    "an unknown mode": (facts("weird"), "unknown"),
    "no interval": (facts(interval=None), "unknown"),
    "an interval of 0": (facts(interval=0), "unknown"),
    "a negative interval": (facts(interval=-5), "unknown"),
    "an absurd interval": (facts(interval=10**12), "unknown"),
    "no ttl": (facts("ephemeral", ttl=None), "unknown"),
    "a ttl of 4 s": (facts("ephemeral", ttl=4), "unknown"),
    "evidence without a deadline": (facts(deadline=None), "unknown"),
}


@pytest.mark.parametrize(("given", "expected"), CASES.values(), ids=CASES)
def test_the_first_rule_that_matches_gives_the_word(given, expected):
    assert presence(given, NOW).word == expected


@pytest.mark.core
@pytest.mark.parametrize("mode", states.MODES)
@pytest.mark.parametrize("window", [5, 60, 1800, states.LONGEST])
def test_the_window_is_live_at_its_deadline_and_over_one_microsecond_later(mode, window):
    heard = Facts(mode, window, window, evidence_at=NOW, deadline=NOW + states.window(mode, window, window))
    assert presence(heard, heard.deadline).word == "live"
    assert presence(heard, heard.deadline + TICK).word == states.WHEN_GONE[mode]


def test_twice_the_interval_is_the_window_of_members_and_the_ttl_that_of_ephemerals():
    assert states.window("async", 1800, 60) == timedelta(minutes=60)
    assert states.window("always-on", 30, 60) == timedelta(minutes=1)
    assert states.window("ephemeral", 1800, 3600) == timedelta(hours=1)


def test_a_live_word_names_its_source_its_age_and_its_end():
    found = presence(facts(age=90), NOW)
    assert (found.source, found.as_of) == ("heartbeat", NOW - timedelta(seconds=90))
    assert (found.since, found.verified) == (NOW - timedelta(seconds=90), False)
    assert found.deadline == NOW + timedelta(seconds=3510)
    assert found.reason == "heard within 1 h"


def test_being_gone_begins_at_the_deadline_not_at_the_look():
    lapsed = facts(age=7200)
    assert presence(lapsed, NOW).since == lapsed.deadline
    assert presence(lapsed, NOW).reason == "nothing heard for 1 h"


def test_signed_off_and_lost_contact_are_told_apart_F125():
    """The word is the same; since and why differ, and a week later the first still has not become the second."""
    left = facts(signed_off_at=NOW - timedelta(seconds=10))
    for later in (NOW, NOW + timedelta(hours=1), NOW + timedelta(days=7)):
        assert (presence(left, later).word, presence(left, later).reason) == ("dormant", "signed off")
        assert presence(left, later).since == left.signed_off_at
    assert presence(facts(age=3601), NOW).reason.startswith("nothing heard")


def test_never_seen_is_told_apart_from_last_seen_at_a_time_F120():
    never = presence(Facts("async"), NOW)
    assert (never.word, never.as_of, never.since, never.reason) == ("dormant", None, None, "never seen")
    assert presence(facts(age=3601), NOW).as_of is not None


def test_a_member_whose_entry_lapsed_is_known_by_its_profile():
    found = presence(facts("ephemeral", 3601, profile_mode="always-on"), NOW)
    assert (found.word, found.source) == ("dormant", "kb_profile")


def test_facts_that_cannot_be_judged_say_why_and_never_raise():
    assert presence(facts("weird"), NOW).reason == "the stored mode is not one the hub knows"
    assert presence(facts(interval=0), NOW).reason == "the stored expected interval is out of bounds"
    assert presence(facts("ephemeral", ttl=10**12), NOW).reason == "the stored ttl is out of bounds"
    assert presence(facts(deadline=None), NOW).reason == "the stored deadline is missing"


@pytest.mark.parametrize("seconds", [states.SHORTEST, states.LONGEST])
def test_the_bounds_themselves_are_no_fault(seconds):
    assert states.fault(facts(interval=seconds, ttl=seconds)) == ""
    assert states.fault(facts(interval=states.SHORTEST - 1))
    assert states.fault(facts(interval=states.LONGEST + 1))
