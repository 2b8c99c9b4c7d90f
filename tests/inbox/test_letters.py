"""A letter before it has a number: to whom, how large, and which letter it is under an Idempotency-Key."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest

from inbox.letters import Letter, addressed

ADDRESSES = {
    "one id": ("bob", (("bob",), False)),
    "ids, each once and in their order": (["bob", "ann", "bob", "cy"], (("bob", "ann", "cy"), False)),
    "ids that differ in case are different": (["bob", "Bob"], (("bob", "Bob"), False)),
    "a group": ("group:ops", (("group:ops",), True)),
    "everybody live": ("live", (("live",), True)),
    "an agent of that name": (["live"], (("live",), False)),
    "an id that begins like a group": ("groups", (("groups",), False)),
    "in a list a group is an id, and no id looks so": (["group:ops"], (("group:ops",), False)),
}


@pytest.mark.parametrize("case", ADDRESSES)
def test_to_names(case):
    asked, meant = ADDRESSES[case]
    assert addressed(asked) == meant


def test_the_group_of_a_letter_is_told_from_everybody():
    assert Letter(("group:ops",), "x", many=True).group == "ops"
    assert Letter(("live",), "x", many=True).group is None
    assert Letter(("bob",), "x").group is None


def test_a_body_counts_in_bytes():
    assert [Letter(("bob",), body).size for body in ("abc", "žeň", "日本", "")] == [3, 5, 6, 0]


LETTER = Letter(("bob", "ann"), "body", "subject", 7, "high", datetime(2026, 3, 2, 12, tzinfo=UTC))
OTHERS = {
    "another recipient": {"to": ("bob", "cy")},
    "one recipient less": {"to": ("bob",)},
    "another order of recipients": {"to": ("ann", "bob")},
    "another body": {"body": "body "},
    "another subject": {"subject": "Subject"},
    "another parent": {"in_reply_to": 8},
    "no parent": {"in_reply_to": None},
    "another importance": {"importance": "low"},
    "another expiry": {"expires_at": LETTER.expires_at + timedelta(microseconds=1)},
    "no expiry": {"expires_at": None},
    "to many": {"many": True},
    "the subject's words in the body": {"body": "bodysubject", "subject": ""},
}


@pytest.mark.parametrize("other", OTHERS)
def test_a_letter_that_differs_in_anything_is_another_letter_p28(other):
    assert replace(LETTER, **OTHERS[other]).digest() != LETTER.digest()


def test_the_same_letter_is_the_same_letter_p28():
    assert replace(LETTER).digest() == LETTER.digest()
    assert len(LETTER.digest()) == 64


def test_an_expiry_is_the_same_moment_in_any_zone_p28():
    """A client may write it with another offset when it tries again."""
    there = LETTER.expires_at.astimezone(timezone(timedelta(hours=2)))
    assert replace(LETTER, expires_at=there).digest() == LETTER.digest()
