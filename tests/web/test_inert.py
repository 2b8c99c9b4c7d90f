"""What an agent writes is text everywhere: on the roster, its page, in the admin and in what is pushed (F062)."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest
from channels.testing import WebsocketCommunicator

from roster.models import Agent
from roster.offload import in_database
from tests import make
from tests.make import bearer
from tests.web.conftest import sign_in
from tests.web.test_errors import check

PAYLOAD = "<b hx-post=/agents/x/disable hx-trigger=load>"
HOSTILE = [
    PAYLOAD,
    '"><img src=x onerror=alert(1)>',
    "'><svg/onload=alert(1)>",
    "</td></tr></table><script>alert(1)</script>",
    "<!--<hx-partial hx-target=body>",
    "{{ settings.SECRET_KEY }}{% debug %}",
    "<a href=javascript:alert(1)>x</a>",
    "&lt;b&gt;\u202eevil",
]


class Elements(HTMLParser):
    """Whatever in a page could act: scripts, handlers, htmx attributes, odd links, elements of others."""

    def __init__(self, page: str):
        super().__init__(convert_charrefs=True)
        self.acting: list[str] = []
        self.text: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attrs):
        told = dict(attrs)
        own = (told.get("src") or "").startswith(("/static/", "/admin/jsi18n/"))  # the admin's signs and scripts
        if tag in ("img", "script", "iframe", "object", "embed") and not own and told.get("type") != "application/json":
            self.acting.append(f"<{tag}>")
        for name, value in told.items():
            bare = name.removeprefix("data-")
            if name.startswith("on") or bare in ("hx-post", "hx-trigger", "hx-on", "hx-delete"):
                self.acting.append(f"{tag} {name}")
            if (value or "").strip().lower().startswith(("javascript:", "data:text", "vbscript:")):
                self.acting.append(f"{tag} {name}={value}")

    def handle_data(self, data):
        self.text.append(data)


@pytest.fixture
def hostile(fleet):
    """An agent that says something hostile wherever it may, and people who copied it everywhere else."""

    def fill(payload: str) -> Agent:
        agent = Agent.objects.get(slug="echo")
        Agent.objects.filter(pk=agent.pk).update(
            display_name=payload, enabled=False, disabled_reason=payload, disabled_by=payload[:64]
        )
        make.profile(
            "echo",
            title=payload,
            role=payload,
            contact=payload,
            capabilities=[payload],
            body=f"# {payload}\n\n{payload}\n\n[x](javascript:alert(1)) ![x](https://evil.example/p.png)",
        )
        return agent

    return fill


@pytest.mark.parametrize("payload", HOSTILE)
async def test_what_an_agent_writes_is_text_on_every_page_F062(api, fleet, hostile, payload):
    agent = await in_database(hostile, payload)
    body = {
        "status": payload,
        "task": payload,
        "work_mode": payload[:64],
        "meta": {payload: payload},
        "session": payload,
        "host": payload,
    }
    for session in (payload, payload + "2"):
        assert (
            await api.put("/api/agents/echo", json=body | {"session": session}, headers=bearer(fleet.agent))
        ).status_code == 200
    await api.put("/api/agents/echo", json=body | {"session": payload}, headers=bearer(fleet.agent))
    await api.post("/api/nodes", json={"slug": "cedar", "name": payload}, headers=bearer(fleet.manager))
    await sign_in(api, "ada")
    admin = [
        "/admin/roster/agent/",
        f"/admin/roster/agent/{agent.pk}/change/",
        "/admin/roster/profile/",
        "/admin/roster/presenceedge/",
        "/admin/roster/act/",
        "/admin/roster/anomaly/",
        "/admin/roster/node/",
        "/admin/",
    ]
    for address in (
        "/",
        "/agents/echo/",
        *admin,
        f"/?q={payload}",
        f"/sign-in/?next={payload}",
        "/agents/x/",
        f"/agents/{payload}/",
    ):
        page = await api.get(address)
        found = Elements(page.text)
        assert page.status_code in (200, 302, 404) and found.acting == [], (address, found.acting)
        if address in ("/", "/agents/echo/", admin[1]):
            # one of the many places where it is shown; a direction character is shown as a sign, so it is cut off here
            assert payload.partition("\u202e")[0] in "".join(found.text), address


async def test_a_hostile_id_is_refused_and_told_as_text_F062(api, fleet):
    from urllib.parse import quote

    answer = await api.put(
        f"/api/agents/{quote(PAYLOAD, safe='')}", json={"status": "idle"}, headers=bearer(fleet.enrolment)
    )
    told = check(answer, 422, "invalid")
    assert PAYLOAD in told["message"] and answer.headers["x-content-type-options"] == "nosniff"
    assert not await in_database(Agent.objects.filter(slug__contains="hx-post").exists)


async def test_what_is_pushed_is_the_same_text_F062(api, fleet, hostile):
    """The fragments of the roster's and the agent page's websocket."""
    from agora_web.routing import application

    agent = await in_database(hostile, PAYLOAD)
    await sign_in(api, "vera")
    cookie = f"agora_session={api.cookies['agora_session']}".encode()
    headers = [(b"origin", b"http://localhost"), (b"host", b"localhost"), (b"cookie", cookie)]
    for address in ("/live/roster/", f"/live/agents/{agent.pk}/"):
        line = WebsocketCommunicator(application, address, headers=headers)
        connected, _ = await line.connect()
        assert connected
        pushed = await line.receive_from(5)
        while PAYLOAD not in "".join(Elements(pushed).text):
            pushed = await line.receive_from(5)
        body = {"status": f"working: {PAYLOAD} {address}", "meta": {PAYLOAD: PAYLOAD}}
        await api.put("/api/agents/echo", json=body, headers=bearer(fleet.agent))
        while f"{PAYLOAD} {address}" not in "".join(Elements(pushed).text):
            pushed = await line.receive_from(5)
            assert Elements(pushed).acting == []
        await line.disconnect()
