"""System notices end a story and never begin another (P30)."""

from __future__ import annotations

from datetime import timedelta

import pytest
from asgiref.sync import sync_to_async
from django.utils import timezone

from inbox.models import Delivery, Message
from roster.errors import Invalid
from tests import make
from tests.inbox import post
from tests.make import bearer
from tests.roster.fleet import minutes, seconds

pytestmark = pytest.mark.django_db


def test_two_agents_that_answer_everything_by_themselves_cause_no_chain_of_notices_p30(now):
    """Both try to answer whatever they are handed, notices too, and never ack, so that all of it dies. Each letter that
    dies brings its sender one notice; a notice is answered by nobody, and its own death is told to nobody."""
    tokens = {name: make.agent(name, now, liveness_mode="async")[1] for name in ("ann", "bob")}
    post.send(tokens["ann"], "bob", now, "ping")
    seen = set()
    for n in range(1, 15):
        at = now + minutes(n)
        for name, token in tokens.items():
            for each in post.drain(token, name, at, seconds=10)["messages"]:
                if each["seq"] not in seen and n < 8:
                    answer(token, each, at)
                seen.add(each["seq"])
        post.sweep(at + seconds(30))
    dead = Delivery.objects.filter(state="dead")
    letters, notices = dead.filter(message__kind="mail"), Message.objects.filter(kind="system")
    assert letters.count() > 5 and notices.count() == letters.count()
    assert set(notices.values_list("in_reply_to", flat=True)) == set(letters.values_list("message", flat=True))
    assert dead.filter(message__kind="system").exists()
    assert not Message.objects.filter(in_reply_to__kind="system").exists()


def answer(token: str, message: dict, at) -> None:
    """Answers its sender; a notice, which has none, at least in its thread."""
    if message["from"]:
        post.send(token, message["from"], at, "pong", in_reply_to=message["seq"])
    else:
        with pytest.raises(Invalid, match="which takes no answers"):
            post.send(token, ["ann", "bob"], at, "pong", in_reply_to=message["seq"])


def test_a_notice_takes_no_answers_and_is_not_there_for_others_p30_p61(now):
    a, b = (make.agent(name, now)[1] for name in ("ann", "bob"))
    post.send(a, "bob", now, expires_at=now + timedelta(hours=1))
    post.sweep(now + timedelta(hours=2))
    notice = post.notices("ann")[0].seq
    for token, why in ((a, f"message {notice} is a notice of the hub, which takes no answers"),
                       (b, f"there is no message {notice} that you may answer")):  # fmt: skip
        with pytest.raises(Invalid, match=why):
            post.send(token, "bob", now, in_reply_to=notice)


async def test_nobody_sends_in_the_hubs_name_p30(api):
    """Neither by a kind of its own nor by a sender."""
    _, scribe = await sync_to_async(make.agent)("scribe", timezone.now())
    for more in ({"kind": "system"}, {"from": None}, {"sender": "hub"}):
        send = {"to": "scribe", "body": "the hub says so"} | more
        assert (await api.post("/api/messages", json=send, headers=bearer(scribe))).status_code == 422
    assert not await Message.objects.aexists()
