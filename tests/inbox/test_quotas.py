"""An inbox holds so much and no more, and a full one is nobody else's trouble (F076, P27)."""

from __future__ import annotations

import pytest
from asgiref.sync import sync_to_async
from django.utils import timezone

from inbox import rules
from inbox.models import Delivery
from inbox.services import sending
from roster.errors import Full
from tests import make
from tests.inbox import crowd, post
from tests.make import bearer
from tests.roster.fleet import hours, minutes

pytestmark = pytest.mark.django_db


@pytest.fixture
def scribe(now):
    """The sender, to ``echo``, which is dormant."""
    make.agent("echo", now - hours(5), liveness_mode="async")
    return make.agent("scribe", now)


def fill(sender, n: int, at, body: str = "hello") -> list:
    return sending.record([crowd.outgoing(sender, ["echo"], at, body) for _ in range(n)])


def test_the_letter_after_the_thousandth_is_refused_f076(now, scribe):
    """In one group of sends as one by one. The refusal holds how deep the inbox is and how old its oldest letter."""
    agent, token = scribe
    make.agent("other", now)
    outcomes = fill(agent, rules.MOST_WAITING + 2, now)
    refused = [each for each in outcomes if isinstance(each, Full)]
    assert len(refused) == 2 and outcomes[-2:] == refused
    with pytest.raises(Full) as why:
        post.send(token, "echo", now + minutes(9))
    oldest = "2026-03-02T12:00:00.000Z"
    assert [why.value.detail[name] for name in ("to", "pending", "oldest")] == ["echo", 1000, oldest]
    assert "1,000 messages (4.88 kB) not acked" in why.value.message
    assert post.line(post.send(token, "other", now))["pending"] == 1
    assert Delivery.objects.filter(recipient__slug="echo").count() == 1000


def test_ten_megabytes_fill_an_inbox_as_well_p27(now, scribe):
    agent, token = scribe
    large = "x" * rules.LARGEST_BODY
    outcomes = fill(agent, 41, now, large)
    assert [isinstance(each, Full) for each in outcomes] == [False] * 40 + [True]
    with pytest.raises(Full) as why:
        post.send(token, "echo", now, "x")
    assert (why.value.detail["pending"], why.value.detail["bytes"]) == (40, rules.MOST_BYTES)


def test_each_ack_makes_room_and_a_lease_does_not_f076(now, monkeypatch, scribe):
    _, token = scribe
    monkeypatch.setattr(rules, "MOST_WAITING", 3)
    _, reader = make.agent("reader", now)
    told = [post.line(post.send(token, "reader", now + minutes(n))) for n in range(3)]
    assert [(each["pending"], each["oldest"]) for each in told] == [(n, "2026-03-02T12:00:00.000Z") for n in (1, 2, 3)]
    held = post.drain(reader, "reader", now, limit=2)
    with pytest.raises(Full):
        post.send(token, "reader", now)
    post.ack(reader, "reader", now, post.seqs(held), held["lease"])
    told = post.line(post.send(token, "reader", now + minutes(3)))
    assert (told["pending"], told["oldest"]) == (2, "2026-03-02T12:02:00.000Z")


def test_what_died_or_was_acked_fills_no_inbox(now, monkeypatch, scribe):
    _, token = scribe
    monkeypatch.setattr(rules, "MOST_WAITING", 1)
    post.send(token, "echo", now, expires_at=now + minutes(1))
    with pytest.raises(Full):
        post.send(token, "echo", now)
    post.sweep(now + minutes(1))
    assert post.states("echo") == {1: "dead"}
    assert post.line(post.send(token, "echo", now + minutes(2)))["pending"] == 1


@pytest.mark.django_db(transaction=True)
async def test_a_full_inbox_answers_429_with_when_to_come_back_f076(api, monkeypatch):
    monkeypatch.setattr(rules, "MOST_WAITING", 1)
    now = timezone.now()
    await sync_to_async(make.agent)("echo", now - hours(5), liveness_mode="async")
    _, scribe = await sync_to_async(make.agent)("scribe", now)
    first = await api.post("/api/messages", json={"to": "echo", "body": "1"}, headers=bearer(scribe))
    (line,) = first.json()["deliveries"]
    full = await api.post("/api/messages", json={"to": "echo", "body": "2"}, headers=bearer(scribe))
    assert (full.status_code, int(full.headers["Retry-After"])) == (429, 60)
    error = full.json()["error"]
    assert (error["code"], error["detail"]["pending"], error["detail"]["oldest"]) == ("inbox_full", 1, line["oldest"])
