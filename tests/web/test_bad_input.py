"""Bad input is refused in the one shape with the field named, and nothing of it is stored."""

from __future__ import annotations

import json

import pytest

from roster.models import Agent
from roster.offload import in_database
from tests.make import bearer
from tests.web.calls import stored
from tests.web.test_errors import check

JSON = {"Content-Type": "application/json"}
DEEP = b'{"status": "idle", "meta": ' + b'{"a": ' * 200 + b"1" + b"}" * 201


def said(**body) -> bytes:
    return json.dumps({"status": "idle", **body}).encode()


# what is wrong, the body, the code, the field that the answer names
BODIES = [
    ("an unknown mode", said(liveness_mode="weird"), "invalid", "liveness_mode"),
    ("a mode that is no text", said(liveness_mode=3), "invalid", "liveness_mode"),
    ("no interval at all", said(expected_interval=0), "invalid", "expected_interval"),
    ("a negative interval", said(expected_interval=-5), "invalid", "expected_interval"),
    ("an absurd interval", said(expected_interval=10**12), "invalid", "expected_interval"),
    ("an interval of years in digits", said(expected_interval=10**400), "invalid", "expected_interval"),
    ("a broken interval", said(expected_interval=60.5), "invalid", "expected_interval"),
    ("an interval in words", said(expected_interval="soon"), "invalid", "expected_interval"),
    ("a short ttl", said(ttl=4), "invalid", "ttl"),
    ("a negative interval in meta (R71)", said(meta={"expected_interval": -1}), "invalid", "meta.expected_interval"),
    ("an absurd interval in meta (R71)", said(meta={"expected_interval": 10**9}), "invalid", "meta.expected_interval"),
    (
        "an interval in meta that is no number (R71)",
        said(meta={"expected_interval": []}),
        "invalid",
        "meta.expected_interval",
    ),
    ("a status that is no text", said(status=["idle"]), "invalid", "status"),
    ("no status", b'{"task": "x"}', "invalid", "status"),
    ("an empty status", said(status=""), "invalid", "status"),
    ("a status too long", said(status="x" * 201), "invalid", "status"),
    ("a task too long", said(task="x" * 1001), "invalid", "task"),
    ("a session too long", said(session="x" * 129), "invalid", "session"),
    ("meta that is a list", said(meta=[]), "invalid", "meta"),
    ("meta too large", said(meta={"a": "x" * 17000}), "invalid", "meta"),
    ("a time that is none", said(sent_at="yesterday"), "invalid", "sent_at"),
    ("a time beyond all years", said(sent_at=10**300), "invalid", "sent_at"),
    ("NUL in the status", said(status="a\0b"), "invalid", "status"),
    ("NUL deep in meta", said(meta={"a": [{"b": "\0"}]}), "invalid", "meta.a.0.b"),
    ("NUL in a key of meta", said(meta={"a\0": 1}), "invalid", "meta"),
    ("a raw NUL", b'{"status": "a\0b"}', "malformed_body", "body"),
    ("half a surrogate pair", b'{"status": "\\ud800"}', "invalid", "status"),
    ("half a surrogate pair in meta", b'{"status": "idle", "meta": {"a": "\\udfff"}}', "invalid", "meta.a"),
    ("raw bytes of half a pair", b'{"status": "idle", "meta": {"a": "\xed\xa0\x80"}}', "malformed_body", "body"),
    ("bytes that are no UTF-8", b'{"status": "\xff"}', "malformed_body", "body"),
    ("UTF-16", '{"status": "idle"}'.encode("utf-16"), "malformed_body", "body"),
    ("200 levels of objects", DEEP, "invalid", "meta"),
    ("200 levels of lists", b"[" * 200 + b"]" * 200, "invalid", "0"),
    ("30,000 levels of lists", b"[" * 30000 + b"]" * 30000, "malformed_body", "body"),
    ("NaN", b'{"status": "idle", "meta": {"a": NaN}}', "malformed_body", "body"),
    ("Infinity", b'{"status": "idle", "meta": {"a": -Infinity}}', "malformed_body", "body"),
    ("a number that no float holds", b'{"status": "idle", "meta": {"a": 1e400}}', "malformed_body", "body"),
    ("a number of 5,000 digits", b'{"status": "idle", "meta": {"a": ' + b"9" * 5000 + b"}}", "malformed_body", "body"),
    ("half an object", b'{"status": "idle"', "malformed_body", "body"),
    ("two objects", b"{}{}", "malformed_body", "body"),
    ("a list", b"[]", "malformed_body", "body"),
    ("a text", b'"idle"', "malformed_body", "body"),
    ("null", b"null", "malformed_body", "body"),
]


@pytest.mark.core
async def test_a_bad_body_is_refused_by_field_and_leaves_no_trace(api, fleet):
    """As the first heartbeat of a new id and as one more of a known one."""
    before = await in_database(stored)
    for what, body, code, field in BODIES:
        for address, token in (("/api/agents/new", fleet.enrolment), ("/api/agents/echo", fleet.agent)):
            told = check(await api.put(address, content=body, headers=bearer(token) | JSON), 422, code)
            assert told["detail"]["field"].startswith(field), (what, told)
    assert await in_database(stored) == before
    good = await api.put(
        "/api/agents/echo", content=said(meta={"n": 10**30, "f": 1e300, "t": "é😀"}), headers=bearer(fleet.agent) | JSON
    )
    assert good.json()["meta"] == {"n": 10**30, "f": 1e300, "t": "é😀"}


async def test_a_bad_heartbeat_is_refused_too(api, fleet):
    before = await in_database(stored)
    for what, body, code, field in BODIES:
        if what == "no status" or "meta" in what or b"meta" in body or "ttl" in what or "mode" in what:
            continue  # a heartbeat needs no status and ignores what only a registration takes
        told = check(await api.post("/api/heartbeat", content=body, headers=bearer(fleet.agent) | JSON), 422, code)
        assert told["detail"]["field"].startswith(field), what
    assert await in_database(stored) == before


async def test_one_bad_beat_costs_the_beats_beside_it_nothing(api, fleet):
    """They are written together; a body that the database would refuse must not get that far."""
    import asyncio

    bad = b'{"status": "idle", "meta": {"a": 1e400}}'
    calls = [api.put("/api/agents/echo", content=bad, headers=bearer(fleet.agent) | JSON)]
    calls += [
        api.put("/api/agents/bram", content=said(task=f"t{n}"), headers=bearer(fleet.bram) | JSON) for n in range(20)
    ]
    answers = await asyncio.gather(*calls)
    assert [each.status_code for each in answers] == [422] + [200] * 20


async def test_a_large_body_is_refused_whole_before_it_is_read(api, fleet):
    before = await in_database(stored)
    fits = said(x="y" * (65536 - len(said(x=""))))
    assert (
        await api.put("/api/agents/echo", content=fits + b" ", headers=bearer(fleet.agent) | JSON)
    ).status_code == 413
    assert await in_database(stored) == before
    assert (await api.put("/api/agents/echo", content=fits, headers=bearer(fleet.agent) | JSON)).status_code == 200
    for size, status in ((1024 * 1024, 403), (1024 * 1024 + 1, 413)):
        answer = await api.post(
            "/api/heartbeats", content=b'["' + b"x" * (size - 4) + b'"]', headers=bearer(fleet.agent) | JSON
        )
        assert answer.status_code == status


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/json"]
)
async def test_another_content_type_is_refused(api, fleet, kind):
    answer = await api.post(
        "/api/heartbeat", content=b'{"status": "idle"}', headers=bearer(fleet.agent) | {"Content-Type": kind}
    )
    check(answer, 415, "unsupported_media_type")
    charset = bearer(fleet.agent) | {"Content-Type": "application/json; charset=utf-8"}
    assert (await api.post("/api/heartbeat", content=b'{"status": "idle"}', headers=charset)).status_code == 200


async def test_machine_reports_ignore_what_they_do_not_know_and_all_else_refuses_it(api, fleet):
    own = bearer(fleet.agent)
    assert (await api.put("/api/agents/echo", json={"status": "idle", "future": 1}, headers=own)).status_code == 200
    assert (await api.post("/api/heartbeat", json={"future": 1}, headers=own)).status_code == 200
    assert (await api.post("/api/agents/echo/sign-off", json={"future": 1}, headers=own)).status_code == 422
    assert (
        await api.post("/api/nodes", json={"slug": "n", "future": 1}, headers=bearer(fleet.manager))
    ).status_code == 422


@pytest.mark.core
async def test_odd_addresses_are_answered_and_never_fail(api, fleet):
    for address in (
        "/api/agents/a%00b",
        "/api/agents?q=%00",
        "/api/events?agent=%00&kind=%00",
        "/api/agents?after=%00",
    ):
        check(await api.get(address, headers=bearer(fleet.agent)), 422, "invalid")
    for address in (
        "/api/agents?q=%ED%A0%80",
        "/api/events?kind=%ff",
        "/api/agents?node=%F0%9F%A6%89&q=%25_",
        "/api/events?after=99999999999999999999",
    ):
        assert (await api.get(address, headers=bearer(fleet.agent))).status_code == 200


async def test_a_long_name_of_a_node_is_refused(api, fleet):
    answer = await api.post("/api/nodes", json={"slug": "cedar", "name": "x" * 201}, headers=bearer(fleet.manager))
    assert check(answer, 422, "invalid")["detail"]["field"] == "name"
    assert not await in_database(Agent.objects.filter(slug="cedar").exists)
