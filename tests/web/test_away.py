"""Without its database the hub says so: 503 and when to come back, never 401, 404 or a way in (P70, design rule 7)."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import time

import pytest
from django.db import connections

from inbox.services import prompting, sending
from roster import auth
from roster.groupcommit import GroupCommit
from roster.offload import in_database
from roster.services import presence
from tests.make import bearer
from tests.web.calls import body_of, operations, stored, where
from tests.web.conftest import sign_in
from tests.web.test_errors import check


@pytest.fixture
def away(monkeypatch):
    """While entered, every new connection looks for the database where there is none, and grouped writes need a new
    one."""

    def enter(context):
        context.setitem(connections.settings["default"], "NAME", "/nowhere/at/all.sqlite3")
        context.setattr("roster.api.registry.heartbeats", GroupCommit(presence.record, "heartbeats"))
        context.setattr("inbox.api.mail.sends", GroupCommit(sending.record, "sends"))
        context.setattr("inbox.services.prompting.prompts", GroupCommit(prompting.record_all, "prompts"))

    return enter


async def test_no_call_takes_a_lost_database_for_a_wrong_token_P70(api, fleet, monkeypatch, away, logged):
    """With good, unknown and never seen tokens, warm and cold."""
    before = await in_database(stored)
    await api.post("/api/heartbeat", json={"status": "idle"}, headers=bearer(fleet.bram))  # known to the process now
    before = await in_database(stored)
    with monkeypatch.context() as context:
        away(context)
        for raw in (fleet.agent, fleet.bram, fleet.manager, "agora_a_" + "x" * 43):
            for method, path in operations():
                sent = body_of(method, path) if method != "GET" else None  # some are read before the token is looked up
                answer = await api.request(method, where(path, "bram"), json=sent, headers=bearer(raw))
                check(answer, 503, "unavailable")
                assert answer.headers["retry-after"] == "2"
                assert "sqlite" not in answer.text.lower() and "nowhere" not in answer.text
        assert (await api.get("/api/agents")).status_code == 401  # no token at all needs no database
        assert (await api.get("/healthz")).status_code == 200
        ready = await api.get("/readyz")
        assert ready.status_code == 503 and "the database does not answer" in ready.json()["reasons"]
    assert "database away" in logged() and "authentication failed" in logged()
    assert await in_database(stored) == before
    assert (await api.post("/api/heartbeat", json={"status": "idle"}, headers=bearer(fleet.agent))).status_code == 200


async def test_pages_say_so_too_and_let_nobody_in_P70(api, fleet, monkeypatch, away):
    await sign_in(api, "vera")
    with monkeypatch.context() as context:
        away(context)
        for address in ("/", "/agents/echo/", "/admin/"):
            page = await api.get(address)
            assert page.status_code == 503 and page.headers["retry-after"] == "2", address
            assert "Traceback" not in page.text and "nowhere" not in page.text
        form = {
            "username": "vera",
            "password": "correct horse battery",
            "csrfmiddlewaretoken": api.cookies["csrftoken"],
        }
        assert (await api.post("/sign-in/", data=form)).status_code == 503
    assert (await api.get("/")).status_code == 200


async def test_a_database_locked_from_outside_is_waited_for_and_then_503(api, fleet, monkeypatch):
    """Nobody who was told 503 is written later: what was given up does not happen behind the caller's back."""
    name = connections.settings["default"]["TEST"]["NAME"]
    if not os.path.exists(str(name)):
        pytest.skip("only SQLite can be locked from outside")
    monkeypatch.setitem(connections.settings["default"]["OPTIONS"], "timeout", 0.3)
    monkeypatch.setattr(
        "roster.api.registry.heartbeats", GroupCommit(presence.record, "heartbeats")
    )  # with a new connection
    lock = sqlite3.connect(name, isolation_level=None)
    lock.execute("BEGIN IMMEDIATE")
    began = time.monotonic()
    calls = [
        api.post("/api/heartbeat", json={"status": "working: lost"}, headers=bearer(fleet.agent)) for _ in range(3)
    ]
    answers = await asyncio.gather(*calls)
    assert [each.status_code for each in answers] == [503] * 3 and time.monotonic() - began < 10
    lock.execute("ROLLBACK")
    lock.close()
    told = (await api.get("/api/agents/echo", headers=bearer(fleet.agent))).json()
    assert told["task"] is None
    assert (
        await api.post("/api/heartbeat", json={"status": "working: kept"}, headers=bearer(fleet.agent))
    ).status_code == 200


async def test_a_process_that_cannot_authenticate_remembers_nobody(api, fleet, monkeypatch, away):
    auth._known.clear()
    with monkeypatch.context() as context:
        away(context)
        await api.post("/api/heartbeat", json={}, headers=bearer(fleet.agent))
    assert auth._known == {}
