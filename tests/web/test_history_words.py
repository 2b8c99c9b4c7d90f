"""Each kind of event in words: what happened, what changed by it, since when it had been otherwise."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path

import pytest

from roster.models import Agent, Event
from roster.templatetags.told import KINDS, WHAT, kind, told

ROOMS = [Path(__file__).parents[2] / room for room in ("roster", "inbox")]
ECHO = Agent(slug="echo")


def words(kind: str, before=None, after=None, by="echo", reason="", agent=ECHO, **more):
    said = told(Event(kind=kind, before=before, after=after, by=by, reason=reason, agent=agent, **more))
    return said.what, said.change, said.by, said.reason


def says(activity, task=None):
    return {"activity": activity, "task": task}


TOLD = [
    (("presence", "live", "dormant", "sweep", "quiet"), ("went dormant", "live → dormant", "a sweep", "quiet")),
    (("presence", "unknown", "live", "echo", "first heard"), ("was first heard", "unknown → live", "itself", "")),
    (("presence", "live", "silent", "sweep"), ("went silent", "live → silent", "a sweep", "")),
    (("presence", "live", "expired", "echo", "signed off"),
     ("left the roster", "live → expired", "itself", "signed off")),
    (("activity", says("idle"), says("working", "notes")), ("says working", "idle → working: notes", "itself", "")),
    (("activity", says("working", "a"), says("working", "b")),
     ("says working", "working: a → working: b", "itself", "")),
    (("disabled", {"enabled": True}, {"enabled": False, "prompts_answered": 2}, "mira", "maintenance"),
     ("was disabled", "enabled yes → no, prompts answered 2", "mira", "maintenance")),
    (("disabled", {"enabled": True}, {"enabled": False, "prompts_answered": 0}, "mira", "x"),
     ("was disabled", "enabled yes → no", "mira", "x")),
    (("signed_off", None, {"session": None}), ("signed off", "", "itself", "")),
    (("settings", {"liveness_mode": "async", "ttl": 60}, {"liveness_mode": "async", "ttl": 5400}),
     ("changed its settings", "ttl 1 min → 1 h 30 min", "itself", "")),
    (("clock_skew", None, -720.5), ("has a clock that is off", "12 min behind", "itself", "")),
    (("clock_skew", None, 2.0), ("has its clock right again", "2 s ahead", "itself", "")),
    (("registered", None, {"liveness_mode": "async", "expected_interval": 1800, "ttl": None}, "mira"),
     ("was registered", "liveness mode async, expected interval 30 min", "mira", "")),
    (("role_given", "", "viewer", "ada"), ("role changed", "viewer", "ada", "")),
    (("role_given", "viewer", "manager", "ada"), ("role changed", "viewer → manager", "ada", "")),
    (("token_revoked", {"kind": "agent", "prefix": "agora_a_x"}, None, "ada", "lost"),
     ("token revoked", "kind agent, prefix agora_a_x", "ada", "lost")),
    (("profile_edited", {"body": "one\ntwo"}, {"body": "x " * 90}, "ada"),
     ("profile edited", f"body one two → {('x ' * 90)[:47].rstrip()}…", "ada", "")),
    (("hub_started", {"down_since": None}, {"deadlines_moved": 3}, "hub", "", None),
     ("the hub started", "deadlines moved 3", "the hub", "")),
    (("mail_dead", None, {"messages": [8]}, "hub", "expired"), ("mail not delivered", "#8", "the hub", "expired")),
    (("mail_archived", None, {"messages": [8, 12]}, "ada"), ("mail put away", "#8, #12", "ada", "")),
    (("a_later_kind", None, {"n": 1}), ("a later kind", "n 1", "itself", "")),
]  # fmt: skip


@pytest.mark.parametrize(("event", "expected"), TOLD, ids=[f"{event[0]}-{n}" for n, (event, _) in enumerate(TOLD)])
def test_an_event_is_told_in_words(event, expected):
    assert words(*event) == expected


def test_an_edge_tells_since_when_it_had_been_otherwise(now):
    event = Event(kind="presence", before="dormant", after="live", before_since=now - timedelta(hours=5), at=now,
                  reason="was dormant since 2026-03-02T07:00:00Z", by="echo", agent=ECHO)  # fmt: skip
    said = told(event)
    assert (said.since.what, said.since.seconds, said.reason) == ("dormant", 5 * 3600, "")


def test_a_start_of_the_hub_tells_since_when_it_was_down(now):
    down = (now - timedelta(minutes=7)).isoformat()
    said = told(Event(kind="hub_started", before={"down_since": down}, after={"deadlines_moved": 0}, by="hub", at=now))
    assert (said.since.what, said.since.seconds) == ("down", 420)


def test_every_kind_of_event_that_the_hub_writes_has_words_and_a_place_among_the_filters():
    written = set()
    for path in (each for room in ROOMS for each in room.rglob("*.py")):
        written |= set(re.findall(r'(?:happened|\.note)\(\s*"(\w+)"', path.read_text()))
    assert len(written) > 10, "the pattern finds nothing, so it proves nothing"
    assert written <= set(WHAT)
    assert sorted(name for names in KINDS.values() for name in names) == sorted(WHAT)


def test_a_filter_calls_a_kind_of_event_as_its_events_do():
    assert kind("inbox_looked_at") == words("inbox_looked_at")[0] == "mail looked at"
    assert (kind("activity"), kind("presence"), kind("a_later_kind")) == ("what it says", "presence", "a later kind")
