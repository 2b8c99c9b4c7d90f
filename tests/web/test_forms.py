"""Every form carries its token, and asking for a page changes nothing (P65)."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from django.contrib.auth.models import User

from roster.models import Counter, Event, SignInLink
from roster.offload import in_database
from roster.services.anomalies import open_anomaly
from tests import make
from tests.web.calls import addresses, operations, stored, where
from tests.web.conftest import sign_in


class Acts(HTMLParser):
    """The forms of a page that change something, whether each holds a token, and elements that act by an attribute."""

    def __init__(self, page: str):
        super().__init__()
        self.forms: list[dict] = []
        self.hx: list[str] = []
        self._open: dict | None = None
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        told = dict(attrs)
        if tag == "form":
            self._open = {"action": told.get("action", ""), "method": told.get("method", "get").lower(), "token": False}
            self.forms.append(self._open)
        if tag == "input" and told.get("name") == "csrfmiddlewaretoken" and self._open is not None:
            self._open["token"] = True
        self.hx += [
            name for name in told if name.removeprefix("data-") in ("hx-post", "hx-put", "hx-patch", "hx-delete")
        ]

    def handle_endtag(self, tag):
        if tag == "form":
            self._open = None


async def pages(api) -> dict[str, str]:
    """Every page of the URLconf that an admin can read, with its text; pages of rows that exist among them."""
    row = await in_database(lambda: User.objects.get(username="vera"))
    more = [
        f"/admin/auth/user/{row.pk}/change/",
        f"/admin/auth/user/{row.pk}/password/",
        "/agents/mira/",
        f"/admin/roster/agent/{row.agent.pk}/change/" if await in_database(lambda: row.agent.pk) else "",
    ]
    found = {}
    called = {where(path) for _, path in operations()}
    for address in [*(each for _, each in addresses() if each not in called), *filter(None, more)]:
        answer = await api.get(address)
        if answer.status_code == 200 and answer.headers["content-type"].startswith("text/html"):
            found[address] = answer.text
    return found


@pytest.fixture
def admins(fleet):
    from django.utils import timezone

    make.profile("echo", title="Echo", body="# hello")
    open_anomaly("mass_change", "dormancy", timezone.now(), would_flip=9, live=10)
    return fleet


async def test_every_form_without_its_token_is_refused_P65(api, admins):
    """Crawled as an admin: each form that changes something holds a token, and does nothing without it."""
    await sign_in(api, "ada")
    await write_a_note(api, admins, to="ada")  # or its inbox would have no form
    found = await pages(api)
    assert {"/", "/agents/echo/", "/admin/", "/admin/roster/token/add/"} <= set(found)
    tried = set()
    before = await in_database(stored)
    for address, page in found.items():
        acts = Acts(page)
        assert acts.hx == [], address  # acts are forms, so that they work without scripts and carry their token
        for form in acts.forms:
            if form["method"] != "post":
                continue
            assert form["token"], (address, form)
            target = form["action"] or address
            tried.add(target)
            assert (await api.post(target, data={"confirm": "yes"})).status_code == 403, target
            wrong = {"csrfmiddlewaretoken": "x" * 64}
            assert (await api.post(target, data=wrong)).status_code == 403, target
    assert {"/sign-out/", "/guard/release/", "/inbox/act/", "/inbox/write/", "/admin/inbox/delivery/"} <= tried
    assert await in_database(stored) == before


async def test_a_form_from_another_site_is_refused_P65(api, admins):
    await sign_in(api, "ada")
    form = {"csrfmiddlewaretoken": api.cookies["csrftoken"]}
    foreign = await api.post("/guard/release/", data=form, headers={"Origin": "https://evil.example"})
    assert foreign.status_code == 403
    own = await api.post("/guard/release/", data=form, headers={"Origin": "http://localhost"})
    assert own.status_code == 302


async def ask_everything(api, *ways: dict, about: str = "") -> None:
    """Every GET of every route, or of those that match ``about``. Left out is the sign-in link: it is the credential
    itself and works on opening (it has no form a person could send)."""
    for name, address in addresses():
        if name != "sign-in-link" and re.search(about, address):
            for headers in ways:
                await api.get(address, headers=headers)


MAIL = "inbox|message|thread|search|/agents/echo/$"


async def write_a_note(api, admins, to: str = "echo") -> None:
    await api.post("/api/messages", json={"to": to, "body": "a note"}, headers=make.bearer(admins.agent))


async def test_asking_for_a_page_changes_no_row_P65(api, admins):
    """With a session and with a token, of its own mail too. Left out: the session itself, whose last use is kept."""
    await sign_in(api, "ada")
    await pages(api)  # the admin makes what it needs to know of its models at first sight
    before = await in_database(stored)
    await ask_everything(api, {})
    assert await in_database(stored) == before
    await write_a_note(api, admins)
    api.cookies.clear()
    before = await in_database(stored)
    await ask_everything(api, make.bearer(admins.agent), make.bearer(admins.node), make.bearer(admins.viewer))
    assert await in_database(stored) == before
    await in_database(SignInLink.objects.count)


async def test_a_managers_look_into_anothers_mail_is_remembered_and_nothing_else_is_written_P65(api, admins):
    """What asking leaves behind on purpose, beside the sign-in link: one event for a box, however much of it is read."""
    await write_a_note(api, admins)
    for token, by in ((admins.manager, "mira"), (admins.admin, "ada")):
        await sign_in(api, by)
        known = await in_database(Event.objects.count)
        await ask_everything(api, {}, make.bearer(token), about=MAIL)
        before = await in_database(stored, Event, Counter)
        await ask_everything(api, {}, make.bearer(token), about=MAIL)
        assert await in_database(stored, Event, Counter) == before
        assert await in_database(happened_since, known) == [("inbox_looked_at", "echo", by)]


def happened_since(known: int) -> list[tuple]:
    return list(Event.objects.order_by("pk").values_list("kind", "agent__slug", "by")[known:])


async def test_only_a_manager_releases_held_edges(api, admins):
    await sign_in(api, "vera")
    form = {"csrfmiddlewaretoken": api.cookies["csrftoken"]}
    assert (await api.post("/guard/release/", data=form)).status_code == 403
    await sign_in(api, "mira")
    form = {"csrfmiddlewaretoken": api.cookies["csrftoken"]}
    assert (await api.post("/guard/release/", data=form)).status_code == 302
    assert (await api.get("/guard/")).status_code == 200


async def test_the_admin_deletes_nothing_and_is_for_admins(api, admins):
    await sign_in(api, "ada")
    row = (await in_database(make.agent, "delta"))[0]
    user = await in_database(User.objects.get, username="vera")
    before = await in_database(stored)
    form = {"csrfmiddlewaretoken": api.cookies["csrftoken"], "post": "yes"}
    for address in (
        f"/admin/roster/agent/{row.pk}/delete/",
        f"/admin/auth/user/{user.pk}/delete/",
        "/admin/roster/token/1/delete/",
    ):
        assert (await api.post(address, data=form)).status_code in (403, 302), address
    assert await in_database(stored) == before
    for name in ("vera", "mira"):
        await sign_in(api, name)
        assert (await api.get("/admin/")).status_code == 302


async def test_every_page_has_the_one_strict_policy(api, admins):
    await sign_in(api, "ada")
    for address in ("/", "/agents/echo/", "/admin/", "/api/docs", "/sign-in/", "/nowhere/"):
        policy = (await api.get(address)).headers["content-security-policy"]
        assert "default-src 'self'" in policy and "frame-ancestors 'none'" in policy and "unsafe" not in policy, address
