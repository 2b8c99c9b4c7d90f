"""Logs: one event is one line, what matters is in them, and nobody writes them but the hub (P68, P73, F164)."""

from __future__ import annotations

import logging
from datetime import timedelta
from urllib.parse import quote

import pytest
from django.utils import timezone

from inbox import plans
from inbox.services import sweeping
from roster.models import Event, SweepRun
from roster.offload import in_database
from roster.services import guard, sweeps, tokens
from tests import make
from tests.make import bearer
from tests.web.conftest import calling_from, sign_in

FORGED = "2026-01-01 00:00:00,000 WARNING agora.security: forged"
BREAKS = {
    "CR LF": "\r\n",
    "LF": "\n",
    "CR": "\r",
    "NEL": "\x85",
    "VT": "\x0b",
    "LS": "\u2028",
    "PS": "\u2029",
    "ANSI": "\x1b[2K\x1b[1A",
    "backspace": "\b\b\b\b",
    "right to left": "\u202e",
    "isolate": "\u2066",
    "C1": "\x9b2K",
}


def lines(text: str) -> list[str]:
    """As any reader would part them: by every break that Unicode knows."""
    return text.splitlines()


@pytest.mark.parametrize("name", BREAKS)
async def test_nobody_forges_a_line_P68(api, fleet, logged, name):
    """In an id, a path, a task, a header, a user name: each event stays one line and shows what was sent as escapes."""
    hostile = f"x{BREAKS[name]}{FORGED}"
    sent = quote(hostile, safe="")
    agent = {"User-Agent": hostile.encode("latin-1", "replace").replace(b"\r", b"").replace(b"\n", b"")}
    await api.put(f"/api/agents/{sent}", json={"status": "idle"}, headers=bearer(fleet.enrolment))
    await api.put(f"/api/agents/{sent}", json={"status": "idle"}, headers=bearer(fleet.agent))
    await api.delete(f"/api/agents/{sent}", headers=bearer(fleet.agent) | agent)
    await api.get(f"/api/agents/{sent}")
    await api.get(f"/api/{sent}")
    await api.get(f"/agents/{sent}/")
    await api.put(
        "/api/agents/echo",
        json={"status": hostile, "task": hostile, "meta": {hostile: hostile}},
        headers=bearer(fleet.agent),
    )
    await api.get("/sign-in/")
    form = {"username": hostile, "password": hostile, "csrfmiddlewaretoken": api.cookies["csrftoken"]}
    await api.post("/sign-in/", data=form)
    await api.post("/sign-in/", data={"username": hostile})
    said = logged()
    assert said.count("forged") >= 3
    for line in lines(said):
        assert not line.startswith(FORGED[:23]) and line[:2] == "20" and line.isprintable(), line


async def test_what_an_exception_carries_stays_one_line_of_bounded_length_P68_F164(logged):
    try:
        raise ValueError("a\0b\n" + "é" * 2_000_000)
    except ValueError:
        logging.getLogger("agora.sweeps").exception("failed")
    said = logged()
    assert len(lines(said)) == 1 and len(said) < 20_000 and "\0" not in said
    assert "failed" in said and "\\u0000" in said


async def test_a_sweep_that_fails_on_what_an_agent_sent_is_recorded_and_the_next_one_runs_F164(
    transactional_db, monkeypatch, now
):
    """An exception whose text holds a NUL and 2 MB: the run is failed, by the name of the error, and all goes on."""
    from roster import states

    plan = sweeps.Plan("dormancy", sweeps.Q(liveness_mode__in=states.PERSISTENT), timedelta(minutes=5))

    def fails(*_):
        raise RuntimeError("agent says \0" + "x" * 2_000_000)

    def play() -> list[SweepRun]:
        with monkeypatch.context() as broken:
            broken.setattr(guard, "holds", fails)
            with pytest.raises(RuntimeError):
                sweeps.run(plan, now)
        sweeps.run(plan, now + timedelta(minutes=5))
        return list(SweepRun.objects.order_by("pk"))

    first, second = await in_database(play)
    assert (first.outcome, first.note) == ("failed", "RuntimeError") and first.finished_at is not None
    assert second.outcome == "ok"


async def test_refusals_are_logged_with_what_and_from_where_P73(api, fleet, logged):
    await api.get("/api/agents", headers=bearer("agora_a_" + "x" * 43))
    assert "authentication failed: GET /api/agents from 127.0.0.1" in logged()
    await api.put("/api/agents/bram", json={"status": "idle"}, headers=bearer(fleet.agent))
    assert "refused: PUT /api/agents/bram: not_yours" in logged()
    await api.get("/sign-in/")
    form = {"username": "vera", "password": "wrong", "csrfmiddlewaretoken": api.cookies["csrftoken"]}
    await api.post("/sign-in/", data=form)
    assert "sign-in failed: vera from 127.0.0.1" in logged()
    await api.get("/sign-in/link/made-up/")
    assert "sign-in link refused" in logged() and "made-up" not in logged()
    await sign_in(api, "vera")
    await api.post("/guard/release/", data={"csrfmiddlewaretoken": api.cookies["csrftoken"]})
    assert "refused: POST /guard/release/ to vera" in logged()
    await api.post("/guard/release/", data={})
    assert "CSRF" in logged()
    assert "wrong" not in logged()
    async with calling_from("203.0.113.4") as hasty:
        await sign_in(hasty, "correct horse battery", "vera")
    assert "sign-in failed: an unknown name from 203.0.113.4" in logged() and "horse" not in logged()


async def test_the_life_of_a_token_is_in_the_journal_P73(api, fleet):
    def life() -> list[tuple]:
        now = timezone.now()
        made = make.agent("nora")[1]
        fresh = tokens.rotate(tokens.by_prefix(made), by="mira", now=now)
        tokens.revoke(tokens.by_prefix(fresh), by="mira", now=now, reason="left")
        return made, fresh, list(Event.objects.filter(agent__slug="nora", kind__startswith="token").order_by("pk"))

    made, fresh, events = await in_database(life)
    assert [(each.kind, each.reason) for each in events] == [
        ("token_issued", "registered"),
        ("token_revoked", "rotated"),
        ("token_issued", "registered"),
        ("token_revoked", "left"),
    ]
    assert [(each.after or each.before)["prefix"] for each in events] == [made[:14], made[:14], fresh[:14], fresh[:14]]
    assert events[-1].by == "mira"
    told = (await api.get("/api/events?agent=nora&limit=500", headers=bearer(fleet.agent))).json()["events"]
    assert [each["kind"] for each in told if each["kind"].startswith("token")] == [each.kind for each in events]


async def test_registering_enrolling_and_signing_in_are_in_the_journal_P73(api, fleet):
    await api.put("/api/agents/nora", json={"status": "idle"}, headers=bearer(fleet.enrolment))
    await api.post("/api/nodes", json={"slug": "cedar"}, headers=bearer(fleet.manager))
    await sign_in(api, "vera")
    kinds = await in_database(lambda: list(Event.objects.values_list("kind", "by")))
    assert {"registered", "node_enrolled", "signed_in", "token_issued"} <= {kind for kind, _ in kinds}
    assert ("node_enrolled", "mira") in kinds and ("signed_in", "vera") in kinds


async def test_no_letter_and_no_lease_is_logged_or_journaled_P68(api, fleet, logged):
    """Sent, refused, taken, settled, looked at by a manager, given up; the journal is open to everybody who reads."""
    own, key = bearer(fleet.agent), "key-of-the-letter"
    letter = {"to": "echo", "subject": "quiet subject", "body": "quiet body"}
    late = letter | {"expires_at": (timezone.now() + timedelta(hours=1)).isoformat()}
    again = letter | {"body": "quiet other body"}
    for said in (
        letter,
        again,
        late,
        letter | {"to": "nobody"},
        letter | {"kind": "quiet kind"},
        letter | {"body": "quiet\0"},
    ):
        await api.post("/api/messages", json=said, headers=own | ({"Idempotency-Key": key} if said is not late else {}))
    lease = (await api.post("/api/agents/echo/inbox/drain", json={"limit": 1}, headers=own)).json()["lease"]
    for token in (fleet.agent, fleet.bram, fleet.manager, "agora_a_" + "x" * 43):
        for path in ("messages/1", "threads/1", "agents/echo/inbox?state=all"):
            await api.get(f"/api/{path}", headers=bearer(token))
        for slug in ("echo", "bram"):
            for call in ("extend", "release", "ack"):
                body = {"lease": lease} | ({"seqs": [1]} if call == "ack" else {})
                await api.post(f"/api/agents/{slug}/inbox/{call}", json=body, headers=bearer(token))
    run = await in_database(sweeping.run, plans.PLAN, timezone.now() + timedelta(hours=2))
    assert run.edges >= 2  # given up, and its sender told
    said = logged()
    told = (await api.get("/api/events?limit=500", headers=own)).json()["events"]
    assert {"mail_dead", "inbox_looked_at"} <= {each["kind"] for each in told}
    assert "authentication failed: GET /api/messages/1 from" in said
    for secret in ("quiet", key, lease):
        assert secret not in said and secret not in str(told), secret
