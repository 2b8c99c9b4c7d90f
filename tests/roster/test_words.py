"""The vocabularies: what a status word means, and what old readers and people get to read."""

from datetime import timedelta

import pytest

from roster import states

STATUSES = {
    "idle": ("idle", None),
    "busy": ("working", None),
    "working": ("working", None),
    "error": ("error", None),
    "working: release notes": ("working", "release notes"),
    "working:release notes": ("working", "release notes"),
    "Working: A:B": ("working", "A:B"),
    "  IDLE ": ("idle", None),
    "working:": ("working", None),
    "working:   ": ("working", None),
    "dormant": ("unknown", None),
    "compiling": ("unknown", None),
    "idle: not a task": ("unknown", None),
    "error: not a task": ("unknown", None),
    "": ("unknown", None),
    ":": ("unknown", None),
}


@pytest.mark.parametrize(("raw", "expected"), STATUSES.items())
def test_a_status_word_reads_as_one_of_the_canonical_ones(raw, expected):
    assert states.parse_status(raw) == expected


OLD = [
    ("idle", None, "live", "idle"),
    ("done", None, "live", "idle"),
    ("working", None, "live", "busy"),
    ("working", "release notes", "live", "working: release notes"),
    ("blocked", None, "live", "busy"),
    ("awaiting", None, "live", "busy"),
    ("error", None, "live", "error"),
    ("unknown", None, "live", "unknown"),
    ("working", "release notes", "silent", "working: release notes"),
    ("unknown", None, "dormant", "dormant"),
    ("unknown", None, "expired", "dormant"),
    ("unknown", None, "unknown", "unknown"),
]


@pytest.mark.parametrize(("value", "task", "word", "expected"), OLD)
def test_old_readers_get_one_word_that_they_know(value, task, word, expected):
    assert states.old_word(value, task, word) == expected


def test_what_an_old_writer_sent_comes_back_in_the_same_form():
    """R21: ``working: <task>`` is taken apart and put together again."""
    value, task = states.parse_status("working: release notes")
    assert states.old_word(value, task, "live") == "working: release notes"


@pytest.mark.parametrize("word", states.PRESENCES)
def test_a_claim_counts_only_while_its_speaker_is_there(word):
    """R29, R25: gone agents do nothing known; an always-on one keeps its claim. The raw word is always kept."""
    found = states.activity("working: tests", None, word)
    assert found.value == ("working" if word in ("live", "silent") else "unknown")
    assert found.raw == "working: tests" and not found.verified


def test_attention_follows_from_the_activity():
    assert [states.attention(each) for each in ("blocked", "awaiting", "error")] == ["high"] * 3
    assert {states.attention(each) for each in ("idle", "working", "done", "unknown", "?")} == {"none"}


# body liveness_mode, body permanent, stored, profile -> the mode that holds (R12 to R17, D5)
MODES = [
    (None, None, None, None, "ephemeral"),
    (None, False, None, None, "ephemeral"),
    (None, True, None, None, "always-on"),
    ("async", True, None, None, "async"),
    ("ephemeral", True, "always-on", "async", "ephemeral"),
    (None, None, "async", None, "async"),
    (None, False, "always-on", None, "always-on"),
    (None, True, "async", None, "always-on"),
    (None, None, None, "async", "async"),
    (None, False, None, "always-on", "always-on"),
    (None, None, "ephemeral", "async", "ephemeral"),
]


@pytest.mark.parametrize(("said", "permanent", "stored", "profile", "expected"), MODES)
def test_the_mode_is_the_bodys_then_permanent_then_stored_then_the_profiles(said, permanent, stored, profile, expected):
    assert states.choose_mode(said, permanent, stored, profile) == expected


SPANS = {
    0: "0 s",
    0.4: "0 s",
    1: "1 s",
    59.6: "1 min",
    60: "1 min",
    61: "1 min 1 s",
    3600: "1 h",
    3661: "1 h 1 min",
    86400: "1 d",
    90000: "1 d 1 h",
    86400 + 60: "1 d 1 min",
}


@pytest.mark.parametrize(("seconds", "expected"), SPANS.items())
def test_a_span_is_said_in_its_two_largest_units(seconds, expected):
    assert states.words(timedelta(seconds=seconds)) == expected


@pytest.mark.parametrize("slug", ["a", "9lives", "dotnet-4.8-expert", "a_b", "a" * 64, "0.1-x"])
def test_a_legal_id_is_lower_case_with_dots_dashes_and_underlines(slug):
    assert states.SLUG.fullmatch(slug)


@pytest.mark.parametrize("slug", ["", "A", "-a", ".a", "_a", "a b", "a/b", "no:de", "élan", 'x"y', "a" * 65, "a\n"])
def test_any_other_id_is_refused(slug):
    assert not states.SLUG.fullmatch(slug)
