"""Every route asks for a token or a sign-in, except those on one named list (P59, F055, F114)."""

from __future__ import annotations

import secrets

import pytest
from channels.testing import WebsocketCommunicator
from django.test import Client

from roster.offload import in_database
from roster.services import tokens
from tests import make
from tests.make import bearer
from tests.web.calls import PUBLIC, addresses, body_of, is_private, operations, to_anybody, where
from tests.web.test_errors import check

AS_BIRCH = {"Agora-Agent": "birch"}


def bad_headers(revoked: str) -> dict[str, dict]:
    raw = secrets.token_urlsafe(32)
    return {
        "no header": {},
        "another scheme": {"Authorization": "Basic ZWNobzplY2hv"},
        "no scheme": {"Authorization": raw},
        "an empty bearer": {"Authorization": "Bearer "},
        "a random token": bearer(raw),
        "a token-like one": bearer(f"agora_a_{raw}"),
        "a very long one": bearer("x" * 5000),
        "a revoked one": bearer(revoked),
    }


@pytest.fixture
def revoked(fleet) -> str:
    from django.utils import timezone

    _, raw = make.agent("gone")
    tokens.revoke(tokens.by_prefix(raw), by="test", now=timezone.now())
    return raw


@pytest.mark.core
async def test_every_call_needs_a_valid_token_P59_F055_F114(api, revoked, fleet):
    for method, path in operations():
        address = where(path)
        for what, headers in bad_headers(revoked).items():
            answer = await api.request(
                method, address, headers=headers, json={"status": "idle"} if method != "GET" else None
            )
            assert answer.status_code == 401, (method, path, what)
            check(answer, 401, "unauthorized")
        # the refusal comes before anything is read: a bad body tells a stranger nothing
        bad = await api.request(method, address, content=b"{", headers={"Content-Type": "application/json"})
        check(bad, 401, "unauthorized")


def test_every_call_needs_a_valid_token_under_wsgi_too_P59_F055_F114(revoked, fleet):
    """Django's own client goes through the synchronous handler, where a coroutine could pass for a success."""
    client = Client(raise_request_exception=False)
    for method, path in operations():
        for what, headers in bad_headers(revoked).items():
            answer = client.generic(method, where(path), "{}", "application/json", headers=headers)
            assert (answer.status_code, answer.json()["error"]["code"]) == (401, "unauthorized"), (method, path, what)


async def test_a_token_of_another_agent_opens_nothing_F055(api, fleet):
    """The roster is open to read and another's entry forbidden to write; another's mail and memory are not there at all."""
    sent = await api.post(
        "/api/messages", json={"to": "bram", "body": "for bram"}, headers=bearer(fleet.birch, **AS_BIRCH)
    )
    seq = sent.json()["seq"]
    for method, path in operations():
        is_hidden = is_private(path) or "{seq}" in path
        if to_anybody(path) or not is_hidden and ("{id}" not in path or method == "GET"):
            continue
        body = body_of(method, path) if method != "GET" else None
        answer = await api.request(method, where(path, "bram", seq), json=body, headers=bearer(fleet.agent))
        assert answer.status_code == (404 if is_hidden else 403), (method, path)


async def test_the_public_routes_are_exactly_the_named_ones_P59(api, fleet):
    """Every route of the URLconf, asked with GET and POST by a stranger."""
    called = {where(path) for _, path in operations()}
    public = set()
    for name, address in addresses():
        if address in called:
            continue  # the calls above
        for method in ("GET", "POST"):
            answer = await api.request(method, address)
            away = answer.headers.get("location", "")
            asked = answer.status_code == 302 and away.startswith(("/sign-in/?next=", "/admin/login/?next="))
            if not (asked or answer.status_code in (401, 405) or (method == "POST" and answer.status_code == 403)):
                public.add(name)
    assert public == set(PUBLIC) - {"sign-out"}  # GET is not allowed there and a stranger has no form for the POST


def test_without_the_form_check_a_stranger_can_still_do_nothing_P59(fleet):
    """Django's client leaves the CSRF check out: what is left is the sign-in itself."""
    client = Client()
    for name, address in addresses():
        if name in PUBLIC or address.startswith("/api/"):
            continue
        answer = client.post(address)
        if answer.status_code != 405:
            assert answer.status_code == 302 and "next=" in answer["Location"], (name, answer.status_code)


async def test_no_websocket_serves_a_stranger_P59(fleet):
    from agora_web.routing import application
    from roster.live.routes import routes

    *pages, rest = routes
    assert (len(pages), str(rest.pattern)) == (5, "")  # the last one takes every other address, and refuses it
    for route in pages:
        address = "/" + str(route.pattern).replace("<int:pk>", "1").replace("<str:slug>", "alder")
        for cookie in (b"", b"agora_session=made-up"):
            headers = [(b"origin", b"http://localhost"), (b"host", b"localhost"), (b"cookie", cookie)]
            line = WebsocketCommunicator(application, address, headers=headers)
            await line.connect()
            assert await line.receive_output(5) == {"type": "websocket.close", "code": 4401}, route
            await line.disconnect()


async def test_a_websocket_to_any_other_address_is_refused_before_it_is_accepted(fleet):
    from agora_web.routing import application

    line = WebsocketCommunicator(
        application, "/live/elsewhere/", [(b"origin", b"http://localhost"), (b"host", b"localhost")]
    )
    assert (await line.connect())[0] is False


async def test_the_admin_has_no_way_in_of_its_own(api, fleet):
    form = {"username": "ada", "password": "correct horse battery"}
    for answer in (
        await api.get("/admin/login/?next=/admin/"),
        await api.post("/admin/login/?next=/admin/", data=form),
    ):
        assert answer.status_code in (302, 403) and "agora_session" not in answer.cookies
    assert (await api.get("/admin/login/?next=/admin/")).headers["location"] == "/sign-in/?next=%2Fadmin%2F"


async def test_a_person_without_a_role_or_deactivated_is_refused(api, fleet):
    from django.contrib.auth.models import User

    own = bearer(fleet.viewer)
    assert (await api.get("/api/whoami", headers=own)).status_code == 200
    user = await in_database(User.objects.get, username="vera")
    await in_database(user.groups.clear)
    check(await api.get("/api/whoami", headers=own), 401, "unauthorized")
    await in_database(User.objects.filter(username="mira").update, is_active=False)
    check(await api.get("/api/whoami", headers=bearer(fleet.manager)), 401, "unauthorized")
