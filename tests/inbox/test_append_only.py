"""What was written stays as it was written; a correction is a new message (R206)."""

from __future__ import annotations

import pytest
from asgiref.sync import sync_to_async
from django.db import IntegrityError, transaction
from django.utils import timezone

from inbox.models import Delivery, Message
from roster.models import Agent
from roster.models.base import NothingIsDeleted
from tests import make
from tests.inbox import post
from tests.make import bearer
from tests.web.calls import operations


def changed(message: Message) -> Message:
    message.body = "something else"
    return message


WAYS = {
    "save": lambda message: changed(message).save(),
    "save of one field": lambda message: changed(message).save(update_fields=["body"]),
    "delete": lambda message: message.delete(),
    "update": lambda message: Message.objects.update(body="something else"),
    "update of a part": lambda message: Message.objects.filter(seq=1).update(subject="something else"),
    "update through its sender": lambda message: Agent.objects.get(slug="scribe").sent.update(body="something else"),
    "bulk update": lambda message: Message.objects.bulk_update([changed(message)], ["body"]),
    "update or create": lambda message: Message.objects.update_or_create({"body": "something else"}, seq=1),
    "delete of all": lambda message: Message.objects.all().delete(),
    "delete of its sender": lambda message: Agent.objects.filter(slug="scribe").delete(),
    "delete of its delivery": lambda message: Delivery.objects.get().delete(),
    "delete of all deliveries": lambda message: Delivery.objects.all().delete(),
}


@pytest.mark.django_db
@pytest.mark.parametrize("way", WAYS)
def test_code_can_neither_change_nor_delete_a_message_r206(now, way):
    make.agent("echo", now)
    post.send(make.agent("scribe", now)[1], "echo", now, "as it was", subject="first")
    before = Message.objects.values().get()
    with pytest.raises(NothingIsDeleted), transaction.atomic():
        WAYS[way](Message.objects.get())
    assert Message.objects.values().get() == before and Delivery.objects.count() == 1


@pytest.mark.django_db
def test_a_number_is_given_once_r206(now):
    make.agent("echo", now)
    post.send(make.agent("scribe", now)[1], "echo", now, "as it was")
    with pytest.raises(IntegrityError), transaction.atomic():
        changed(Message.objects.get()).save(force_insert=True)
    assert Message.objects.get().body == "as it was"


def test_no_call_changes_or_deletes_a_message_r206():
    """By what the API declares: mail is sent, looked at, settled and searched, and that is all."""
    mail = {
        (method, path) for method, path in operations() if any(word in path for word in ("message", "thread", "inbox"))
    }
    assert mail and {method for method, _ in mail} == {"GET", "POST"}
    settling = ("drain", "ack", "extend", "release", "read", "messages")
    assert all(path.rpartition("/")[2] in settling for method, path in mail if method == "POST")


async def test_the_other_methods_are_refused_and_a_correction_is_a_new_message_r206(api):
    now = timezone.now()
    _, scribe = await sync_to_async(make.agent)("scribe", now)
    _, echo = await sync_to_async(make.agent)("echo", now)
    await api.post("/api/messages", json={"to": "echo", "body": "the 12th"}, headers=bearer(scribe))
    before = (await api.get("/api/messages/1", headers=bearer(echo))).json()
    for method in ("PUT", "PATCH", "DELETE"):
        for path in ("/api/messages/1", "/api/messages", "/api/threads/1", "/api/agents/echo/inbox"):
            answer = await api.request(method, path, json={"body": "the 13th"}, headers=bearer(scribe))
            assert answer.status_code == 405, (method, path)
    correction = {"to": "echo", "body": "I meant the 13th", "in_reply_to": 1}
    assert (await api.post("/api/messages", json=correction, headers=bearer(scribe))).json()["thread"] == 1
    thread = (await api.get("/api/threads/1", headers=bearer(echo))).json()["messages"]
    assert [each["body"] for each in thread] == ["the 12th", "I meant the 13th"]
    assert thread[0] == before
