"""The sessions an agent named: late goodbyes (P16) and rivals (P15), without a database."""

import itertools
import random
from datetime import UTC, datetime, timedelta

import pytest

from roster import heard

NOW = datetime(2026, 3, 2, 12, 0, 0, tzinfo=UTC)


def at(seconds: float) -> datetime:
    return NOW + timedelta(seconds=seconds)


def told(*beats: tuple[str, float]) -> dict:
    """The mapping after heartbeats of (session, second)."""
    known: dict = {}
    for session, second in beats:
        known = heard.hear(known, session, f"host-of-{session}", at(second))
    return known


def test_a_beat_without_a_session_changes_nothing():
    known = told(("one", 0))
    assert heard.hear(known, None, "elsewhere", at(5)) is known
    assert heard.hear(known, "", None, at(5)) is known


def test_a_session_keeps_its_first_time_and_its_host():
    known = heard.hear(told(("one", 0)), "one", None, at(60))
    assert known == {"one": {"host": "host-of-one", "first": at(0).isoformat(), "last": at(60).isoformat()}}


def test_a_session_that_only_called_has_not_greeted_yet():
    """Its first heartbeat is still to come; once it came, a call takes nothing back."""
    called = heard.hear({}, "one", None, at(0), beat=False)
    assert not heard.greeted(called, "one") and not heard.greeted(heard.hear(called, "one", None, at(1), False), "one")
    greeted = heard.hear(called, "one", None, at(2))
    assert heard.greeted(greeted, "one") and heard.greeted(heard.hear(greeted, "one", None, at(3), False), "one")
    assert not heard.greeted(greeted, "two")


def test_only_the_sessions_heard_last_are_remembered():
    known = told(*((f"s{i}", i) for i in range(20)))
    assert list(known) == [f"s{i}" for i in range(12, 20)]
    assert len(known) == heard.REMEMBERED


def test_the_only_session_takes_the_agent_with_it():
    assert heard.sign_off(told(("one", 0)), "one") == ({}, True)


def test_a_goodbye_without_a_session_ends_them_all():
    assert heard.sign_off(told(("one", 0), ("two", 1)), None) == ({}, True)


def test_a_goodbye_of_an_unknown_session_ends_nobody_who_is_known():
    known = told(("two", 1))
    assert heard.sign_off(known, "one") == (known, False)
    assert heard.sign_off({}, "one") == ({}, True)


def test_a_late_goodbye_of_the_old_session_never_hides_the_new_one_F082():
    left, ends = heard.sign_off(told(("one", 0), ("two", 30)), "one")
    assert (list(left), ends) == (["two"], False)


def test_the_newer_session_ends_the_agent_where_the_older_one_fell_silent_before_it_began():
    assert heard.sign_off(told(("one", 0), ("two", 30)), "two")[1]
    assert not heard.sign_off(told(("one", 0), ("two", 30), ("one", 40)), "two")[1]


def test_late_sign_off_never_hides_a_newer_session_P16(soak):
    """Any order of beats of the old and the new session and of the old one's goodbye: once the new session has been
    heard, the old one's goodbye does not end the agent (1,000 permutations, each with beats of its own)."""
    dice, orders = random.Random(16), 0
    while orders < (20_000 if soak else 1_000):
        steps = ["old"] + [dice.choice(["old", "new"]) for _ in range(dice.randint(0, 5))] + ["new", "bye"]
        tail = steps[1:]
        dice.shuffle(tail)
        known, second, new_heard = {}, 0.0, False
        for step in ["old", *tail]:
            second += dice.choice([0.001, 1, 45])
            if step == "bye":
                known, ends = heard.sign_off(known, "old")
                assert ends != new_heard, (tail, known)
            else:
                known = heard.hear(known, step, None, at(second))
                new_heard |= step == "new"
        orders += 1


def test_two_sessions_that_speak_in_turn_are_rivals_with_their_hosts_P15():
    known = told(("one", 0), ("two", 1), ("one", 5))
    assert heard.rivals(known, at(6)) == [
        {"session": "two", "host": "host-of-two"},
        {"session": "one", "host": "host-of-one"},
    ]


def test_three_machines_with_one_token_are_three_rivals_F106():
    known = told(*((name, turn * 5 + i) for turn in range(3) for i, name in enumerate("abc")))
    assert {each["host"] for each in heard.rivals(known, at(20))} == {"host-of-a", "host-of-b", "host-of-c"}


def test_a_plain_restart_is_no_rivalry():
    assert heard.rivals(told(("one", 0), ("one", 5), ("two", 6), ("two", 11)), at(12)) == []
    assert heard.rivals(told(("one", 0)), at(1)) == []
    assert heard.rivals({}, at(1)) == []


def test_rivals_of_long_ago_are_none():
    known = told(("one", 0), ("two", 1), ("one", 5))
    assert heard.rivals(known, at(1) + heard.RECENT)
    assert heard.rivals(known, at(1) + heard.RECENT + timedelta(seconds=1)) == []


@pytest.mark.parametrize("order", list(itertools.permutations(["one", "two", "three"])))
def test_whoever_leaves_first_the_last_one_ends_the_agent(order):
    known = told(("one", 0), ("two", 0.5), ("three", 1), ("one", 2), ("two", 2), ("three", 2))
    for name in order[:-1]:
        known, ends = heard.sign_off(known, name)
        assert not ends
    assert heard.sign_off(known, order[-1]) == ({}, True)
