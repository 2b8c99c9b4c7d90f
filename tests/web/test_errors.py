"""One error shape for every refusal, generic and with a request id (F057, P70)."""

from __future__ import annotations

import pytest

from roster import auth
from roster.api import registry as calls
from roster.limits import Buckets
from tests.make import bearer


def check(answer, status: int, code: str) -> dict:
    """Holds ``answer`` to the one shape and returns what is inside ``error``."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"].startswith("application/json")
    assert set(answer.json()) == {"error"}
    told = answer.json()["error"]
    assert {"code", "message", "detail", "request_id"} <= set(told)
    assert told["code"] == code and isinstance(told["detail"], dict)
    assert told["request_id"] == answer.headers["x-request-id"]
    for leak in ("Traceback", 'File "', "SELECT", "agora_a_", "agora_p_", ".py"):
        assert leak not in answer.text
    return told


REFUSALS = [
    (400, "token_in_address", "GET", "/api/whoami?token=agora_a_secret", {}),
    (400, "bad_host", "GET", "/api/whoami", {"headers": {"Host": "evil.example"}}),
    (400, "bad_address", "GET", "/api/agents?" + "a=1&" * 1001, {}),
    (404, "not_found", "GET", "/api/nowhere", {}),
    (404, "not_found", "GET", "/api/", {}),
    (404, "not_found", "GET", "/api/agents/nobody", {}),
    (403, "never_deleted", "DELETE", "/api/agents/echo", {}),
    (405, "method_not_allowed", "PATCH", "/api/agents", {}),
    (409, "taken", "POST", "/api/nodes", {"json": {"slug": "echo"}}),
    (
        413,
        "too_large",
        "POST",
        "/api/heartbeat",
        {"content": b"x" * 65537, "headers": {"Content-Type": "application/json"}},
    ),
    (
        415,
        "unsupported_media_type",
        "POST",
        "/api/nodes",
        {"content": b"<a/>", "headers": {"Content-Type": "text/xml"}},
    ),
    (
        422,
        "malformed_body",
        "POST",
        "/api/nodes",
        {"content": b'{"slug": "x"', "headers": {"Content-Type": "application/json"}},
    ),
    (422, "invalid", "POST", "/api/nodes", {"json": {"slug": "x", "lifecycle": "retired"}}),
    (422, "invalid", "POST", "/api/nodes", {"json": {"slug": "-x"}}),
]


@pytest.mark.core
@pytest.mark.parametrize("status, code, method, address, how", REFUSALS)
async def test_every_refusal_has_the_one_shape_F057(api, fleet, status, code, method, address, how):
    """Malformed JSON is 422 here and 400 is for the address and the Host, as the design's issue says."""
    headers = bearer(fleet.manager) | how.get("headers", {})
    told = check(await api.request(method, address, **(how | {"headers": headers})), status, code)
    assert ({"state", "allowed"} <= set(told)) == (status == 409)
    assert ("field" in told["detail"]) == (status in (413, 422))


async def test_a_call_without_a_token_has_the_one_shape_F057(api, fleet):
    answer = await api.get("/api/agents")
    check(answer, 401, "unauthorized")
    assert answer.headers["www-authenticate"] == "Bearer"


async def test_a_call_over_the_limit_has_the_one_shape_F057(api, fleet, monkeypatch):
    monkeypatch.setitem(auth.buckets, "api", Buckets(0.5, 1))
    assert (await api.get("/api/whoami", headers=bearer(fleet.agent))).status_code == 200
    answer = await api.get("/api/whoami", headers=bearer(fleet.agent))
    check(answer, 429, "too_many_requests")
    assert answer.headers["retry-after"] == "2"


async def test_a_fault_of_the_hub_tells_nothing_but_its_number_F057_P70(api, fleet, monkeypatch, logged):
    def fails(*_):
        raise RuntimeError("SELECT secret FROM somewhere")

    monkeypatch.setattr(calls, "_events", fails)
    told = check(await api.get("/api/events", headers=bearer(fleet.agent)), 500, "internal")
    assert "secret" not in told["message"]
    assert told["request_id"] in logged() and "SELECT secret" in logged()


async def test_a_clients_own_request_id_is_not_taken_over(api, fleet):
    answer = await api.get("/api/whoami", headers=bearer(fleet.agent, **{"X-Request-Id": "mine"}))
    assert answer.headers["x-request-id"] != "mine"


async def test_a_retired_agent_can_be_read_and_can_write_no_more(api, fleet):
    from roster.models import Agent
    from roster.offload import in_database

    await in_database(Agent.objects.filter(slug="echo").update, lifecycle="retired")
    own = bearer(fleet.agent)
    assert (await api.get("/api/agents/echo", headers=own)).status_code == 200
    for method, address in (
        ("PUT", "/api/agents/echo"),
        ("POST", "/api/heartbeat"),
        ("POST", "/api/agents/echo/sign-off"),
    ):
        body = {} if address.endswith("off") else {"status": "idle"}
        check(await api.request(method, address, json=body, headers=own), 410, "retired")


async def test_a_page_under_a_name_that_is_not_the_hubs_says_where_names_are_told(api):
    answer = await api.get("/sign-in/", headers={"Host": "evil.example"})
    assert answer.status_code == 400 and "evil.example" not in answer.text
    assert "AGORA_HOSTS" in answer.text
