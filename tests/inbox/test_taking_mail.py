"""Draining, acking, extending and giving back, as an agent does it day by day."""

from __future__ import annotations

import pytest
from asgiref.sync import sync_to_async
from django.utils import timezone

from inbox import rules
from inbox.models import Delivery, Message
from roster.errors import Conflict
from roster.models import Agent
from roster.services import uptime
from tests import make
from tests.inbox import post
from tests.make import bearer
from tests.roster.fleet import TICK, hours, minutes, seconds


@pytest.fixture
def scribe(now, db) -> str:
    return make.agent("scribe", now)[1]


@pytest.fixture
def echo(now, db) -> str:
    return make.agent("echo", now, liveness_mode="async")[1]


def write(scribe: str, n: int, at) -> list[int]:
    return [post.send(scribe, "echo", at, f"letter {i}").seq for i in range(n)]


async def test_acks_say_for_each_number_what_became_of_it_f026(api):
    """Known ones, one that is no message, and one named twice: the pending count drops by two, and nothing else counts
    as a message. That an operator archives in the admin is shown where the admin's tests are."""
    now = timezone.now()
    _, scribe = await sync_to_async(make.agent)("scribe", now)
    _, echo = await sync_to_async(make.agent)("echo", now)
    await sync_to_async(write)(scribe, 3, now)
    answer = await api.post("/api/agents/echo/inbox/ack", json={"seqs": [1, 2, 999999, 2]}, headers=bearer(echo))
    assert answer.status_code == 200
    assert [(each["seq"], each["result"]) for each in answer.json()["results"]] == [
        (1, "acked"), (2, "acked"), (999999, "unknown"), (2, "already_acked"),
    ]  # fmt: skip
    assert answer.json()["waiting"] == 1
    told = (await api.get("/api/agents/echo/inbox?state=all", headers=bearer(echo))).json()
    assert (told["waiting"], told["leased"], told["unread"]) == (1, 0, 1)
    assert [each["state"] for each in told["messages"]] == ["acked", "acked", "waiting"]


def test_an_ack_under_a_lease_that_lapsed_is_refused_and_changes_nothing_f028(now, scribe, echo):
    """The first session sleeps through its lease while a second one takes the message; the second's ack counts once."""
    (seq,) = write(scribe, 1, now)
    first = post.drain(echo, "echo", now, seconds=30, session="one")
    second = post.drain(echo, "echo", now + seconds(40), session="two")
    assert post.counts(second) == [(seq, 2)]
    before = list(Delivery.objects.values())
    with pytest.raises(Conflict) as refusal:
        post.ack(echo, "echo", now + seconds(60), [seq], first["lease"])
    assert (refusal.value.status, refusal.value.code) == (409, "lease_expired")
    assert list(Delivery.objects.values()) == before
    assert post.ack(echo, "echo", now + seconds(61), [seq], second["lease"]) == ["acked"]
    assert post.ack(echo, "echo", now + seconds(62), [seq], second["lease"]) == ["already_acked"]


def test_one_late_number_refuses_the_whole_ack_p21(now, scribe, echo):
    """Half an ack would leave the caller guessing which half."""
    write(scribe, 2, now)
    held = post.drain(echo, "echo", now, limit=1)
    with pytest.raises(Conflict) as refusal:
        post.ack(echo, "echo", now, [1, 2])
    assert (refusal.value.code, refusal.value.detail["seqs"]) == ("held", [1])
    assert refusal.value.detail["until"] == held["until"] and held["until"][:19] in refusal.value.message
    assert post.states("echo") == {1: "leased", 2: "waiting"}
    assert post.ack(echo, "echo", now, [1], held["lease"]) == ["acked"]


def test_a_lease_that_ends_is_over_at_its_very_end_p20(now, scribe, echo):
    """No sweep has run: the next drain finds the messages waiting by themselves, one failed delivery later."""
    write(scribe, 2, now)
    assert post.drain(echo, "echo", now, seconds=120)["until"] == "2026-03-02T12:02:00.000Z"
    assert post.drain(echo, "echo", now + seconds(120) - TICK)["messages"] == []
    assert post.counts(post.drain(echo, "echo", now + seconds(120))) == [(1, 2), (2, 2)]


def test_the_sweep_gives_back_what_lapsed_and_the_roster_counts_it_p20(now, scribe, echo):
    """It runs every three seconds, so a lease that ended is waiting again, for everybody to see, within five."""
    write(scribe, 2, now)
    post.drain(echo, "echo", now, seconds=120)
    post.sweep(now + seconds(120) - TICK)
    assert (post.states("echo"), waits("echo")) == ({1: "leased", 2: "leased"}, 0)
    post.sweep(now + seconds(123))
    assert (post.states("echo"), waits("echo")) == ({1: "waiting", 2: "waiting"}, 2)
    assert post.counts(post.drain(echo, "echo", now + seconds(123))) == [(1, 2), (2, 2)]


def waits(slug: str) -> int:
    return Agent.objects.values_list("waiting", flat=True).get(slug=slug)


def test_first_deliveries_keep_the_order_in_which_one_wrote_to_the_other_p22(now, scribe, echo):
    """Three writers in turn, drained a few at a time."""
    others = [make.agent(f"writer-{n}", now)[1] for n in range(3)]
    for n in range(30):
        post.send(others[n % 3], "echo", now + seconds(n), f"{n}")
    seen, at = [], now + minutes(1)
    while messages := post.drain(echo, "echo", at, limit=7)["messages"]:
        seen += [(each["from"], int(each["body"])) for each in messages]
    assert len(seen) == 30
    for writer in range(3):
        bodies = [body for name, body in seen if name == f"writer-{writer}"]
        assert bodies == sorted(bodies)


def test_a_drain_carries_so_many_bytes_and_one_message_whatever_its_size(now, scribe, echo, monkeypatch):
    monkeypatch.setattr(rules, "LARGEST_ANSWER", 10)
    for size in (4, 6, 1, 20, 1):
        post.send(scribe, "echo", now, "x" * size)
    assert [post.seqs(post.drain(echo, "echo", now)) for _ in range(5)] == [[1, 2], [3], [4], [5], []]


def test_what_is_given_back_on_purpose_is_no_failed_delivery(now, scribe, echo):
    write(scribe, 2, now)
    for n in range(9):
        held = post.drain(echo, "echo", now + seconds(n))
        assert post.counts(held) == [(1, 1), (2, 1)]
        assert post.release(echo, "echo", now + seconds(n), held["lease"]) == ["released", "released"]
    assert waits("echo") == 2


# ---- long work, and work that kills ------------------------------------------------------------------------------------


def test_work_that_takes_longer_than_its_lease_extends_it_and_is_delivered_once_f029(now, scribe, echo):
    """Ten minutes of work under a lease of two, extended every minute; meanwhile nobody else gets the message."""
    (seq,) = write(scribe, 1, now)
    held = post.drain(echo, "echo", now, seconds=120, session="one")
    for minute in range(1, 11):
        at = now + minutes(minute)
        assert post.drain(echo, "echo", at, session="two")["messages"] == []
        assert post.extend(echo, "echo", at, held["lease"]) == at + seconds(120)
        post.sweep(at + seconds(30))
    assert post.ack(echo, "echo", now + minutes(11), [seq], held["lease"]) == ["acked"]
    assert Delivery.objects.get().attempts == 0


def test_no_lease_lasts_longer_than_twelve_hours_f029(now, scribe, echo):
    """However often it is extended: a process that only extends has stopped working."""
    write(scribe, 1, now)
    held = post.drain(echo, "echo", now, seconds=12 * 3600)
    end = now + hours(12)
    for hour in (1, 11, 11.99):
        assert post.extend(echo, "echo", now + hours(hour), held["lease"], 12 * 3600) == end
    with pytest.raises(Conflict):
        post.extend(echo, "echo", end, held["lease"])
    assert post.counts(post.drain(echo, "echo", end)) == [(1, 2)]


def test_a_shorter_extension_shortens_nothing(now, scribe, echo):
    write(scribe, 1, now)
    held = post.drain(echo, "echo", now, seconds=600)
    assert post.extend(echo, "echo", now, held["lease"], 1) == now + seconds(600)


def test_a_message_that_always_kills_its_reader_is_given_up_and_the_rest_flows_f029_p26(now, scribe, echo):
    """It is first in line. Each time the reader takes one message, dies of this one, and comes back when the lease is
    over; after five such deliveries it is dead, with the reason, and its sender is told once."""
    poison, *good = write(scribe, 4, now)
    at, handed, done = now, 0, []
    while held := post.drain(echo, "echo", at, limit=1)["messages"]:
        (message,) = held
        if message["seq"] == poison:
            handed += 1
            at += seconds(120)  # killed; its lease lapses
            continue
        done += [message["seq"]]
        lease = Delivery.objects.get(message=message["seq"]).lease.key
        post.ack(echo, "echo", at, [message["seq"]], lease)
    assert (handed, done) == (5, good)
    (dead,) = post.peek("echo", at, "dead")["messages"]
    assert (dead["seq"], dead["dead_reason"], dead["delivery_count"]) == (
        poison,
        "taken 5 times and never acked: each lease ran out",
        5,
    )
    for n in range(5):
        post.sweep(at + seconds(3 * n))
    (notice,) = post.notices("scribe")
    assert notice.body == (
        "Your message #1 waits no longer for:\n\necho: taken 5 times and never acked: each lease ran out\n\n"
        "The hub keeps it, but hands it to none of them any more. Send it anew if it still matters."
    )
    assert (notice.in_reply_to_id, notice.thread, notice.sender) == (poison, poison, None)


async def test_the_sender_and_an_operator_see_what_died_f029(api, db):
    now = timezone.now()
    _, scribe = await sync_to_async(make.agent)("scribe", now)
    _, echo = await sync_to_async(make.agent)("echo", now)
    manager = await sync_to_async(make.person_token)("mira", "manager")

    def poisoned():
        write(scribe, 1, now - hours(1))
        for n in range(5):
            post.drain(echo, "echo", now - hours(1) + minutes(2 * n))
        post.sweep(now)

    await sync_to_async(poisoned)()
    sent = (await api.get("/api/messages/1", headers=bearer(scribe))).json()
    told = {
        "to": "echo",
        "addressed_as": "echo",
        "state": "dead",
        "reason": "taken 5 times and never acked: each lease ran out",
    }
    assert sent["deliveries"] == [told]
    seen = (await api.get("/api/agents/echo/inbox?state=dead", headers=bearer(manager))).json()
    assert [(each["seq"], each["dead_reason"]) for each in seen["messages"]] == [(1, told["reason"])]


# ---- after a restart ----------------------------------------------------------------------------------------------------


def test_a_summary_at_the_start_is_a_look_and_each_message_is_handed_over_once_f034(now, scribe, echo):
    """The agent restarts, looks, and drains; the hub is away and starts anew in between."""
    numbers = write(scribe, 4, now)
    for n in range(3):
        summary = post.peek("echo", now + seconds(n))
        assert (summary["peek"], post.seqs(summary), summary["waiting"]) == (True, numbers, 4)
        assert post.counts(summary) == [(seq, 0) for seq in numbers]
        assert all("body" not in each and each["until"] is None for each in summary["messages"])
    later = now + minutes(3)
    assert (uptime.begin(now, 5), uptime.begin(later, 5))[1].down_at == now
    post.sweep(later)
    handed = post.drain(echo, "echo", later, session="two")
    assert post.counts(handed) == [(seq, 1) for seq in numbers]
    assert post.drain(echo, "echo", later + seconds(6), session="two")["messages"] == []
    assert Delivery.objects.filter(lease__key=handed["lease"]).count() == 4
    assert Message.objects.count() == 4


def test_a_disabled_agent_is_handed_nothing_and_told_why(now, scribe, echo):
    """Its mail waits. Every path that hands out work asks for the switch."""
    write(scribe, 2, now)
    switch = {"enabled": False, "disabled_by": "mira", "disabled_reason": "a loop", "disabled_at": now}
    Agent.objects.filter(slug="echo").update(**switch)
    told = post.drain(echo, "echo", now)
    assert (told["lease"], told["messages"], told["waiting"]) == (None, [], 2)
    assert told["disabled"] == {"reason": "a loop", "by": "mira", "since": "2026-03-02T12:00:00.000Z"}
    Agent.objects.filter(slug="echo").update(enabled=True)
    assert post.counts(post.drain(echo, "echo", now)) == [(1, 1), (2, 1)]
