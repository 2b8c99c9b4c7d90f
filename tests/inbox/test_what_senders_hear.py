"""A sender always learns how each recipient stands, and why a letter was not sent (R74, P25, D20)."""

from __future__ import annotations

import pytest

from inbox import rules
from inbox.models import MailGroup, Message
from roster.errors import Expired, Full, NobodyThere, NotFound, Retired
from roster.models import Agent
from roster.services import registry, tokens
from tests import make
from tests.inbox import post
from tests.roster.fleet import hours, minutes

pytestmark = pytest.mark.django_db


@pytest.fixture
def fleet(now) -> str:
    """The token of the sender, among recipients in every state."""
    _, token = make.agent("echo", now)
    make.agent("awake", now, liveness_mode="async")
    make.agent("mute", now - hours(3), liveness_mode="always-on")
    make.agent("away", now - hours(3), liveness_mode="async")
    make.agent("clone", now - hours(3), liveness_mode="ephemeral")
    make.agent("gone", now, liveness_mode="async")
    make.agent("off", now, liveness_mode="async")
    make.agent("parting", now, liveness_mode="async")
    registry.enrolled_by_hand("clone-to-be", {}, by="mira", now=now)
    registry.enrolled_by_hand("hired", {"liveness_mode": "async"}, by="mira", now=now)
    change("gone", lifecycle="retired", lifecycle_since=now - hours(1))
    change("off", enabled=False, disabled_by="mira", disabled_reason="a loop", disabled_at=now)
    change("parting", lifecycle="draining")
    return token


def change(slug: str, **columns) -> None:
    """What the services of the employment verbs will do."""
    Agent.objects.filter(slug=slug).update(**columns)


def fill(token: str, slug: str, now, monkeypatch, most: int = 1) -> None:
    monkeypatch.setattr(rules, "MOST_WAITING", most)
    for _ in range(most):
        post.send(token, slug, now)


TOLD = {
    "awake": ("live", "live", "queued; awake is live"),
    "mute": ("silent", "silent", "queued; mute is silent since 2026-03-02T10:00:00Z and reads it when it returns"),
    "away": ("dormant", "dormant", "queued; away is dormant since 2026-03-02T10:00:00Z and reads it when it returns"),
    "hired": ("dormant", "dormant", "queued; hired was never here; it is read when hired first comes"),
    "clone-to-be": (
        "unknown",
        "unknown",
        "queued; clone-to-be was never here; it is read when clone-to-be first comes",
    ),
    "off": ("live", "disabled", "queued; off was disabled by mira: a loop, and reads nothing until it is enabled"),
    "parting": ("live", "draining", "queued; parting is finishing its work and leaves the fleet then"),
}


@pytest.mark.parametrize("slug", TOLD)
def test_each_state_of_a_recipient_has_its_word_and_its_sentence_p25(now, fleet, slug):
    """Six codes, one each; the letter is kept in all of them."""
    told = post.line(post.send(fleet, slug, now))
    assert (told["recipient_presence"], told["code"], told["note"]) == TOLD[slug]
    assert (told["to"], told["addressed_as"], told["state"]) == (slug, slug, "waiting")
    assert post.states(slug) == {1: "waiting"}


def test_the_codes_of_the_states_are_distinct_p25():
    assert {code for _, code, _ in TOLD.values()} == {"live", "silent", "dormant", "unknown", "disabled", "draining"}


def test_a_retired_recipient_is_told_of_with_since_when_d20_p25(now, fleet):
    """410; one that is finishing its work still gets mail (above)."""
    with pytest.raises(Retired) as why:
        post.send(fleet, "gone", now)
    assert why.value.message == "Nothing was sent: gone is retired since 2026-03-02T11:00:00.000Z."
    assert (why.value.status, why.value.code) == (410, "retired")
    since = "2026-03-02T11:00:00.000Z"
    assert why.value.detail == {"to": "gone", "since": since, "reason": "", "successor": None}


@pytest.mark.parametrize("call", ["send", "drain"])
def test_who_is_retired_neither_writes_nor_takes_mail_and_who_is_draining_does_both_d20(now, fleet, call):
    """Its mail stays where it is, and the token still reads."""
    raws = {
        slug: tokens.issue("agent", by="mira", now=now, agent=Agent.objects.get(slug=slug))
        for slug in ("gone", "parting")
    }
    act = {
        "send": lambda slug: post.send(raws[slug], "awake", now),
        "drain": lambda slug: post.drain(raws[slug], slug, now),
    }
    assert act[call]("parting")
    with pytest.raises(Retired):
        act[call]("gone")


def test_an_expired_recipient_is_told_of_with_when_it_was_last_seen_p25(now, fleet):
    with pytest.raises(Expired) as why:
        post.send(fleet, "clone", now)
    seen = "2026-03-02T09:00:00.000Z"
    assert why.value.message == f"Nothing was sent: clone was ephemeral and left the roster; it was last seen {seen}."
    assert (why.value.status, why.value.detail) == (404, {"to": "clone", "last_seen": seen})


def test_an_expired_recipient_whose_profile_makes_it_a_member_gets_its_mail_p25(now, fleet):
    make.profile("clone", now, liveness_mode="async")
    assert post.line(post.send(fleet, "clone", now))["code"] == "dormant"


def test_a_full_inbox_is_told_of_with_what_it_holds_and_may_hold_f076(now, fleet, monkeypatch):
    fill(fleet, "away", now, monkeypatch)
    with pytest.raises(Full) as why:
        post.send(fleet, "away", now + minutes(1))
    assert why.value.message == (
        "Nothing was sent: the inbox of away is full: 1 message (5 bytes) not acked, the oldest sent "
        "2026-03-02T12:00:00.000Z; it holds 1 and 10 MB at most."
    )
    assert (why.value.status, why.value.code, why.value.retry_after) == (429, "inbox_full", 60)
    assert why.value.detail == {
        "to": "away", "pending": 1, "bytes": 5, "oldest": "2026-03-02T12:00:00.000Z",
        "most": {"pending": 1, "bytes": 10 * 1024 * 1024},
    }  # fmt: skip


def test_where_several_cannot_take_it_all_of_them_are_named(now, fleet):
    """Else a sender would have to find them one send at a time."""
    with pytest.raises(Retired) as why:
        post.send(fleet, ["gone", "awake", "clone"], now)
    assert why.value.message.endswith("since 2026-03-02T11:00:00.000Z, and 1 more cannot take it.")
    assert [(each["to"], each["code"]) for each in why.value.detail["refused"]] == [
        ("gone", "retired"), ("clone", "expired"),
    ]  # fmt: skip
    assert post.states("awake") == {} and not Message.objects.exists()


def test_unknown_ids_are_named_all_at_once_with_their_hints_f074(now, fleet):
    make.agent("bob", now)
    with pytest.raises(NotFound) as why:
        post.send(fleet, ["awake", "bbo", "nobody-like-this"], now)
    assert why.value.message == ("Nothing was sent: there is no agent 'bbo' (did you mean 'bob'?), 'nobody-like-this'.")
    assert (why.value.status, why.value.code) == (404, "unknown_recipient")
    assert why.value.detail == {"unknown": [{"to": "bbo", "hint": "bob"}, {"to": "nobody-like-this", "hint": None}]}


def test_after_twenty_unknown_ids_the_sentence_counts_the_rest(now, fleet):
    with pytest.raises(NotFound) as why:
        post.send(fleet, [f"zz{n:03}" for n in range(30)], now)
    assert why.value.message.endswith("'zz019' and 10 more.")
    assert len(why.value.detail["unknown"]) == 30


# ---- groups, and everybody live -----------------------------------------------------------------------------------------


def group(name: str, *slugs: str) -> None:
    MailGroup.objects.create(name=name).members.set(Agent.objects.filter(slug__in=slugs))


def told(sent) -> dict[str, tuple]:
    return {each["to"]: (each["addressed_as"], each["state"], each["code"]) for each in sent.deliveries}


def test_a_group_gets_one_copy_each_without_its_sender(now, fleet):
    group("ops", "echo", "awake", "away")
    sent = post.send(fleet, "group:ops", now)
    assert told(sent) == {"awake": ("group:ops", "waiting", "live"), "away": ("group:ops", "waiting", "dormant")}
    assert post.states("echo") == {} and Message.objects.count() == 1
    assert post.peek("away", now)["messages"][0]["addressed_as"] == "group:ops"


def test_members_of_a_group_who_cannot_take_it_cost_the_others_nothing_p25(now, fleet, monkeypatch):
    fill(fleet, "away", now, monkeypatch)
    group("ops", "awake", "away", "gone", "clone")
    sent = post.send(fleet, "group:ops", now)
    assert told(sent) == {
        "awake": ("group:ops", "waiting", "live"),
        "away": ("group:ops", "refused", "inbox_full"),
        "gone": ("group:ops", "refused", "retired"),
        "clone": ("group:ops", "refused", "expired"),
    }
    notes = {each["to"]: each["note"] for each in sent.deliveries}
    assert notes["gone"] == "not sent: gone is retired since 2026-03-02T11:00:00.000Z"
    assert [slug for slug in notes if post.states(slug).get(sent.seq)] == ["awake"]


@pytest.mark.parametrize(
    ("members", "why"),
    [
        ((), "nobody else is in the group 'ops'"),
        (("echo",), "nobody else is in the group 'ops'"),
        (("gone", "clone"), "none of the 2 behind 'group:ops' can take it"),
    ],
)
def test_a_group_that_reaches_nobody_refuses_the_letter(now, fleet, members, why):
    group("ops", *members)
    with pytest.raises(NobodyThere) as refusal:
        post.send(fleet, "group:ops", now)
    assert (refusal.value.status, refusal.value.code, refusal.value.message) == (
        409,
        "nobody",
        f"Nothing was sent: {why}.",
    )
    assert len(refusal.value.detail["refused"]) == len(set(members) - {"echo"})
    assert not Message.objects.exists()


def test_a_group_that_is_none_is_told_of_with_those_there_are(now, fleet):
    group("ops", "awake")
    with pytest.raises(NotFound) as why:
        post.send(fleet, "group:opps", now)
    assert (why.value.code, why.value.detail) == ("unknown_group", {"groups": ["ops"]})


def test_live_is_everybody_live_but_the_sender(now, fleet):
    """Also who is disabled or leaving; not who has left, though its window is still open."""
    assert told(post.send(fleet, "live", now)) == {
        "awake": ("live", "waiting", "live"),
        "off": ("live", "waiting", "disabled"),
        "parting": ("live", "waiting", "draining"),
    }


def test_a_letter_to_everybody_live_that_reaches_nobody_is_refused(now):
    _, token = make.agent("alone", now)
    make.agent("away", now - hours(3), liveness_mode="async")
    with pytest.raises(NobodyThere) as why:
        post.send(token, "live", now)
    assert why.value.message == "Nothing was sent: nobody else is live."
