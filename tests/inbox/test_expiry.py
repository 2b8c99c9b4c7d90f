"""Mail that nobody acked in time is not removed: it is dead, kept, and its sender told (F156, P29)."""

from __future__ import annotations

import pytest

from inbox import plans
from inbox.models import Delivery, Message
from roster.errors import Invalid
from roster.models import Agent, Event
from roster.services import registry
from tests import make
from tests.inbox import post
from tests.roster.fleet import TICK, hours, minutes, seconds

pytestmark = pytest.mark.django_db


@pytest.fixture
def scribe(now) -> str:
    return make.agent("scribe", now, liveness_mode="async")[1]


@pytest.fixture
def echo(now) -> str:
    return make.agent("echo", now - minutes(4), liveness_mode="async", expected_interval=1800)[1]


def test_a_sender_in_a_hurry_learns_how_old_the_last_sign_is_and_what_became_of_it_f156(now, scribe, echo):
    """The recipient has been dead for four minutes and nobody can know it yet; the answer says what can be known, and
    the letter says until when it is of use."""
    until = now + minutes(5)
    told = post.line(post.send(scribe, "echo", now, "reply by then", expires_at=until))
    assert (told["code"], told["last_seen"], told["expected_interval"]) == ("live", "2026-03-02T11:56:00.000Z", 1800)
    post.sweep(until - TICK)
    assert post.states("echo") == {1: "waiting"} and not post.notices("scribe")
    post.sweep(until)
    assert post.states("echo") == {1: "dead"}
    (notice,) = post.notices("scribe")
    assert "echo: it expired before anybody acked it" in notice.body.splitlines()
    assert (notice.subject, notice.kind, notice.thread) == ("Not delivered: #1", "system", 1)


def test_expired_mail_is_handed_to_nobody_though_no_sweep_ran(now, scribe, echo):
    post.send(scribe, "echo", now, expires_at=now + minutes(5))
    late = now + minutes(5)
    assert post.drain(echo, "echo", late)["messages"] == []
    (dead,) = post.peek("echo", late, "dead")["messages"]
    assert (dead["state"], dead["dead_reason"]) == ("dead", "it expired before anybody acked it")


def test_who_took_it_in_time_may_finish_it(now, scribe, echo):
    """A lease that was given before holds: the work is under way."""
    post.send(scribe, "echo", now, expires_at=now + minutes(5))
    held = post.drain(echo, "echo", now + minutes(4), seconds=600)
    post.sweep(now + minutes(6))
    assert post.ack(echo, "echo", now + minutes(7), [1], held["lease"]) == ["acked"]
    post.sweep(now + minutes(30))
    assert not post.notices("scribe")


def test_a_time_that_has_passed_is_no_expiry(now, scribe, echo):
    for at in (now, now - TICK):
        with pytest.raises(Invalid) as refusal:
            post.send(scribe, "echo", now, expires_at=at)
        assert refusal.value.detail == {"field": "expires_at"}
    assert not Message.objects.exists()


def test_a_sender_hears_once_of_all_who_did_not_get_it(now, scribe, echo):
    """One notice for a letter to many, naming each; later sweeps tell nothing new."""
    make.agent("other", now)
    post.send(scribe, ["echo", "other"], now, "both", subject="plans", expires_at=now + minutes(5))
    for n in range(4):
        post.sweep(now + minutes(5) + seconds(3 * n))
    (notice,) = post.notices("scribe")
    assert notice.subject == "Not delivered: plans"
    reason = "it expired before anybody acked it"
    assert notice.body.splitlines()[2:4] == [f"echo: {reason}", f"other: {reason}"]
    assert Event.objects.filter(kind="mail_dead").count() == 2


def test_retention_takes_nothing_that_nobody_acked_p29(now, scribe, echo):
    """A year of sweeps over mail in every state. Only what was acked is archived, thirty days after, unchanged;
    what expired is dead, with a row that says so; what waits, waits."""
    for n in range(6):
        post.send(scribe, "echo", now, f"letter {n}", expires_at=now + hours(1) if n == 5 else None)
    held = post.drain(echo, "echo", now, limit=2)
    post.ack(echo, "echo", now, [1, 2], held["lease"])
    post.drain(echo, "echo", now, limit=1, seconds=3600)
    texts = dict(Message.objects.values_list("seq", "body"))
    day, age = hours(24), plans.PLAN.archive_after
    assert age == 30 * day
    for n in (0, 1, 29, 30, 31, 60, 365):
        post.sweep(now + n * day)
        archived = set(Delivery.objects.filter(state="archived").values_list("message", flat=True))
        assert archived == ({1, 2} if n >= 30 else set()), f"day {n}"
    assert post.states("echo") == {1: "archived", 2: "archived", 3: "waiting", 4: "waiting", 5: "waiting", 6: "dead"}
    assert {seq: body for seq, body in Message.objects.values_list("seq", "body") if seq in texts} == texts
    shown = post.peek("echo", now + 365 * day, "archived")["messages"]
    assert [(each["seq"], each["subject"], each["size"]) for each in shown] == [(1, "", 8), (2, "", 8)]


def test_a_notice_that_nobody_reads_is_kept_as_well_p29(now, scribe, echo):
    post.send(scribe, "echo", now, expires_at=now + minutes(1))
    for n in range(40):
        post.sweep(now + hours(24 * n) + minutes(1))
    (notice,) = post.notices("scribe")
    assert post.states("scribe") == {notice.seq: "waiting"}


def test_nobody_is_told_who_has_left_the_fleet(now, scribe, echo):
    post.send(scribe, "echo", now, expires_at=now + minutes(1))
    Agent.objects.filter(slug="scribe").update(lifecycle="retired", lifecycle_since=now)
    post.sweep(now + minutes(1))
    assert post.states("echo") == {1: "dead"} and not Message.objects.filter(kind="system").exists()


def test_mail_to_a_member_that_never_comes_expires_as_well(now, scribe):
    registry.enrolled_by_hand("hired", {"liveness_mode": "async"}, by="mira", now=now)
    post.send(scribe, "hired", now, expires_at=now + minutes(1))
    post.sweep(now + minutes(1))
    assert len(post.notices("scribe")) == 1
