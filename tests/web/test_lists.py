"""Lists: paging never skips or repeats, filters mean the shown word, a cursor waits for an edge."""

from __future__ import annotations

import threading
from datetime import timedelta

import pytest
from django.utils import timezone

from roster import health
from roster.models import Agent, Anomaly, HubUptime
from roster.offload import in_database
from roster.services.anomalies import close_anomaly, open_anomaly
from tests import make
from tests.make import bearer


async def pages(api, token: str, query: str = "") -> list[list[str]]:
    """The ids of every page, following ``next`` until it is null."""
    found, after = [], ""
    while after is not None:
        answer = (await api.get(f"/api/agents?after={after}&{query}", headers=bearer(token))).json()
        found.append([each["id"] for each in answer["agents"]])
        after = answer["next"]
    return found


@pytest.mark.core
async def test_the_order_of_ids_is_that_of_their_characters_whatever_language_the_database_sorts_by(api, fleet):
    """Rows come sorted from the database and profiles from memory: two orders would pass over some at the seams."""
    agents, members = ("a-b", "ab", "a.c", "a_a", "aa", "b-1", "b.0", "b1", "a9", "a-9z"), ("a-a", "a.b", "ac", "b0")
    for slug in agents:
        await in_database(make.agent, slug)
    for slug in members:
        await in_database(make.profile, slug, liveness_mode="async")
    everybody = sum(await pages(api, fleet.agent, "limit=1"), [])
    assert everybody == sorted(everybody)
    assert {*agents, *members} <= set(everybody) and len(everybody) == len(set(everybody))


async def test_paging_shows_everybody_once_in_order_of_id(api, fleet):
    for slug in ("aaron", "zoe", "m.1", "0-zero"):
        await in_database(make.agent, slug)
    await in_database(make.profile, "kept", liveness_mode="async")
    found = await pages(api, fleet.agent, "limit=3")
    everybody = sum(found, [])
    assert all(len(each) == 3 for each in found[:-1])
    assert everybody == sorted(set(everybody))
    assert set(everybody) == {
        "0-zero",
        "aaron",
        "ada",
        "alder",
        "birch",
        "bram",
        "echo",
        "kept",
        "m.1",
        "mira",
        "vera",
        "zoe",
    }
    assert await pages(api, fleet.agent, "limit=12") == [everybody]


async def test_the_version_moves_with_every_change_that_shows(api, fleet):
    async def version():
        return (await api.get("/api/agents", headers=bearer(fleet.agent))).json()["version"]

    first = await version()
    await api.post("/api/heartbeat", json={"status": "idle"}, headers=bearer(fleet.agent))
    assert await version() == first
    await api.post("/api/heartbeat", json={"status": "busy"}, headers=bearer(fleet.agent))
    assert await version() > first


async def test_filters_choose_by_what_is_shown(api, fleet):
    long_ago = timezone.now() - timedelta(days=1)
    for slug, mode in (("gone", "ephemeral"), ("asleep", "async"), ("quiet", "always-on")):
        await in_database(make.agent, slug, long_ago, liveness_mode=mode)
    await in_database(Agent.objects.filter(slug="echo").update, enabled=False, disabled_reason="rest")

    async def ids(query):
        return sum(await pages(api, fleet.agent, query), [])

    assert await ids("presence=live") == ["bram", "echo"]
    assert await ids("presence=silent") == ["quiet"]
    assert "asleep" in await ids("presence=dormant")
    assert await ids("presence=expired") == ["gone"] and "gone" not in await ids("")
    assert await ids("presence=disabled") == ["echo"]
    assert await ids("node=birch") == ["birch", "bram"]
    assert await ids("mode=ephemeral") == ["bram", "echo"]
    assert await ids("q=RA") == ["bram", "mira", "vera"]
    assert await ids("lifecycle=retired") == [] and "echo" in await ids("lifecycle=active")


@pytest.mark.parametrize(
    "query", ["presence=asleep", "lifecycle=fired", "mode=weird", "limit=0", "limit=501", "limit=x"]
)
async def test_a_filter_that_means_nothing_is_refused_by_name(api, fleet, query):
    answer = await api.get(f"/api/agents?{query}", headers=bearer(fleet.agent))
    assert (answer.status_code, answer.json()["error"]["detail"]["field"]) == (422, query.partition("=")[0])


@pytest.mark.core
async def test_a_cursor_over_the_events_waits_for_an_edge(api, fleet):
    own = bearer(fleet.agent)
    first = (await api.get("/api/events?limit=500", headers=own)).json()
    keys = {"id", "at", "kind", "agent", "by", "before", "before_since", "after", "reason"}
    assert all(set(each) == keys for each in first["events"])
    assert (await api.get(f"/api/events?after={first['next']}", headers=own)).json() == {
        "events": [],
        "next": first["next"],
    }
    await api.post("/api/agents/echo/sign-off", headers=own)
    await api.post("/api/heartbeat", json={"status": "busy"}, headers=own)
    later = (await api.get(f"/api/events?after={first['next']}&agent=echo&kind=presence", headers=own)).json()
    assert [(each["before"], each["after"]) for each in later["events"]] == [("live", "expired"), ("expired", "live")]
    assert later["next"] == later["events"][-1]["id"]


async def test_events_in_pages_are_the_events_at_once(api, fleet):
    own = bearer(fleet.agent)
    whole = (await api.get("/api/events?limit=500", headers=own)).json()["events"]
    found, after = [], 0
    while part := (answer := (await api.get(f"/api/events?limit=4&after={after}", headers=own)).json())["events"]:
        found, after = found + part, answer["next"]
    assert found == whole


async def test_anomalies_are_told_open_and_closed(api, fleet):
    now = timezone.now()
    await in_database(open_anomaly, "sweep_late", "expiry", now, why="test")
    await in_database(open_anomaly, "sweep_late", "dormancy", now)
    await in_database(close_anomaly, "sweep_late", "dormancy", now)

    async def told(query=""):
        return (await api.get(f"/api/anomalies{query}", headers=bearer(fleet.agent))).json()["anomalies"]

    assert set((await told())[0]) == {"kind", "subject", "opened_at", "closed_at", "evidence"}
    assert {each["subject"] for each in await told()} == {"expiry", "dormancy"}
    assert [each["subject"] for each in await told("?open=true")] == ["expiry"]
    assert [each["subject"] for each in await told("?open=false")] == ["dormancy"]
    assert await in_database(Anomaly.objects.count) == 2


async def test_health_is_told_to_anybody_in_counts_only(api, fleet):
    assert (await api.get("/healthz")).json() == {"status": "ok"}
    assert (await api.get("/readyz")).json() == {"status": "ready", "reasons": []}
    metrics = await api.get("/metrics")
    assert metrics.headers["content-type"].startswith("text/plain; version=0.0.4")
    assert 'agora_agents{presence="live"} 2.0' in metrics.text
    assert "echo" not in metrics.text


async def test_a_hub_that_can_read_and_not_write_is_not_ready(api, fleet):
    """A full disk: pages are served, the marks of the web process and every heartbeat fail."""
    now = timezone.now()
    stretch = await in_database(HubUptime.objects.create, up_at=now, alive_at=now - timedelta(minutes=1))
    answer = await api.get("/readyz")
    assert answer.status_code == 503 and "nothing could be written since" in answer.json()["reasons"][0]
    await in_database(HubUptime.objects.filter(pk=stretch.pk).update, alive_at=timezone.now())
    assert (await api.get("/readyz")).status_code == 200


async def test_a_hub_whose_database_stands_still_says_so_in_time(api, fleet, monkeypatch):
    goes_on = threading.Event()
    monkeypatch.setattr(health, "PATIENCE", 0.1)
    monkeypatch.setattr(health, "_reasons", lambda: goes_on.wait(10))
    answer = await api.get("/readyz")
    goes_on.set()
    assert (answer.status_code, answer.json()["reasons"]) == (503, ["the database does not answer"])
