"""Spans, durations and text made harmless."""

import pytest

from agora_node import clock
from agora_node.words import doing, harmless, parse_duration, presence, span


@pytest.mark.parametrize(
    "text, seconds", [("45", 45), ("45s", 45), ("30m", 1800), ("30 min", 1800), ("2h", 7200), ("1d", 86400)]
)
def test_a_duration_is_read(text, seconds):
    assert parse_duration(text) == seconds


@pytest.mark.parametrize("text", ["", "0", "0s", "-5", "1.5h", "h", "5x", "1h30m", "\u0663s"])
def test_what_is_no_duration_is_refused(text):
    with pytest.raises(ValueError, match="not a duration"):
        parse_duration(text)


@pytest.mark.parametrize(
    "seconds, text", [(-3, "0 s"), (45, "45 s"), (95, "2 min"), (1795, "30 min"), (7200, "2 h"), (259200, "3 d")]
)
def test_a_span_is_told_in_its_largest_unit(seconds, text):
    assert span(seconds) == text


@pytest.mark.parametrize(
    "text, shown",
    [
        ("plain caf\u00e9 \u4e2d", "plain caf\u00e9 \u4e2d"),
        ("\x1b[31m", "\\x1b[31m"),
        ("a\nb", "a\\x0ab"),
        ("\u202eabc", "\\u202eabc"),
        ("\u2028", "\\u2028"),
        ("\x9b", "\\x9b"),
        ("\U000e0041", "\\U000e0041"),
        (7, "7"),
    ],
)
def test_text_is_made_harmless_and_stays_readable(text, shown):
    assert harmless(text) == shown


def test_switch_and_employment_stand_beside_presence_and_never_replace_it():
    agent = {"presence": "live", "enabled": False, "disabled": {"by": "mira"}, "lifecycle": "draining"}
    assert presence(agent, None) == "live; disabled by mira; draining"


def test_an_expired_agent_is_gone():
    assert presence({"presence": "expired"}, None) == "gone"


def test_seen_stands_plain_and_said_is_marked():
    activity = {"value": "working", "verified": True}
    assert doing({"activity": activity, "task": "notes"}) == "working: notes"
    assert doing({"activity": {**activity, "verified": False}, "task": "notes"}) == "says working: notes"


def test_a_word_the_hub_does_not_know_is_shown_as_it_was_said():
    assert doing({"activity": {"value": "unknown", "raw": "purring", "verified": False}}) == 'says "purring"'
    assert doing({"activity": {"value": "unknown", "raw": None}}) == "-"


def test_the_clock_for_waiting_never_runs_backwards_and_a_wait_is_not_cut_short():
    begun = clock.elapsed()
    clock.wait(0.05)
    assert clock.elapsed() - begun >= 0.05
