"""A session that takes over gets back what the one before it holds (F072)."""

from __future__ import annotations

import pytest
from asgiref.sync import sync_to_async
from django.utils import timezone

from roster import access, beats
from roster.models import Agent, Event
from roster.services import batch, presence
from tests import make
from tests.inbox import post
from tests.make import bearer
from tests.roster.fleet import Fleet, minutes, open_anomalies, seconds


@pytest.fixture
def token(now, db) -> str:
    """The token of ``echo``, whose session ``one`` holds two messages for an hour."""
    _, token = make.agent("echo", now, liveness_mode="async", session="one", host="alder")
    _, scribe = make.agent("scribe", now)
    post.send(scribe, "echo", now)
    post.send(scribe, "echo", now)
    post.drain(token, "echo", now, seconds=3600, session="one")
    return token


@pytest.mark.parametrize("way", ["heartbeat", "put"])
async def test_a_restarted_agent_has_its_mail_at_once_f072(api, enrolment, way):
    """Killed while it held two messages for an hour, back two seconds later with the same token: no call is refused,
    the answer to its hello counts what came back, and the roster says that a session was replaced."""
    _, scribe = await sync_to_async(make.agent)("scribe", timezone.now())
    first = await api.put("/api/agents/echo", json={"status": "idle", "session": "one"}, headers=bearer(enrolment))
    own = bearer(first.json()["token"])
    for _ in range(2):
        await api.post("/api/messages", json={"to": "echo", "body": "hello"}, headers=bearer(scribe))
    taken = {"session": "one", "lease_seconds": 3600}
    lost = (await api.post("/api/agents/echo/inbox/drain", json=taken, headers=own)).json()
    hello = {"status": "idle", "session": "two"}
    if way == "put":
        answer = await api.put("/api/agents/echo", json=hello, headers=own)
    else:
        answer = await api.post("/api/heartbeat", json=hello, headers=own)
    assert (answer.status_code, answer.json()["waiting"]) == (200, 2)
    again = (await api.post("/api/agents/echo/inbox/drain", json={"session": "two"}, headers=own)).json()
    assert post.counts(again) == [(1, 2), (2, 2)]
    late = await api.post("/api/agents/echo/inbox/ack", json={"lease": lost["lease"], "seqs": [1]}, headers=own)
    assert (late.status_code, late.json()["error"]["code"]) == (409, "lease_expired")
    acked = await api.post("/api/agents/echo/inbox/ack", json={"lease": again["lease"], "seqs": [1, 2]}, headers=own)
    assert [each["result"] for each in acked.json()["results"]] == ["acked", "acked"]
    told = (await api.get("/api/events?agent=echo&kind=session_replaced", headers=own)).json()["events"]
    assert [(each["before"], each["after"], each["by"]) for each in told] == [("one", "two", "echo")]


def test_only_the_hello_of_a_session_takes_over_f072(now, token):
    """Later heartbeats of the new one change nothing, nor do those of the old one, which lost its mail for good."""
    make.beat(token, now + seconds(2), session="two")
    again = post.drain(token, "echo", now + seconds(3), session="two")
    assert post.counts(again) == [(1, 2), (2, 2)]
    for n, session in enumerate(["two", "one", "two", "one"]):
        make.beat(token, now + seconds(4 + n), session=session)
    assert post.states("echo") == {1: "leased", 2: "leased"}
    assert post.ack(token, "echo", now + seconds(9), [1, 2], again["lease"]) == ["acked", "acked"]
    assert Event.objects.filter(kind="session_replaced").count() == 1


def test_a_session_that_drains_before_its_first_heartbeat_takes_over_with_that_f072(now, token):
    """A call alone takes nothing away: two processes may well drain at once (P19)."""
    scribe = make.agent("other", now)[1]
    post.send(scribe, "echo", now + seconds(1))
    early = post.drain(token, "echo", now + seconds(2), session="two")
    assert post.seqs(early) == [3] and post.states("echo") == {1: "leased", 2: "leased", 3: "leased"}
    make.beat(token, now + seconds(3), session="two")
    assert post.states("echo") == {1: "waiting", 2: "waiting", 3: "leased"}
    assert Event.objects.get(kind="session_replaced").before == "one"


def test_a_hello_among_others_in_one_commit_takes_over_f072(now, token):
    """Several heartbeats of one agent may be written together: the old session's, the new one's, and one that names
    none."""
    digest = access.digest(token)
    said = [beats.Said(session=session) for session in ("one", "two", None)]
    group = [presence.Beat(digest, None, each, now + seconds(n)) for n, each in enumerate(said, 1)]
    assert [outcome.agent.waiting for outcome in presence.record(group)] == [2, 2, 2]
    assert post.states("echo") == {1: "waiting", 2: "waiting"}
    assert Agent.objects.get(slug="echo").waiting == 2


def test_a_nodes_batch_names_no_session_and_takes_nothing_f072(now, token):
    Fleet(now).beat(["echo"], now + seconds(2))
    Fleet(now, "birch").beat(["echo"], now + seconds(3), "working: notes")
    assert post.states("echo") == {1: "leased", 2: "leased"}
    assert not Event.objects.filter(kind="session_replaced").exists()
    assert "session" not in batch.Entry.__dataclass_fields__


def test_what_no_session_took_stays_with_whoever_took_it_f072(now, db):
    """Nobody knows whose it is, the new session's or an older one's: its lease decides."""
    _, token = make.agent("echo", now, session="one")
    post.send(make.agent("scribe", now)[1], "echo", now)
    post.drain(token, "echo", now)
    make.beat(token, now + seconds(2), session="two")
    assert post.states("echo") == {1: "leased"}


def test_two_sessions_that_alternate_raise_the_warning_of_a_shared_identity_f072(now, token):
    """More than three times in ten minutes is well beyond what it takes."""
    for n in range(8):
        make.beat(token, now + minutes(n + 1), session=("two", "one")[n % 2], host=("birch", "alder")[n % 2])
    assert open_anomalies("duplicate_sessions") == ["echo"]
    assert Event.objects.filter(kind="session_replaced").count() == 1


def test_five_restarts_that_lose_it_give_a_message_up_f072(now, token):
    """A message that kills its reader each time is poison, whoever ends the lease."""
    for n in range(2, 7):
        make.beat(token, now + seconds(n * 10), session=f"session-{n}")
        post.drain(token, "echo", now + seconds(n * 10 + 1), seconds=3600, session=f"session-{n}")
    assert post.states("echo") == {1: "dead", 2: "dead"}
