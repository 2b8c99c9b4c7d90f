"""Raw tokens lie nowhere; revoking and rotating hold for the very next call, in every process (P58, F107, F065)."""

from __future__ import annotations

import re
import secrets

import pytest
from django.db import connection
from django.utils import timezone

from roster.models import Token
from roster.offload import in_database
from roster.services import people, tokens
from tests import make
from tests.make import bearer
from tests.web.calls import body_of, operations, where
from tests.web.conftest import sign_in


def dump() -> str:
    """Every cell of every table, as text."""
    with connection.cursor() as cursor:
        found = []
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f'SELECT * FROM "{table}"')
            found += map(str, cursor.fetchall())
    return "\n".join(found)


@pytest.mark.core
async def test_no_raw_token_is_kept_or_logged_P58_F107(api, fleet, logged):
    """Used in every call, refused, rotated, revoked, put where it does not belong; then the whole database is read."""
    raws = [*fleet.kinds().values(), fleet.bram, fleet.birch]
    for raw in raws:
        for method, path in operations():
            sent = body_of(method, path) if method != "GET" else None
            await api.request(method, where(path), json=sent, headers=bearer(raw))
        await api.get(f"/api/whoami?token={raw}")
        await api.get(f"/api/agents/{raw}", headers=bearer(raw))
        await api.get(f"/api/agents/{raw}")
        await api.delete(f"/api/agents/{raw}", headers=bearer(raw))
        await api.get(f"/agents/{raw}/")
        await sign_in(api, raw, raw)
        await api.get("/api/whoami", headers={"Authorization": f"Basic {raw}"})
    rotated = await in_database(lambda: tokens.rotate(tokens.by_prefix(fleet.agent), by="test", now=timezone.now()))
    await api.post("/api/heartbeat", json={}, headers=bearer(rotated))
    link = await in_database(lambda: people.sign_in_link("vera", by="test", now=timezone.now()))
    await api.get(f"/sign-in/link/{link}/")
    await api.get(f"/sign-in/link/{link}/")
    kept, said = await in_database(dump), logged()
    for raw in (*raws, rotated, link):
        secret = raw[14:] if raw.startswith("agora_") else raw
        assert secret not in kept and secret not in said
        assert raw[:14] in kept or raw == link  # the prefix is what a list shows


async def test_a_token_is_random_enough_and_stored_as_a_digest_P58(fleet):
    stored = await in_database(lambda: list(Token.objects.values_list("prefix", "digest")))
    assert all(
        re.fullmatch(r"agora_[aenp]_[\w-]{6}", prefix) and re.fullmatch(r"[0-9a-f]{64}", digest)
        for prefix, digest in stored
    )
    made = {secrets.token_urlsafe(32) for _ in range(3)}
    assert all(len(each) == len(fleet.agent) - 8 for each in made)  # 32 bytes: 256 bits


async def test_a_token_is_shown_in_one_answer_only_P58(api, fleet):
    made = await api.put("/api/agents/nora", json={"status": "idle"}, headers=bearer(fleet.enrolment))
    raw = made.json()["token"]
    assert made.headers["cache-control"] == "no-store"
    for address in ("/api/agents", "/api/agents/nora", "/api/whoami", "/api/events?limit=500", "/api/anomalies"):
        assert raw[14:] not in (await api.get(address, headers=bearer(raw))).text


async def test_revoking_and_rotating_hold_for_the_next_call_P58_F065(api, fleet):
    """The heartbeat's short memory of good tokens must not outlive them."""
    for address in ("/api/heartbeat", "/api/agents/echo/sign-off"):
        assert (await api.post(address, json={}, headers=bearer(fleet.agent))).status_code == 200
    fresh = await in_database(lambda: tokens.rotate(tokens.by_prefix(fleet.agent), by="test", now=timezone.now()))
    for address in ("/api/heartbeat", "/api/agents/echo/sign-off"):
        assert (await api.post(address, json={}, headers=bearer(fleet.agent))).status_code == 401
        assert (await api.post(address, json={}, headers=bearer(fresh))).status_code == 200
    put = {"json": {"status": "idle"}}
    assert (await api.put("/api/agents/echo", headers=bearer(fleet.agent), **put)).status_code == 401
    await in_database(lambda: tokens.revoke(tokens.by_prefix(fresh), by="test", now=timezone.now()))
    assert (await api.put("/api/agents/echo", headers=bearer(fresh), **put)).status_code == 401
    assert (await api.get("/api/whoami", headers=bearer(fresh))).status_code == 401


def test_a_token_revoked_on_the_terminal_is_refused_by_the_running_hub_at_once_P58_F065(hub):
    """Another process ends it; the web process, warm with it, refuses the very next call, and takes the new one."""
    raw = hub.register("sec-revoked")
    with hub.client(raw) as client:
        for _ in range(5):
            assert client.post("/api/heartbeat", json={"status": "idle"}).status_code == 200
            assert client.get("/api/whoami").status_code == 200
        hub.command("token", "revoke", raw[:14])
        assert client.post("/api/heartbeat", json={"status": "idle"}).status_code == 401
        assert client.get("/api/whoami").status_code == 401
    fresh = hub.command("token", "create", "agent", "sec-revoked")
    assert "\n" not in fresh
    with hub.client(fresh) as client:
        assert client.post("/api/heartbeat", json={"status": "idle"}).status_code == 200


def test_what_a_hub_writes_holds_no_raw_token_P58_F107(hub):
    """Its whole data folder and what it printed; up.json apart, the one place where a raw token lies on disk."""
    raw = hub.register("sec-dump", status="working: dump", session="s1", host="h1")
    node = hub.command("token", "create", "enrolment")
    with hub.client(raw) as client:
        client.post("/api/heartbeat", json={"status": "idle"})
        client.get(f"/api/whoami?access_token={raw}")
        client.get(f"/api/agents/{raw}")
        client.delete(f"/api/agents/{raw}")
        client.get(f"/agents/{raw}/")
    with hub.client(node) as client:
        client.get("/api/whoami")
    own = hub.up["enrolment_token"]
    for path in hub.data.rglob("*"):
        if path.is_file() and path.name != "up.json":
            content = path.read_bytes()
            for each in (raw, node) if path == hub.log else (raw, node, own):  # the start prints its token by design
                assert each[14:].encode() not in content, path
    assert (hub.data / "up.json").stat().st_mode & 0o077 == 0


async def test_a_token_made_in_the_admin_is_shown_once_and_kept_nowhere_F107(api, fleet, logged):
    await sign_in(api, "ada")
    form = {"kind": "agent", "agent": str((await in_database(make.agent, "newcomer"))[0].pk), "node": "", "label": "x"}
    form["csrfmiddlewaretoken"] = api.cookies["csrftoken"]
    issued = await api.post("/admin/roster/token/add/", data=form)
    dumped = await in_database(dump)  # while the token is on its way to the page that shows it
    made = await api.get(issued.headers["location"])
    shown = re.findall(r"agora_a_[\w-]{43}", made.text)
    assert made.status_code == 200 and len(set(shown)) == 1
    raw = shown[0]
    assert (await api.post("/api/heartbeat", json={}, headers=bearer(raw))).status_code == 200
    for address in ("/admin/roster/token/", "/admin/roster/act/", "/admin/", "/admin/roster/agent/"):
        assert raw[14:] not in (await api.get(address)).text
    assert raw[14:] not in dumped + await in_database(dump) + logged()
    assert await in_database(Token.objects.filter(prefix=raw[:14]).exists)
