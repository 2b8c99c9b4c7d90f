"""Mail keeps an agent live, and the roster says where nothing else does (F033, F123)."""

from __future__ import annotations

import pytest
from asgiref.sync import sync_to_async
from django.utils import timezone

from roster import schemas
from roster.models import Agent
from tests import make
from tests.inbox import post
from tests.make import bearer
from tests.roster.fleet import listed, minutes, shown


async def test_an_agent_whose_heartbeat_alone_is_refused_is_live_with_a_warning_f123(api):
    """It drains and acks while its heartbeat loop names the wrong id and gets 403."""
    now = timezone.now()
    _, token = await sync_to_async(make.agent)("echo", now - minutes(110), liveness_mode="async")
    _, other = await sync_to_async(make.agent)("other", now - minutes(110), liveness_mode="async")
    await sync_to_async(post.drain)(token, "echo", now - minutes(55))
    await sync_to_async(post.send)(other, "echo", now - minutes(55))
    wrong = bearer(token, **{"Agora-Agent": "other"})
    assert (await api.post("/api/heartbeat", json={}, headers=wrong)).status_code == 403
    drained = (await api.post("/api/agents/echo/inbox/drain", headers=bearer(token))).json()
    (message,) = drained["messages"]
    acked = await api.post(
        "/api/agents/echo/inbox/ack", json={"lease": drained["lease"], "seqs": [message["seq"]]}, headers=bearer(token)
    )
    assert acked.json()["results"] == [{"seq": message["seq"], "result": "acked"}]
    told = (await api.get("/api/agents/echo", headers=bearer(other))).json()
    assert (told["presence"], told["last_seen_source"], told["heartbeats_failing"]) == ("live", "own_call", True)
    await api.post("/api/heartbeat", json={}, headers=bearer(token))
    told = (await api.get("/api/agents/echo", headers=bearer(other))).json()
    assert (told["presence"], told["heartbeats_failing"]) == ("live", False)


@pytest.mark.django_db
def test_sending_draining_and_acking_count_as_being_active_f033(now):
    """For two hours it does nothing else. The scenario's ``active_within`` filter is left out: whoever lists the live
    ones gets the time of the last own call with each, and that of the last heartbeat beside it."""
    _, coordinator = make.agent("coordinator", now, liveness_mode="async", expected_interval=450)
    _, worker = make.agent("worker", now, liveness_mode="async")
    for minute in range(10, 121, 10):
        at = now + minutes(minute)
        post.send(coordinator, "worker", at)
        post.send(worker, "coordinator", at)
        drained = post.drain(coordinator, "coordinator", at)
        assert post.ack(coordinator, "coordinator", at, post.seqs(drained), drained["lease"]) == ["acked"]
    end = now + minutes(121)
    assert "coordinator" in listed(end, presence="live")
    told = shown("coordinator", end)
    assert (told["last_seen"], told["last_seen_source"]) == (schemas.stamp(now + minutes(120)), "own_call")
    assert (told["last_heartbeat"], told["heartbeats_failing"]) == (schemas.stamp(now), True)


@pytest.mark.django_db
@pytest.mark.parametrize("call", ["send", "drain", "ack", "extend", "release"])
def test_each_call_on_ones_own_mail_is_a_sign_of_life_f033(now, call):
    _, token = make.agent("echo", now, liveness_mode="async")
    post.send(make.agent("other", now)[1], "echo", now)
    drained = post.drain(token, "echo", now) if call not in ("send", "drain") else {}
    at = now + minutes(1)
    {
        "send": lambda: post.send(token, "other", at),
        "drain": lambda: post.drain(token, "echo", at),
        "ack": lambda: post.ack(token, "echo", at, post.seqs(drained), drained["lease"]),
        "extend": lambda: post.extend(token, "echo", at, drained["lease"]),
        "release": lambda: post.release(token, "echo", at, drained["lease"]),
    }[call]()
    agent = Agent.objects.get(slug="echo")
    assert (agent.last_seen, agent.last_seen_source, agent.heartbeat_at) == (at, "own_call", now)


@pytest.mark.django_db
def test_an_agent_that_comes_back_with_a_drain_has_a_window_for_its_first_heartbeat(now):
    """After days of absence its mail may well come first: that is no failure."""
    _, token = make.agent("echo", now, liveness_mode="async")
    back = now + minutes(60 * 24 * 3)
    post.drain(token, "echo", back)
    post.drain(token, "echo", back + minutes(59))
    assert not shown("echo", back + minutes(60))["heartbeats_failing"]
    assert shown("echo", back + minutes(61))["heartbeats_failing"]
