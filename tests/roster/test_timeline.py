"""One agent's last day as segments: at their real times, without a gap that is known or a word that is not."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roster import queries, showing, states, timeline
from roster.models import Agent, Event
from tests import make

from .fleet import minutes, sweep

NOW = datetime(2026, 11, 30, 14, 0, tzinfo=UTC)
START = NOW - timedelta(hours=24)


def at(hour: float) -> datetime:
    """``hour`` hours after the picture begins; a negative one is before it."""
    return START + timedelta(hours=hour)


def edge(hour, before, after, since=None, kind="presence"):
    since = None if since is None else at(since)
    return SimpleNamespace(
        kind=kind, at=at(hour), before=before, before_since=since, after=after, by="sweep", reason="why"
    )


def claim(hour, before, after, since=None):
    said = [
        {"activity": word, "task": task or None} for word, _, task in (each.partition(":") for each in (before, after))
    ]
    return edge(hour, *said, since, kind="activity")


def present(word, hour=None):
    return states.Presence(word, None if hour is None else at(hour), "heartbeat", None, "computed")


def says(word, hour=None):
    return states.Activity(
        states.parse_status(word)[0], word, "heartbeat", None, since=None if hour is None else at(hour)
    )


def told(segments):
    """Segments as (from, to, word, task), in hours after the picture begins."""
    hour = timedelta(hours=1)
    return [
        (round((each.begin - START) / hour, 2), round((each.end - START) / hour, 2), each.word, each.task)
        for each in segments
    ]


PRESENCE = {
    "nothing was ever heard": ([], present("dormant"), []),
    "one word all day": ([], present("live", -3), [(0, 24, "live")]),
    "a word that began in the day, and nothing before it": ([], present("live", 20), [(20, 24, "live")]),
    "the last edge before the day tells the first word": (
        [edge(-5, "unknown", "live"), edge(10, "live", "dormant", -5)],
        present("dormant", 10),
        [(0, 10, "live"), (10, 24, "dormant")],
    ),
    "the first edge tells what was before it": (
        [edge(10, "live", "dormant", 4)], present("dormant", 10), [(4, 10, "live"), (10, 24, "dormant")]
    ),
    "the first edge does not know since when": ([edge(10, "unknown", "live")], present("live", 10), [(10, 24, "live")]),
    "an edge that no sweep has recorded yet": (
        [edge(2, "unknown", "live")], present("silent", 22), [(2, 22, "live"), (22, 24, "silent")]
    ),
    "an absence that no sweep recorded before the return": (
        [edge(-1, "unknown", "live"), edge(9, "dormant", "live", 6)],
        present("live", 9),
        [(0, 6, "live"), (6, 9, "dormant"), (9, 24, "live")],
    ),
    "a change whose time nobody knows leaves a hole": (
        [edge(1, "unknown", "live"), edge(9, "dormant", "live")], present("live", 9), [(9, 24, "live")]
    ),
    "a present word whose time nobody knows": ([edge(1, "unknown", "live")], present("unknown"), []),
    "there and gone within one beat": (
        [edge(3, "unknown", "live"), edge(3, "live", "dormant", 3)], present("dormant", 3), [(3, 24, "dormant")]
    ),
    "a clock that stepped back: the newer event holds": (
        [edge(8, "unknown", "live"), edge(12, "live", "dormant", 8), edge(5, "dormant", "live", 4)],
        present("live", 5),
        [(5, 24, "live")],
    ),
    "an edit that turned the word at once": (
        [edge(2, "live", "dormant", -9), edge(6, "dormant", "silent")],
        present("silent", 2),
        [(0, 2, "live"), (2, 6, "dormant"), (6, 24, "silent")],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PRESENCE)
def test_presence_is_drawn_as_it_was(name):
    events, word, expected = PRESENCE[name]
    assert told(timeline.presence(events, word, START, NOW)) == [(*each, "") for each in expected]


ALL_DAY = [("live", 0, 24)]
ACTIVITY = {
    "nothing said": ([], states.Activity("unknown", "", "heartbeat", None), None, ALL_DAY, []),
    "one claim since before the day": ([], says("idle", -2), None, ALL_DAY, [(0, 24, "idle", "")]),
    "task after task": (
        [claim(-2, "unknown", "working:a"), claim(5, "working:a", "working:b", -2), claim(8, "working:b", "idle", -2)],
        says("idle", 8), None, ALL_DAY,
        [(0, 5, "working", "a"), (5, 8, "working", "b"), (8, 24, "idle", "")],
    ),
    "where history begins late the task of the first claim is unknown": (
        [claim(8, "working:b", "idle", -2)], says("idle", 8), None, ALL_DAY,
        [(0, 8, "working", ""), (8, 24, "idle", "")],
    ),
    "a claim lapses with presence and is made anew": (
        [claim(-1, "unknown", "working:a")], says("working", 9), "a",
        [("live", 0, 6), ("dormant", 6, 9), ("live", 9, 24)],
        [(0, 6, "working", "a"), (9, 24, "working", "a")],
    ),
    "a silent agent's claim counts": (
        [claim(-1, "unknown", "working:a")], says("working", -1), "a", [("live", 0, 6), ("silent", 6, 24)],
        [(0, 24, "working", "a")],
    ),
    "gone: what it said last says nothing of now": (
        [claim(-1, "unknown", "error")], states.Activity("unknown", "error", "heartbeat", None), None,
        [("live", 0, 6), ("expired", 6, 24)], [(0, 6, "error", "")],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ACTIVITY)
def test_activity_is_drawn_as_it_was_said(name):
    events, word, task, there, expected = ACTIVITY[name]
    spans = [timeline.Segment(at(begin), at(end), each) for each, begin, end in there]
    assert told(timeline.activity(events, word, task, spans, START, NOW)) == expected


def test_a_damaged_event_costs_the_page_nothing():
    events = [edge(2, "live", None, 1, kind="activity"), claim(5, "unknown", "working:a")]
    there = [timeline.Segment(START, NOW, "live")]
    drawn = timeline.activity(events, says("working", 5), "a", there, START, NOW)
    assert told(drawn)[-1] == (5, 24, "working", "a")


def test_what_began_before_the_day_says_so():
    first, second = timeline.presence([edge(-5, "unknown", "live")], present("dormant", 10), START, NOW)
    assert (first.earlier, first.by, second.earlier, second.reason) == (True, "sweep", False, "computed")


moments = st.integers(-600, 1440).map(lambda n: START + minutes(n))
words = st.sampled_from(states.PRESENCES)
histories = st.lists(st.tuples(moments, words, st.none() | moments, words), max_size=12)


def in_order(segments):
    assert all(START <= each.begin < each.end <= NOW for each in segments)
    assert all(one.end <= other.begin for one, other in zip(segments, segments[1:], strict=False))


@given(histories, words, moments, st.lists(st.tuples(moments, st.sampled_from(["idle", "working", "error"]))))
def test_segments_never_overlap_and_end_with_the_word_that_is_shown(history, word, since, claims):
    """Whatever the events say, in whatever order: no clock and no journal can make two words hold at one time."""
    edges = [SimpleNamespace(kind="presence", at=a, before=b, before_since=s, after=w, by="", reason="")
             for a, b, s, w in history]  # fmt: skip
    drawn = timeline.presence(edges, states.Presence(word, since, "", None, ""), START, NOW)
    in_order(drawn)
    if since < NOW and all(each.at < NOW for each in edges):
        assert (drawn[-1].word, drawn[-1].end) == (word, NOW)
    said = [SimpleNamespace(kind="activity", at=a, before={"activity": "unknown", "task": None}, before_since=None,
                            after={"activity": w, "task": None}, by="", reason="") for a, w in claims]  # fmt: skip
    doing = timeline.activity(said, says("idle", 1), None, drawn, START, NOW)
    in_order(doing)
    there = [each for each in drawn if each.word in ("live", "silent")]
    assert all(any(span.begin <= each.begin and each.end <= span.end for span in there)
               or each.begin in {span.begin for span in there} for each in doing)  # fmt: skip


def lanes(slug, now):
    version, row = queries.member(slug, now)
    context = showing.agent(row, version, now)
    return {lane.name: [(place.segment.begin, place.segment.end, place.segment.word) for place in lane.places]
            for lane in context["lanes"]}, context  # fmt: skip


@pytest.mark.django_db
def test_the_lanes_of_a_real_history(now):
    """Heartbeats and sweeps as they come: an absence that the sweep recorded, one it did not, and one that is now."""
    _, token = make.agent("echo", now, status="working: notes", liveness_mode="async", expected_interval=600)
    sweep(now + minutes(30))
    make.beat(token, now + minutes(40), status="idle")
    make.beat(token, now + minutes(100), status="error")
    later = now + minutes(130)
    found, _ = lanes("echo", later)
    stops = [now, *(now + minutes(n) for n in (20, 40, 60, 100, 120))]
    spans = list(zip(stops, [*stops[1:], later], strict=True))
    assert found["presence"] == [(*span, word) for span, word in zip(spans, ["live", "dormant"] * 3, strict=True)]
    assert found["doing"] == [(*spans[0], "working"), (*spans[2], "idle"), (*spans[4], "error")]


@pytest.mark.django_db
def test_an_agent_that_says_much_is_drawn_as_far_as_the_newest_changes_reach(now):
    """3,000 changes in 50 minutes; the page reads and draws the newest."""
    make.agent("echo", now, status="working: 0", liveness_mode="async")
    agent = Agent.objects.get(slug="echo")
    Event.objects.bulk_create(
        Event(kind="activity", at=now + timedelta(seconds=n), agent=agent, by="echo", before_since=now,
              before={"activity": "working", "task": str(n - 1)}, after={"activity": "working", "task": str(n)})
        for n in range(1, 3001)
    )  # fmt: skip
    Agent.objects.update(status="working: 3000", task="3000")
    found, context = lanes("echo", now + minutes(55))
    newest = now + timedelta(seconds=3000)
    assert found["doing"][-1] == (newest, now + minutes(55), "working")
    assert len(found["doing"]) == showing.DRAWN + 1  # and what was said before the first of them
    assert len(context["events"]) == showing.LISTED
    assert context["drawn_since"] == newest - timedelta(seconds=showing.DRAWN - 1)
    assert found["presence"] == [(now, now + minutes(55), "live")]
