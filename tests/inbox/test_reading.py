"""What somebody has read is that reader's own affair (R207, R208)."""

from __future__ import annotations

import pytest
from asgiref.sync import sync_to_async
from django.utils import timezone

from inbox.models import Delivery, Message
from roster.models import Agent, Counter, Event
from tests import make
from tests.make import bearer


@pytest.fixture
async def mail(api):
    """One message from ``scribe`` to ``echo`` and ``other``, and the header of each of them and of two people."""
    now = timezone.now()
    tokens = {name: (await sync_to_async(make.agent)(name, now))[1] for name in ("scribe", "echo", "other")}
    tokens["mira"] = await sync_to_async(make.person_token)("mira", "manager")
    tokens["vera"] = await sync_to_async(make.person_token)("vera", "viewer")
    tokens["alder"] = (await sync_to_async(make.node)("alder", now))[2]
    headers = {name: bearer(token) for name, token in tokens.items()}
    send = {"to": ["echo", "other"], "subject": "notes", "body": "hello"}
    assert (await api.post("/api/messages", json=send, headers=headers["scribe"])).status_code == 201
    return headers


async def test_a_sender_sees_the_same_whether_or_not_somebody_took_and_read_it_r208(api, mail):
    """Byte for byte, in the message and in its thread, through a drain, a read and an extension; only an ack shows."""

    async def seen() -> list[bytes]:
        paths = ("/api/messages/1", "/api/threads/1")
        return [(await api.get(path, headers=mail["scribe"])).content for path in paths]

    before = await seen()
    held = (await api.post("/api/agents/echo/inbox/drain", headers=mail["echo"])).json()
    assert await seen() == before
    assert (await api.post("/api/messages/1/read", headers=mail["echo"])).status_code == 200
    assert await seen() == before
    await api.post("/api/agents/echo/inbox/extend", json={"lease": held["lease"]}, headers=mail["echo"])
    assert await seen() == before
    await api.post("/api/agents/echo/inbox/ack", json={"lease": held["lease"], "seqs": [1]}, headers=mail["echo"])
    after = (await api.get("/api/messages/1", headers=mail["scribe"])).json()
    assert {each["to"]: each["state"] for each in after["deliveries"]} == {"echo": "acked", "other": "waiting"}


async def test_a_recipient_learns_nothing_of_another_recipient_r208(api, mail):
    before = (await api.get("/api/messages/1", headers=mail["other"])).content
    held = (await api.post("/api/agents/echo/inbox/drain", headers=mail["echo"])).json()
    await api.post("/api/messages/1/read", headers=mail["echo"])
    await api.post("/api/agents/echo/inbox/ack", json={"lease": held["lease"], "seqs": [1]}, headers=mail["echo"])
    after = await api.get("/api/messages/1", headers=mail["other"])
    assert after.content == before
    assert [each["to"] for each in after.json()["deliveries"]] == ["other"]


async def test_reading_moves_the_readers_own_mark_and_nothing_else_r207(api, mail):
    """No message, no count of what waits, no version of the roster, no event, no sign of life."""

    async def rest() -> tuple:
        return (
            [row async for row in Message.objects.values()],
            [row async for row in Delivery.objects.order_by("pk").values("state", "lease", "attempts", "acked_at")],
            [row async for row in Agent.objects.order_by("pk").values()],
            [row async for row in Counter.objects.order_by("pk").values()],
            await Event.objects.acount(),
        )

    before = await rest()
    first = (await api.post("/api/messages/1/read", json={}, headers=mail["echo"])).json()
    again = (await api.post("/api/messages/1/read", headers=mail["echo"])).json()
    assert first == again and first["seq"] == 1
    assert await rest() == before
    own = (await api.get("/api/agents/echo/inbox", headers=mail["echo"])).json()
    assert (own["unread"], own["waiting"], own["messages"][0]["read"]) == (0, 1, True)
    other = (await api.get("/api/agents/other/inbox", headers=mail["other"])).json()
    assert (other["unread"], other["messages"][0]["read"]) == (1, False)


async def test_nobody_else_sees_or_moves_what_one_has_read_r207(api, mail):
    """Not the sender, not another recipient for one, not a viewer, and not the manager, who may look into the box."""
    await api.post("/api/messages/1/read", headers=mail["other"])
    for who in ("scribe", "mira", "vera"):
        answer = await api.post("/api/messages/1/read", headers=mail[who])
        assert (answer.status_code, answer.json()["error"]["code"]) == (404, "not_found"), who
    assert [row async for row in Delivery.objects.filter(read_at=None).values_list("recipient__slug", flat=True)] == [
        "echo"
    ]
    looked = (await api.get("/api/agents/other/inbox", headers=mail["mira"])).json()
    assert "unread" not in looked and "read" not in looked["messages"][0]
    whole = (await api.get("/api/messages/1", headers=mail["mira"])).json()
    assert "read" not in str(whole["deliveries"])
    assert "read_at" not in (await api.get("/api/openapi.json")).text


async def test_a_node_marks_for_the_agent_that_it_names_r207(api, mail):
    for named, status in (({"Agora-Agent": "echo"}, 200), ({"Agora-Agent": "mira"}, 403), ({}, 403)):
        answer = await api.post("/api/messages/1/read", headers=mail["alder"] | named)
        assert answer.status_code == status, named
    assert [row async for row in Delivery.objects.exclude(read_at=None).values_list("recipient__slug", flat=True)] == [
        "echo"
    ]


async def test_whoever_names_another_as_itself_is_refused_and_not_taken_for_its_own_self(api, mail):
    """A send refuses it, so a read that went on as the caller would answer another question than it was asked."""
    for who in ("echo", "mira"):
        for path in ("/api/messages/1", "/api/threads/1", "/api/search?q=x"):
            assert (await api.get(path, headers=mail[who] | {"Agora-Agent": "other"})).status_code == 403, (who, path)
            assert (await api.get(path, headers=mail[who] | {"Agora-Agent": who})).status_code == 200, (who, path)


async def test_looking_and_reading_take_nothing_and_are_no_sign_of_life_r207(api, mail):
    """As often as one likes: every look names the box, also an empty one, and a drain still finds it all."""
    seen = await Agent.objects.aget(slug="echo")
    for path in ("/api/agents/echo/inbox", "/api/agents/echo/inbox?state=acked", "/api/messages/1", "/api/threads/1"):
        for _ in range(3):
            answer = await api.get(path, headers=mail["echo"])
            assert answer.status_code == 200 and answer.json().get("agent", "echo") == "echo"
    again = await Agent.objects.aget(slug="echo")
    assert (again.last_seen, again.evidence_at, again.waiting) == (seen.last_seen, seen.evidence_at, 1)
    held = (await api.post("/api/agents/echo/inbox/drain", headers=mail["echo"])).json()
    assert [each["delivery_count"] for each in held["messages"]] == [1]
