"""A send that is tried again under its key happens once, and another letter under the same key never (P28)."""

from __future__ import annotations

import pytest
from asgiref.sync import sync_to_async
from django.utils import timezone

from inbox import rules
from inbox.models import MailGroup, Message
from roster.errors import Invalid, NotFound
from roster.models import Agent
from roster.services import tokens
from tests import make
from tests.inbox import post
from tests.make import bearer
from tests.roster.fleet import hours, minutes

pytestmark = pytest.mark.django_db


@pytest.fixture
def scribe(now) -> str:
    make.agent("echo", now, liveness_mode="async")
    return make.agent("scribe", now)[1]


async def test_the_same_letter_gets_the_same_answer_and_another_one_is_refused_p28(api):
    now = timezone.now()
    await sync_to_async(make.agent)("echo", now)
    _, scribe = await sync_to_async(make.agent)("scribe", now)
    headers = bearer(scribe, **{"Idempotency-Key": "notes-7"})
    letter = {"to": "echo", "body": "hello", "subject": "notes"}
    first, again = [await api.post("/api/messages", json=letter, headers=headers) for _ in range(2)]
    assert (first.status_code, again.status_code) == (201, 201) and first.json() == again.json()
    for other in ({"body": "hello "}, {"to": ["echo", "scribe"]}, {"subject": ""}, {"importance": "high"}):
        refused = await api.post("/api/messages", json=letter | other, headers=headers)
        assert (refused.status_code, refused.json()["error"]["code"]) == (422, "key_reused"), other
    assert await Message.objects.acount() == 1


def test_a_key_is_the_senders_own_p28(now, scribe):
    _, other = make.agent("other", now)
    assert post.send(scribe, "echo", now, key="k").seq != post.send(other, "echo", now, "other words", key="k").seq


def test_without_a_key_each_send_is_a_message(now, scribe):
    assert post.send(scribe, "echo", now).seq != post.send(scribe, "echo", now).seq


def test_a_key_holds_for_good_whatever_happened_since_p28(now, scribe, monkeypatch):
    """After a year of sweeps, with the letter acked and archived, the recipient's inbox full and itself gone: the
    answer is the first one, which was true when it was given."""
    first = post.send(scribe, "echo", now, key="k")
    echo = tokens.issue("agent", by="test", now=now, agent=Agent.objects.get(slug="echo"))
    post.ack(echo, "echo", now, [first.seq])
    for day in (30, 365):
        post.sweep(now + hours(24 * day))
    assert post.states("echo") == {first.seq: "archived"}
    monkeypatch.setattr(rules, "MOST_WAITING", 0)
    Agent.objects.filter(slug="echo").update(lifecycle="retired", lifecycle_since=now)
    assert post.send(scribe, "echo", now + hours(24 * 366), key="k") == first


def test_a_refused_send_leaves_its_key_free_p28(now, scribe):
    """Nothing was stored, so the sender may correct the letter under the same key."""
    with pytest.raises(NotFound):
        post.send(scribe, "ehco", now, key="k")
    sent = post.send(scribe, "echo", now + minutes(1), key="k")
    with pytest.raises(Invalid) as refusal:
        post.send(scribe, "echo", now + minutes(2), "other words", key="k")
    assert refusal.value.code == "key_reused"
    assert list(Message.objects.values_list("seq", flat=True)) == [sent.seq]


def test_a_letter_to_a_group_is_not_sent_again_to_who_joined_since_p28(now, scribe):
    """The key stands for the send that was made, not for whom it would reach today."""
    group = MailGroup.objects.create(name="ops")
    group.members.add(Agent.objects.get(slug="echo"))
    first = post.send(scribe, "group:ops", now, key="k")
    group.members.add(make.agent("late", now)[0])
    assert post.send(scribe, "group:ops", now, key="k") == first
    assert post.states("late") == {}
