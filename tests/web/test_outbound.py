"""The hub calls nobody: an address that an agent names anywhere is text (P69)."""

from __future__ import annotations

import sys

import pytest

from roster.offload import in_database
from tests import make
from tests.make import bearer
from tests.web.calls import addresses
from tests.web.conftest import sign_in

URL = "http://evil.example:8123/hook"
_watching: list[list] = []


def _hook(event: str, args) -> None:
    if _watching and event in ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto"):
        target = args[1] if event in ("socket.connect", "socket.sendto") else args[0]
        if not isinstance(target, str | bytes) or event != "socket.connect":  # a plain path is a unix socket
            _watching[-1].append((event, target))


sys.addaudithook(_hook)  # the interpreter's own, so that no library goes around it; it cannot be taken off again


@pytest.fixture
def outbound():
    _watching.append([])
    yield _watching[-1]
    _watching.pop()


async def test_the_hub_connects_to_nobody_that_an_agent_names_P69(api, fleet, outbound):
    body = {"status": f"working: {URL}", "task": URL, "host": "evil.example", "session": URL, "work_mode": URL[:64],
            "meta": {"webhook": URL, "avatar": URL, "callback_url": URL, "$ref": URL, "href": URL}}  # fmt: skip
    await api.put("/api/agents/echo", json=body, headers=bearer(fleet.agent, Referer=URL, Origin=URL))
    await api.post("/api/heartbeat", json=body, headers=bearer(fleet.agent))
    await api.post("/api/heartbeats", json=[{"agent": "echo", "status": URL, "task": URL}], headers=bearer(fleet.node))
    await api.post("/api/nodes", json={"slug": "evil.example", "name": URL}, headers=bearer(fleet.manager))
    markdown = f"![x]({URL}) [x]({URL}) <{URL}>\n\n[ref]: {URL}\n\n<iframe src={URL}></iframe>"
    await in_database(lambda: make.profile("echo", title=URL, contact=URL, role=URL, capabilities=[URL], body=markdown))
    letter = {"to": "echo", "subject": URL, "body": f"![x]({URL}) <img src={URL}> {URL}"}
    await api.post("/api/messages", json=letter, headers=bearer(fleet.agent, **{"Idempotency-Key": URL}))
    await sign_in(api, "ada")
    for _, address in addresses():
        await api.get(address)
    await api.get("/agents/echo/")
    for address in ("/api/agents/echo/inbox", "/api/messages/1", "/api/threads/1"):
        assert URL in (await api.get(address, headers=bearer(fleet.agent))).text
    taken = await api.post("/api/agents/echo/inbox/drain", json={"session": URL}, headers=bearer(fleet.agent))
    await api.post(
        "/api/agents/echo/inbox/ack", json={"seqs": [1], "lease": taken.json()["lease"]}, headers=bearer(fleet.agent)
    )
    await api.post("/api/agents/echo/sign-off", json={"session": URL}, headers=bearer(fleet.agent))
    assert outbound == []


def test_the_guard_of_this_test_sees_a_connection(outbound):
    import socket

    with socket.socket() as line, pytest.raises(OSError):
        line.connect(("127.0.0.1", 9))
    with pytest.raises(OSError):
        socket.getaddrinfo("no.such.host.invalid", 80)
    assert [event for event, _ in outbound] == ["socket.connect", "socket.getaddrinfo"]
