"""Who a letter reaches: exactly the ids that it names (F074)."""

from __future__ import annotations

import pytest
from asgiref.sync import sync_to_async
from django.utils import timezone

from inbox.models import Delivery, Message
from roster.errors import NotFound
from roster.models import Agent
from tests import make
from tests.inbox import post
from tests.make import bearer

NAMES = ["Bob", "bob", " BOB ", "b\N{CYRILLIC SMALL LETTER O}b", "bob", "\uff42\uff4f\uff42"]
HINTS = {"Bob": "bob", " BOB ": "bob", "b\N{CYRILLIC SMALL LETTER O}b": None, "\uff42\uff4f\uff42": "bob"}


async def test_names_that_only_look_like_an_id_reach_nobody_f074(api, enrolment):
    """Case, space, width and alphabet: each is named, the harmless slips with the hint, and nothing is stored. The id
    itself, named twice, gets one copy; and nobody can take a case variant of it."""
    now = timezone.now()
    _, scribe = await sync_to_async(make.agent)("scribe", now)
    _, bob = await sync_to_async(make.agent)("bob", now)
    send = {"to": NAMES, "body": "hello"}
    refused = await api.post("/api/messages", json=send, headers=bearer(scribe))
    error = refused.json()["error"]
    assert (refused.status_code, error["code"]) == (404, "unknown_recipient")
    assert error["detail"]["unknown"] == [{"to": name, "hint": hint} for name, hint in HINTS.items()]
    assert not await Message.objects.aexists() and not await Delivery.objects.aexists()

    sent = await api.post("/api/messages", json=send | {"to": ["bob", "bob"]}, headers=bearer(scribe))
    assert [each["to"] for each in sent.json()["deliveries"]] == ["bob"]
    box = (await api.get("/api/agents/bob/inbox", headers=bearer(bob))).json()
    assert len(box["messages"]) == box["waiting"] == 1

    taken = await api.put("/api/agents/BOB", json={"status": "idle"}, headers=bearer(enrolment))
    assert (taken.status_code, taken.json()["error"]["code"]) == (409, "taken")
    assert "'bob'" in taken.json()["error"]["message"] and await Agent.objects.acount() == 2


@pytest.mark.django_db
def test_one_unknown_name_among_many_refuses_the_whole_letter_f074(now):
    """Half a round would leave the sender to find out who got it."""
    _, scribe = make.agent("scribe", now)
    known = [make.agent(f"reader-{n}", now)[0].slug for n in range(5)]
    with pytest.raises(NotFound):
        post.send(scribe, [*known, "reader-9"], now)
    assert not Message.objects.exists() and not Agent.objects.filter(waiting__gt=0).exists()


@pytest.mark.django_db
def test_a_letter_to_many_is_one_message_with_a_delivery_each(now):
    """In one transaction and with one number, answered in the order in which they were named."""
    _, scribe = make.agent("scribe", now)
    names = [make.agent(name, now)[0].slug for name in ("cy", "ann", "bob")]
    sent = post.send(scribe, [*names, "ann"], now)
    assert [each["to"] for each in sent.deliveries] == names
    assert Message.objects.count() == 1
    assert {name: post.seqs(post.peek(name, now)) for name in names} == dict.fromkeys(names, [sent.seq])


@pytest.mark.django_db
def test_one_may_write_to_oneself_by_name(now):
    """A note for the next session; only a group and ``live`` leave the sender out."""
    _, scribe = make.agent("scribe", now)
    assert post.line(post.send(scribe, "scribe", now))["state"] == "waiting"


@pytest.mark.django_db
def test_a_person_is_written_to_like_anybody_else(now):
    make.person("mira")
    told = post.line(post.send(make.agent("scribe", now)[1], "mira", now))
    assert (told["to"], told["state"], told["code"]) == ("mira", "waiting", "dormant")


@pytest.mark.django_db
def test_a_hint_is_an_id_that_somebody_has(now):
    make.agent("a" * 64, now)
    _, ann = make.agent("ann", now)
    with pytest.raises(NotFound) as why:
        post.send(ann, "A" * 70, now)
    assert why.value.detail["unknown"][0]["hint"] in (None, "a" * 64)
