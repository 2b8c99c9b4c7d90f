"""The switch changes what the switch is, and nothing else: no report turns it, and no edge is told twice for it (P38)."""

from __future__ import annotations

import pytest

from roster.models import Agent, Counter, Event
from roster.services import hiring, lifecycle, registry, switch, tokens
from tests import make
from tests.inbox import post
from tests.make import bearer
from tests.roster.fleet import edges, hours, minutes, open_anomalies, shown, sweep
from tests.roster.staff import MANAGER, hire
from tests.web.calls import stored


def columns(slug: str) -> dict:
    return Agent.objects.filter(slug=slug).values().get()


@pytest.mark.django_db
def test_disable_then_enable_changes_nothing_else_p38(now):
    """In any table: the journal tells of it, and the roster's version rises."""
    raw = hire("echo", now)[1]
    make.beat(raw, now, status="working: notes", session="one")
    post.send(make.agent("sender", now)[1], "echo", now)
    post.drain(raw, "echo", now)
    before, tables = columns("echo"), stored(Event, Counter, Agent)
    switch.disable(MANAGER, "echo", "it is wrong", now + minutes(1))
    off = {name for name, value in columns("echo").items() if value != before[name]}
    assert off == {"enabled", "disabled_reason", "disabled_by", "disabled_at", "changed"}
    switch.enable(MANAGER, "echo", now + minutes(2))
    assert {name for name, value in columns("echo").items() if value != before[name]} == {"changed"}
    assert stored(Event, Counter, Agent) == tables
    told = list(Event.objects.order_by("-pk").values_list("kind", "by", "reason")[:2])
    assert told == [("enabled", "mira", ""), ("disabled", "mira", "it is wrong")]


async def test_a_busy_agent_that_reports_itself_enabled_stays_disabled_f038(api, fleet):
    """It beats idle, and puts back the whole record that it had read before; what it may not say is ignored."""
    own = bearer(fleet.agent)
    await api.put("/api/agents/echo", json={"status": "working: x"}, headers=own)
    old = (await api.get("/api/agents/echo", headers=own)).json()
    assert old["enabled"] is True
    told = await api.post("/api/agents/echo/disable", json={"reason": "stop"}, headers=bearer(fleet.manager))
    beat = (await api.post("/api/heartbeat", json={"status": "idle", "enabled": True}, headers=own)).json()
    assert (beat["enabled"], beat["disabled"]) == (False, told.json()["disabled"])
    put = await api.put("/api/agents/echo", json=old | {"status": "idle"}, headers=own)
    assert (put.status_code, put.json()["enabled"]) == (200, False)
    assert (await api.post("/api/agents/echo/enable", headers=own)).status_code == 403
    now = (await api.get("/api/agents/echo", headers=own)).json()
    assert (now["enabled"], now["disabled"], now["activity"]["value"]) == (False, told.json()["disabled"], "idle")


@pytest.mark.django_db
def test_an_agent_overdue_before_and_after_a_pause_went_overdue_once_f079(now):
    raw = make.agent("guard", now, liveness_mode="always-on", expected_interval=60)[1]
    sweep(now + minutes(5))
    since = shown("guard", now + minutes(5))["presence_since"]
    switch.disable(MANAGER, "guard", "a planned pause", now + minutes(10))
    sweep(now + minutes(30))
    switch.enable(MANAGER, "guard", now + minutes(70))
    sweep(now + minutes(75))
    assert edges("guard")[1:] == [("live", "silent")] and open_anomalies() == ["guard"]
    assert shown("guard", now + minutes(75))["presence_since"] == since
    make.beat(raw, now + hours(2), status="idle")
    assert edges("guard")[-1] == ("silent", "live")


KEPT = {
    "a sign-off": lambda raw, now: registry.sign_off(post.hand(raw, "echo", now).who, "echo", None, now),
    "disable": lambda raw, now: switch.disable(MANAGER, "echo", "stop", now),
    "disable and enable": lambda raw, now: [
        switch.disable(MANAGER, "echo", "stop", now), switch.enable(MANAGER, "echo", now)
    ],
    "a move to another node": lambda raw, now: hiring.reassign(MANAGER, "echo", make.node("birch", now)[0].slug, now),
    "another token": lambda raw, now: tokens.rotate(Agent.objects.get(slug="echo").tokens.get(), by="mira", now=now),
    "a drain that has not ended": lambda raw, now: lifecycle.drain(MANAGER, "echo", "", now),
}  # fmt: skip


@pytest.mark.django_db
@pytest.mark.parametrize("act", KEPT)
def test_twelve_letters_wait_after_every_graceful_act_f069(now, act):
    raw = hire("echo", now)[1]
    sender = make.agent("sender", now)[1]
    for n in range(12):
        post.send(sender, "echo", now, body=f"letter {n}")
    KEPT[act](raw, now + minutes(1))
    post.sweep(now + minutes(2))
    assert list(post.states("echo").values()) == ["waiting"] * 12
    assert Agent.objects.get(slug="echo").waiting == 12


@pytest.mark.django_db
def test_who_falls_silent_while_disabled_is_no_alarm_until_it_is_enabled_r145(now):
    """The edge is told once, when it happens; a person is called once the agent is expected again."""
    make.agent("guard", now, liveness_mode="always-on", expected_interval=60)
    switch.disable(MANAGER, "guard", "a planned pause", now)
    sweep(now + minutes(5))
    assert edges("guard")[-1] == ("live", "silent") and open_anomalies() == []
    switch.enable(MANAGER, "guard", now + minutes(60))
    assert open_anomalies() == ["guard"] and len(edges("guard")) == 2
