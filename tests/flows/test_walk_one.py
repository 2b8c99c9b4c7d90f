"""Walk 1 of the design through the real processes, over HTTP alone: heartbeat in, row on the page."""

from __future__ import annotations

import re

import httpx


def test_a_heartbeat_is_in_the_api_on_the_pages_and_in_the_events(hub):
    token = hub.register("walker", liveness_mode="async", expected_interval=60)
    with hub.client(token) as own:
        first = own.get("/api/agents/walker").json()
        answer = own.post("/api/heartbeat", json={"status": "working: the walk", "session": "s1", "host": "alder"})
        assert answer.status_code == 200
        assert answer.json()["presence"] == "live" and 54 <= answer.json()["next_heartbeat_in"] <= 66
        seen = own.get("/api/agents/walker").json()
        events = own.get("/api/events", params={"agent": "walker"}).json()["events"]
    assert seen["task"] == "the walk" and seen["last_seen"] > first["last_seen"]
    assert [each["after"] for each in events if each["kind"] == "activity"][-1]["task"] == "the walk"
    with httpx.Client(base_url=hub.url, follow_redirects=True) as person:
        person.get(hub.command("sign-in", "admin"))
        roster, page = person.get("/", params={"q": "walker"}), person.get("/agents/walker/")
    assert re.search(r'<tr id="agent-\d+">.*walker.*the walk', roster.text, re.DOTALL)
    assert "the walk" in page.text and "alder" in page.text


def test_a_sign_in_link_works_once(hub):
    link = hub.command("sign-in", "admin")
    with httpx.Client() as first, httpx.Client() as second:
        assert first.get(link).headers["location"] == "/"
        assert second.get(link).status_code == 410


def test_a_token_that_was_rotated_is_refused_in_every_web_process_at_once_F065(hub, second_web):
    """Two web processes (the scenario's four) on one database, both warm with the old token: the very next call of
    each refuses it. Until it is revoked both are good, which is the overlap that somebody asked for."""
    slug = "rotated"
    old = hub.register(slug)
    urls = (hub.url, second_web)
    assert [_beat(url, old) for url in urls] == [200, 200]
    new = hub.command("token", "create", "agent", slug)
    assert [_beat(url, token) for url in urls for token in (old, new)] == [200] * 4
    hub.command("token", "revoke", old[:14])
    assert [_beat(url, old) for url in urls] == [401, 401]
    assert [_beat(url, new) for url in urls] == [200, 200]


def _beat(url: str, token: str) -> int:
    return httpx.post(f"{url}/api/heartbeat", json={}, headers={"Authorization": f"Bearer {token}"}).status_code
