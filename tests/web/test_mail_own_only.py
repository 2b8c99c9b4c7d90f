"""An agent touches its own mail only; what is another's answers, costs and leaves behind what a missing thing does
(P60, P61)."""

from __future__ import annotations

import logging
import re
from datetime import timedelta
from uuid import uuid4

import pytest

from inbox.services import looks
from roster.models import Agent, Event
from roster.offload import in_database
from tests.make import bearer
from tests.web.calls import body_of, operations, stored, where
from tests.web.conftest import sign_in
from tests.web.test_errors import check

MISSING = 999_999
SETTLE = ("drain", "ack", "extend", "release")


@pytest.fixture
async def mail(api, fleet) -> dict:
    """Each of echo and bram has written to itself, two messages, and holds the first: its number and the lease."""
    held = {}
    for slug, token in (("echo", fleet.agent), ("bram", fleet.bram)):
        for subject in ("one", "two"):
            letter = {"to": slug, "subject": subject, "body": f"for {slug} alone"}
            sent = await api.post("/api/messages", json=letter, headers=bearer(token))
            held.setdefault(slug, {"seq": sent.json()["seq"]})
        taken = await api.post(f"/api/agents/{slug}/inbox/drain", json={"limit": 1}, headers=bearer(token))
        held[slug]["lease"] = taken.json()["lease"]
    return held


@pytest.fixture
def ask(api, settings, caplog):
    """Makes a call and tells what it cost and said: (status, the answer without what was asked for, statements)."""
    settings.DEBUG = True  # Django logs its queries then, from every thread

    async def asked(method: str, path: str, headers: dict, body: dict | None, named: object) -> tuple:
        caplog.clear()
        with caplog.at_level(logging.DEBUG, logger="django.db.backends"):
            answer = await api.request(method, path, headers=headers, json=body)
        number = answer.json()["error"]["request_id"] if answer.is_error else "-"
        told = answer.text.replace(number, "").replace(str(named), "…")
        statements = sum(hasattr(record, "sql") for record in caplog.records)
        headers = {name: value for name, value in answer.headers.items() if name not in ("x-request-id", "date")}
        headers.pop("content-length")  # as long as the name that was asked for
        return answer.status_code, told, tuple(headers.items()), statements

    return asked


def settling(call: str, seq: int, lease: str) -> dict:
    bodies = {"drain": {}, "ack": {"seqs": [seq]}, "extend": {"lease": lease}, "release": {"lease": lease}}
    return bodies[call]


@pytest.mark.core
async def test_a_foreign_inbox_is_one_that_is_not_there_P60_P61(api, fleet, mail, ask):
    """Two agents and a viewer, every inbox call, with the other's very numbers and lease: the same bytes, the same work."""
    owners = {"echo": fleet.agent, "bram": fleet.bram, "vera": fleet.viewer}
    before = await in_database(stored)
    for own, token in owners.items():
        theirs = mail["bram" if own == "echo" else "echo"]
        for call in ("", *SETTLE):
            body = settling(call, theirs["seq"], theirs["lease"]) if call else None
            found = set()
            for slug in {"echo", "bram", "alder", "mira", "nobody", "no such id"} - {own}:
                path = f"/api/agents/{slug}/inbox" + (f"/{call}" if call else "")
                found.add(await ask("POST" if call else "GET", path, bearer(token), body, slug))
            assert len(found) == 1 and found.pop()[0] == 404, (own, call, found)
    assert await in_database(stored) == before


async def test_a_node_reaches_no_further_than_it_speaks_P60_P61(api, fleet, mail, ask):
    """In the address a foreign inbox is 404 like a missing one; a name in the header that is not its own, 403 alike."""
    await api.post(
        "/api/messages", json={"to": "echo", "body": "x"}, headers=bearer(fleet.node)
    )  # its token is known now
    before = await in_database(stored)
    for call in ("", *SETTLE):
        body = settling(call, mail["bram"]["seq"], mail["bram"]["lease"]) if call else None
        found = set()
        for slug in ("bram", "birch", "mira", "nobody"):
            path = f"/api/agents/{slug}/inbox" + (f"/{call}" if call else "")
            found.add(await ask("POST" if call else "GET", path, bearer(fleet.node), body, slug))
        assert len(found) == 1 and found.pop()[0] == 404, (call, found)
    for method, path in (
        ("GET", "messages/{}"),
        ("GET", "threads/{}"),
        ("POST", "messages/{}/read"),
        ("POST", "messages"),
    ):
        found = set()
        for slug in ("bram", "birch", "mira", "nobody"):
            body = {"to": "echo", "body": "x"} if path == "messages" else None
            headers = bearer(fleet.node, **{"Agora-Agent": slug})
            found.add(await ask(method, "/api/" + path.format(mail["bram"]["seq"]), headers, body, slug))
        assert len(found) == 1 and found.pop()[0] == 403, (path, found)
    assert await in_database(stored) == before


@pytest.mark.core
async def test_a_foreign_message_is_one_that_is_not_there_P60_P61(api, fleet, mail, ask):
    before = await in_database(stored)
    readers = {"bram": [fleet.agent, fleet.viewer], "echo": [fleet.bram, fleet.viewer]}
    for whose, tokens in readers.items():
        for token in tokens:
            for method, path in (("GET", "messages/{}"), ("GET", "threads/{}"), ("POST", "messages/{}/read")):
                found = {
                    await ask(method, "/api/" + path.format(seq), bearer(token), None, seq)
                    for seq in (mail[whose]["seq"], MISSING)
                }
                assert len(found) == 1 and found.pop()[0] == 404, (whose, path, found)
    assert await in_database(stored) == before


async def test_foreign_numbers_and_leases_in_a_body_read_like_missing_ones_P60_P61(api, fleet, mail, ask):
    """Acked, given back, held longer or answered: another's message and lease are not there. A lease is 409 then."""
    own, theirs = bearer(fleet.agent), mail["bram"]
    before = await in_database(stored, Agent)  # but for echo itself, who acts
    none = str(uuid4())  # whatever others take for a lease
    for path, field, seq_or_lease, missing, status, word in (
        ("agents/echo/inbox/ack", "seqs", theirs["seq"], MISSING, 200, "unknown"),
        ("agents/echo/inbox/ack", "lease", theirs["lease"], none, 409, "foreign_lease"),
        ("agents/echo/inbox/extend", "lease", theirs["lease"], none, 409, "foreign_lease"),
        ("agents/echo/inbox/release", "lease", theirs["lease"], none, 409, "foreign_lease"),
        ("agents/echo/inbox/release", "seqs", theirs["seq"], MISSING, 200, "unknown"),
        ("messages", "in_reply_to", theirs["seq"], MISSING, 422, "that you may answer"),
    ):
        found = set()
        for value in (seq_or_lease, missing):
            body = {"to": "echo", "body": "x"} if path == "messages" else {"lease": mail["echo"]["lease"]}
            body |= {"seqs": [theirs["seq"]]} if path.endswith("ack") and field == "lease" else {}
            body |= {field: [value] if field == "seqs" else value}
            found.add(await ask("POST", f"/api/{path}", own, body, value))
        assert len(found) == 1, (path, field, found)
        (answer,) = found
        assert answer[0] == status and word in answer[1], (path, field, answer)
    assert await in_database(stored, Agent) == before


async def test_an_enrolment_token_has_no_mail_P60(api, fleet, mail):
    calls = [(method, path) for method, path in operations() if re.search(r"/inbox|/messages|/threads|/search", path)]
    assert len(calls) >= 10
    before = await in_database(stored)
    for method, path in calls:
        body = body_of(method, path) if method == "POST" else None
        answer = await api.request(method, where(path), json=body, headers=bearer(fleet.enrolment))
        check(answer, 403, "enrolment_only")
    assert await in_database(stored) == before


async def test_a_manager_looks_and_does_not_touch_P60(api, fleet, mail):
    """Neither takes nor settles nor marks; and is not told what the recipient has read."""
    await api.post(f"/api/messages/{mail['echo']['seq']}/read", headers=bearer(fleet.agent))
    before = await in_database(stored)
    for token in (fleet.manager, fleet.admin):
        for call in SETTLE:
            body = settling(call, **mail["echo"])
            answer = await api.post(f"/api/agents/echo/inbox/{call}", json=body, headers=bearer(token))
            check(answer, 404, "not_found")
        marked = await api.post(f"/api/messages/{mail['echo']['seq']}/read", headers=bearer(token))
        check(marked, 404, "not_found")
    assert await in_database(stored) == before
    peeked = (await api.get("/api/agents/echo/inbox", headers=bearer(fleet.manager))).json()
    assert len(peeked["messages"]) == 2 and "unread" not in peeked and "read" not in peeked["messages"][0]
    for path in ("messages", "threads"):
        told = await api.get(f"/api/{path}/{mail['echo']['seq']}", headers=bearer(fleet.manager))
        assert told.status_code == 200 and '"read' not in told.text
    own = (await api.get("/api/agents/echo/inbox", headers=bearer(fleet.agent))).json()
    assert [each["read"] for each in own["messages"]] == [True, False] and own["unread"] == 1


@pytest.mark.parametrize(
    "path", ["/api/agents/echo/inbox", "/api/messages/{}", "/api/threads/{}", "/inbox/of/echo/", "/inbox/of/echo/m/{}/", "/inbox/m/{}/"]
)  # fmt: skip
async def test_each_way_to_look_into_anothers_mail_is_remembered_P60(api, fleet, mail, path):
    """By itself: once one of them was taken, the others within ten minutes are no further look."""
    await sign_in(api, "mira")
    answer = await api.get(path.format(mail["echo"]["seq"]), headers=bearer(fleet.manager))
    assert answer.status_code == 200
    looks = Event.objects.filter(kind="inbox_looked_at").values_list("by", "agent__slug")
    assert await in_database(list, looks) == [("mira", "echo")]


def test_looks_within_ten_minutes_are_one_look_P60(fleet, now):
    """For each who looks and each box."""
    echo, bram = (Agent.objects.get(slug=slug) for slug in ("echo", "bram"))
    for minutes, by, whose in (
        (0, "mira", echo), (9.9, "mira", echo), (1, "mira", bram), (2, "ada", echo), (10, "mira", echo), (19, "mira", echo),
    ):  # fmt: skip
        looks.audit(by, whose, now + timedelta(minutes=minutes))
    told = Event.objects.filter(kind="inbox_looked_at").order_by("at").values_list("by", "agent__slug", "at")
    assert [(by, whose, (at - now).total_seconds() / 60) for by, whose, at in told] == [
        ("mira", "echo", 0), ("mira", "bram", 1), ("ada", "echo", 2), ("mira", "echo", 10),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "path, body, more",
    [
        (
            "messages",
            {"to": "echo", "body": "x"},
            ("kind", "seq", "from", "sender", "sent_at", "thread", "size", "state", "id", "deliveries", "addressed_as",
             "read_at", "lease", "attempts", "told", "many", "as", "agent"),
        ),
        ("agents/echo/inbox/drain", {}, ("agent", "until", "seqs", "lease", "force")),
        ("agents/echo/inbox/ack", {"seqs": [1]}, ("state", "acked_at", "agent", "all")),
        ("agents/echo/inbox/extend", {"lease": "x"}, ("until", "began_at", "agent")),
        ("agents/echo/inbox/release", {"lease": "x"}, ("attempts", "state", "agent")),
        ("messages/1/read", {}, ("read_at", "agent", "read")),
    ],
)  # fmt: skip
async def test_a_mail_call_takes_nothing_but_what_it_names_P60(api, fleet, mail, path, body, more):
    before = await in_database(stored)
    for field in more:
        answer = await api.post(f"/api/{path}", json=body | {field: "system"}, headers=bearer(fleet.agent))
        assert check(answer, 422, "invalid")["detail"]["field"] == field
    assert await in_database(stored) == before
