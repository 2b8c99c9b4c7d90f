from datetime import UTC, datetime, timedelta, timezone

import pytest
from django.template import Context, Template

from roster.templatetags.agora import age_words, clock_words, duration, facts, plain, sign, source, stamp

from .fakes import NOW, back, row


def render(source_text, **context):
    return Template("{% load agora %}" + source_text).render(Context({"now": NOW, **context}))


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (-5, "now"), (0, "now"), (0.9, "now"), (1, "1 s ago"), (59.9, "59 s ago"), (60, "1 min ago"),
        (3599, "59 min ago"), (3600, "1 h ago"), (86399, "23 h ago"), (86400, "1 d ago"), (400 * 86400, "400 d ago"),
    ],
)  # fmt: skip
def test_an_age_is_said_in_one_unit_rounded_down(seconds, words):
    assert age_words(seconds) == words


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (None, "–"), (0, "0 s"), (5, "5 s"), (90, "1 min 30 s"), (1800, "30 min"), (5400, "1 h 30 min"),
        (86400, "1 d"), (90061, "1 d 1 h"), (86400 + 60, "1 d"), (-420, "7 min"),
    ],
)  # fmt: skip
def test_a_span_is_said_in_at_most_two_neighbouring_units(seconds, words):
    assert duration(seconds) == words


def test_ago_gives_the_words_the_exact_time_and_a_mark_for_the_script():
    assert render("{% ago t %}", t=back(hours=3)) == (
        '<time datetime="2026-11-30T11:20:00.000Z" title="2026-11-30 11:20:00 UTC" data-ago>3 h ago</time>'
    )
    assert "data-ago data-seen>" in render('{% ago t "seen" %}', t=back(hours=3))


def test_ago_says_never_where_there_is_no_time():
    assert render("{% ago t %}", t=None) == "<time data-ago>never</time>"


def test_ago_counts_from_the_clock_when_the_page_names_no_now():
    moment = datetime.now(UTC) - timedelta(hours=2)
    assert ">2 h ago<" in Template("{% load agora %}{% ago t %}").render(Context({"t": moment}))


def test_when_says_the_date_only_where_it_is_not_today():
    assert ">14:02 UTC<" in render("{% when t %}", t=NOW.replace(hour=14, minute=2))
    assert clock_words(NOW - timedelta(days=2), NOW) == "28 Nov 14:20 UTC"
    assert clock_words(NOW.replace(year=2025), NOW) == "30 Nov 2025 14:20 UTC"


def test_times_of_other_zones_are_written_in_utc():
    moment = datetime(2026, 11, 30, 16, 2, tzinfo=timezone(timedelta(hours=2)))
    assert ">14:02 UTC<" in render("{% when t %}", t=moment)
    assert stamp(moment) == "2026-11-30T14:02:00.000Z"
    assert stamp(None) == ""


def test_foreign_text_is_escaped_and_its_direction_kept_to_itself():
    assert plain("<img src=x onerror=y> \"'&") == "<bdi>&lt;img src=x onerror=y&gt; &quot;&#x27;&amp;</bdi>"
    assert render("{{ t|plain }}", t="<b>") == "<bdi>&lt;b&gt;</bdi>"


UNSEEN = ["\x00", "\x1b", "\x7f", "\x9b", "\u202e", "\u2066", "\u200f", "\ufeff", "\U000e0041"]


@pytest.mark.parametrize("unseen", UNSEEN)
def test_characters_one_cannot_see_are_shown_as_symbols(unseen):
    shown = plain(f"a{unseen}b")
    assert unseen not in shown
    assert len(shown) == len("<bdi>a?b</bdi>")


def test_a_lone_surrogate_is_shown_and_the_page_can_be_encoded():
    assert plain("a\ud800b").encode() == "<bdi>a\ufffdb</bdi>".encode()


def test_joined_emoji_and_other_scripts_stay_as_they_are():
    text = "👩\u200d💻 שלום مرحبا"
    assert plain(text) == f"<bdi>{text}</bdi>"


def test_long_text_is_cut_and_stays_readable_in_the_title():
    assert plain("abcdefgh", 5) == '<bdi title="abcdefgh">abcd…</bdi>'
    assert plain("abcde", 5) == "<bdi>abcde</bdi>"
    assert len(plain("x" * 100_000, 20)) < 2100


def test_cutting_never_cuts_an_escape_in_two():
    assert plain("<<<<<<", 4) == '<bdi title="&lt;&lt;&lt;&lt;&lt;&lt;">&lt;&lt;&lt;…</bdi>'


def test_nothing_and_numbers_are_shown_as_text():
    assert plain(None) == "<bdi></bdi>"
    assert plain(7) == "<bdi>7</bdi>"


@pytest.mark.parametrize("word", ["live", "silent", "dormant", "expired", "unknown", "disabled"])
def test_each_word_has_its_own_sign_and_the_page_carries_its_shape(word):
    from django.template.loader import render_to_string

    drawn = sign(word)
    assert f'class="sign sign-{word}"' in drawn and f'href="#sign-{word}"' in drawn
    assert f'id="sign-{word}"' in render_to_string("_signs.html")


def test_a_row_shows_the_sign_it_names_and_a_strange_word_the_question_mark():
    assert "sign-disabled" in sign(row(enabled=False))
    assert "sign-unknown" in sign('"><script>')


def test_sources_are_said_in_words_and_strange_ones_as_sent():
    assert source("own_call") == "a call it made"
    assert source("tele\x1bpathy") == "tele␛pathy"
    assert render("{{ s|source }}", s="<b>") == "&lt;b&gt;"


def test_a_recorded_change_is_said_in_one_line():
    assert facts({"activity": "working", "task": None}) == "activity working, task none"
    assert facts({"mode": {"from_hub": True}, "names": ["a", "b"]}) == "mode from hub yes, names a, b"
    assert facts("dormant") == "dormant"
    assert facts(0) == "0" and facts(None) == "none"
