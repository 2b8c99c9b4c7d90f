"""Mail to a member whom only a profile knows waits for it, and its first registration finds it (R72)."""

from __future__ import annotations

import asyncio

import pytest
from asgiref.sync import sync_to_async
from django.utils import timezone

from inbox import letters
from inbox.services import sending
from roster import access, beats
from roster.errors import Conflict, Forbidden, HubError, NotFound
from roster.models import Agent, Event, Token
from roster.services import profiles, registry, tokens
from tests import make
from tests.inbox import post
from tests.make import bearer
from tests.roster.fleet import listed, minutes, shown

pytestmark = pytest.mark.django_db


@pytest.fixture
def scribe(now):
    return make.profile("scribe", now, title="Scribe", liveness_mode="async", expected_interval=600)


@pytest.fixture
def echo(now) -> str:
    return make.agent("echo", now)[1]


def register(slug: str, now, who=make.ENROLMENT, **said):
    return registry.register(who, slug, beats.Said(**{"status": "idle", **said}, replace=True), now)


def test_mail_to_a_member_with_only_a_profile_is_kept_r72(now, scribe, echo):
    """It is shown as before, only with its mail; the journal says who wrote and why there is a row now."""
    before = shown("scribe", now)
    told = post.line(post.send(echo, "scribe", now))
    assert (told["state"], told["code"], told["recipient_presence"]) == ("waiting", "dormant", "dormant")
    assert told["note"] == "queued; scribe was never here; it is read when scribe first comes"
    after = shown("scribe", now)
    assert after == before | {"waiting": 1, "activity": after["activity"]}
    assert before["synthesized"] and listed(now) == ["echo", "scribe"]
    event = Event.objects.get(kind="registered", agent__slug="scribe")
    assert (event.by, event.reason) == ("echo", "from its profile, to keep mail for it")
    post.send(echo, "scribe", now)
    assert Agent.objects.filter(slug="scribe").count() == Event.objects.filter(agent__slug="scribe").count() == 1


def test_two_letters_of_one_group_find_the_same_new_row_r72(now, scribe, echo):
    out = [sending.Outgoing(letters.Letter(("scribe",), "hello"), now, access.digest(echo)) for _ in range(3)]
    sent = sending.record(out)
    assert [post.line(each)["pending"] for each in sent] == [1, 2, 3]
    assert Event.objects.filter(kind="registered", agent__slug="scribe").count() == 1


@pytest.mark.parametrize("to", [["scribe", "nobody"], ["scribe", "plain"]])
def test_nobody_is_entered_for_a_letter_that_names_an_unknown_id_too(now, scribe, echo, to):
    make.profile("plain", now)
    with pytest.raises(NotFound):
        post.send(echo, to, now)
    assert not Agent.objects.filter(slug="scribe").exists()


@pytest.mark.parametrize("mode", [None, "ephemeral"])
def test_a_profile_that_makes_nobody_a_member_takes_no_mail(now, echo, mode):
    """It is on no list, so nobody is promised that the mail will be read; nor is it a hint for itself."""
    make.profile("scribe", now, liveness_mode=mode)
    with pytest.raises(NotFound) as refusal:
        post.send(echo, "scribe", now)
    assert refusal.value.detail == {"unknown": [{"to": "scribe", "hint": None}]}
    assert not Agent.objects.filter(slug="scribe").exists()


def test_a_token_that_may_not_send_enters_nobody(now, scribe):
    with pytest.raises(Forbidden):
        post.send(make.enrolment_token(), "scribe", now)
    assert not Agent.objects.exists()


async def test_the_first_registration_claims_the_row_and_finds_the_mail_r72(api, enrolment):
    """201 with the token, once, as for any new id; a second one gets what a taken id gets."""
    now = timezone.now()
    await sync_to_async(make.profile)("scribe", now, title="Scribe", liveness_mode="async", expected_interval=600)
    _, echo = await sync_to_async(make.agent)("echo", now)
    sent = await api.post("/api/messages", json={"to": "scribe", "body": "welcome"}, headers=bearer(echo))
    assert sent.status_code == 201
    body = {"status": "working: notes"}
    claimed = await api.put("/api/agents/scribe", json=body, headers=bearer(enrolment))
    told = claimed.json()
    assert (claimed.status_code, told["presence"], told["liveness_mode"], told["expected_interval"]) == (
        201,
        "live",
        "async",
        600,
    )
    assert (told["waiting"], told["synthesized"], told["display_name"]) == (1, False, "Scribe")
    own = bearer(told["token"])
    drained = (await api.post("/api/agents/scribe/inbox/drain", headers=own)).json()
    assert [each["body"] for each in drained["messages"]] == ["welcome"]
    again = await api.put("/api/agents/scribe", json=body, headers=bearer(enrolment))
    taken = await api.put("/api/agents/echo", json=body, headers=bearer(enrolment))
    assert (again.status_code, again.json()["error"]["code"]) == (403, "not_yours")
    assert (taken.status_code, taken.json()["error"]["code"]) == (403, "not_yours")
    assert (await api.put("/api/agents/scribe", json=body, headers=own)).status_code == 200


async def test_one_of_many_claims_the_row_p71(api, enrolment):
    now = timezone.now()
    await sync_to_async(make.profile)("scribe", now, liveness_mode="async")
    _, echo = await sync_to_async(make.agent)("echo", now)
    await api.post("/api/messages", json={"to": "scribe", "body": "welcome"}, headers=bearer(echo))
    puts = [api.put("/api/agents/scribe", json={"status": "idle"}, headers=bearer(enrolment)) for _ in range(8)]
    answers = await asyncio.gather(*puts)
    codes = {(each.status_code, each.json()["error"]["code"]) for each in answers if each.status_code != 201}
    assert [each.status_code for each in answers].count(201) == 1
    assert codes <= {(409, "taken"), (403, "not_yours")}


def test_a_manager_claims_a_row_and_a_viewer_does_not(now, scribe, echo):
    post.send(echo, "scribe", now)
    with pytest.raises(Forbidden):
        register("scribe", now, who=access.Caller("person", "vera", role="viewer"))
    agent, raw = register("scribe", now, who=make.MANAGER)
    assert raw and agent.evidence_at == now


def test_the_later_of_two_claims_is_told_that_the_id_is_taken(now, scribe, echo):
    """Both had been sent on to register before either did."""
    post.send(echo, "scribe", now)
    agent, _ = register("scribe", now)
    with pytest.raises(Conflict) as refusal:
        register("scribe", now)
    assert refusal.value.code == "taken"
    assert Token.objects.filter(agent=agent).count() == 1


def test_a_row_entered_by_hand_is_claimed_and_keeps_what_the_body_leaves_out(now):
    wanted = {"liveness_mode": "async", "expected_interval": 60, "display_name": "Scribe"}
    row = registry.enrolled_by_hand("scribe", wanted, by="mira", now=now)
    agent, _ = register("scribe", now + minutes(1), expected_interval=120)
    assert agent.pk == row.pk
    told = shown("scribe", now + minutes(1))
    assert (told["presence"], told["liveness_mode"], told["expected_interval"], told["display_name"]) == (
        "live", "async", 120, "Scribe",
    )  # fmt: skip


def spoken_for(agent: Agent, now) -> None:
    raw = tokens.issue("agent", by="mira", now=now, agent=agent)
    tokens.revoke(Token.objects.get(digest=access.digest(raw)), by="mira", now=now)


CLAIMED = {
    "it had a token once": spoken_for,
    "it was heard": lambda agent, now: Agent.objects.filter(pk=agent.pk).update(evidence_at=now, deadline=now),
    "it is retired": lambda agent, now: Agent.objects.filter(pk=agent.pk).update(lifecycle="retired"),
    "it is a person": lambda agent, now: Agent.objects.filter(pk=agent.pk).update(modality="human"),
}


@pytest.mark.parametrize("why", CLAIMED)
def test_nobody_claims_a_row_that_waits_for_nobody(now, why):
    agent = registry.enrolled_by_hand("scribe", {"liveness_mode": "async"}, by="mira", now=now)
    CLAIMED[why](agent, now)
    with pytest.raises(Conflict):
        register("scribe", now)
    with pytest.raises(HubError) as refusal:
        make.beat(make.enrolment_token(), now, "scribe")
    assert refusal.value.code == ("retired" if why == "it is retired" else "not_yours")


def test_a_profile_that_stops_making_a_member_leaves_its_mail_alone(now, scribe, echo):
    post.send(echo, "scribe", now)
    scribe.liveness_mode = None
    profiles.save(scribe, by="mira", now=now)
    assert shown("scribe", now)["presence"] == "dormant"
    assert post.seqs(post.peek("scribe", now)) == [1]
