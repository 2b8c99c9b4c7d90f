"""Signing in: slow for a guesser, unaffected for everybody else; sessions that begin and end (P62, P66, F108, F109)."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import timedelta

import pytest
from django.contrib.sessions.backends.db import SessionStore
from django.contrib.sessions.models import Session
from django.utils import timezone

from roster.limits import Buckets
from roster.offload import in_database
from roster.services import people
from roster.views import signing
from tests.hubs import ROOT
from tests.web.conftest import calling_from, sign_in

COOKIE = "agora_session"


@pytest.fixture(autouse=True)
def own_tries(monkeypatch):
    monkeypatch.setattr(signing, "tries", Buckets(signing.tries.rate, signing.tries.burst))


async def guess(client, name: str, count: int, **headers) -> list[int]:
    await client.get("/sign-in/")
    form = {"username": name, "password": "wrong", "csrfmiddlewaretoken": client.cookies["csrftoken"]}
    return [(await client.post("/sign-in/", data=form, headers=headers)).status_code for _ in range(count)]


async def test_guessing_stops_after_a_few_tries_P62_F108(fleet):
    """50 tries, each with another forwarded address: blocked after eight, by name and real peer."""
    async with calling_from("203.0.113.5") as guesser:
        said = [(await guess(guesser, "ada", 1, **{"X-Forwarded-For": f"198.51.100.{n}"}))[0] for n in range(50)]
        assert said == [401] * 8 + [429] * 42
        blocked = await sign_in(guesser, "ada")
        assert blocked.status_code == 429 and int(blocked.headers["retry-after"]) > 0
        assert COOKIE not in guesser.cookies


async def test_a_guesser_locks_nobody_else_out_P62_F109(fleet):
    """A second operator behind the same address signs in; the first does from another; open sessions go on."""
    async with (
        calling_from("203.0.113.5") as early,
        calling_from("203.0.113.5") as proxy,
        calling_from("203.0.113.6") as home,
    ):
        await sign_in(early, "mira")
        await guess(proxy, "ada", 20)
        await guess(proxy, "mira", 20)
        assert (await sign_in(proxy, "vera")).status_code == 302
        assert (await sign_in(home, "ada")).status_code == 302
        assert (await early.get("/")).status_code == 200


@pytest.mark.parametrize("variant", [" ada", "ada\t", "ADA", "ａｄａ", "ａda "])
async def test_writing_a_name_in_another_way_gives_no_new_tries_P62(fleet, variant):
    async with calling_from("203.0.113.7") as guesser:
        assert await guess(guesser, "ada", 8) == [401] * 8
        assert await guess(guesser, variant, 1) == [429]


async def test_a_known_and_an_unknown_name_are_refused_alike_P61(fleet):
    pages = []
    for name in ("vera", "nobody"):
        async with calling_from("203.0.113.8") as client:
            await client.get("/sign-in/")
            token = client.cookies["csrftoken"]
            form = {"username": name, "password": "wrong", "csrfmiddlewaretoken": token}
            answer = await client.post("/sign-in/", data=form)
            pages.append((answer.status_code, len(answer.text.replace(f'value="{name}"', ""))))
    assert pages[0] == pages[1] and pages[0][0] == 401


@pytest.mark.core
async def test_a_name_that_no_database_holds_is_refused_like_any_unknown_one(fleet):
    async with calling_from("203.0.113.9") as client:
        assert (await sign_in(client, "ve\0ra")).status_code == 401
        assert (await sign_in(client, "vera")).status_code == 302


async def test_a_session_begins_with_a_new_key_and_ends_for_good_P66(api, fleet):
    """A key planted before the sign-in is worth nothing after it, and neither is the real one after the sign-out."""

    def planted() -> str:
        store = SessionStore()
        store["planted"] = True
        store.create()
        return store.session_key

    before = await in_database(planted)
    api.cookies.set(COOKIE, before, domain="localhost.local")
    signed = await sign_in(api, "vera")
    key = signed.cookies[COOKIE]
    assert signed.status_code == 302 and key != before
    for worthless in (before, "made-up"):
        async with calling_from("127.0.0.1") as other:
            other.cookies.set(COOKIE, worthless)
            assert (await other.get("/")).headers["location"] == "/sign-in/?next=/&why=ended"
    async with calling_from("127.0.0.1") as same:
        same.cookies.set(COOKIE, key)
        page = await same.get("/")
        assert page.status_code == 200
        form = {"csrfmiddlewaretoken": same.cookies["csrftoken"]}
        assert (await same.post("/sign-out/", data=form)).status_code == 302
    async with calling_from("127.0.0.1") as late:
        late.cookies.set(COOKIE, key)
        assert (await late.get("/")).status_code == 302
    assert not await in_database(Session.objects.filter(session_key=key).exists)


async def test_a_session_ends_after_a_week_and_after_half_a_day_of_rest_P66(api, fleet, settings):
    await sign_in(api, "vera")
    key = api.cookies[COOKIE]

    def age(days: int) -> None:
        store = SessionStore(key)
        store["signed_in_at"] = (timezone.now() - timedelta(days=days)).isoformat()
        store["used_at"] = timezone.now().isoformat()
        store.save()

    await in_database(age, 6)
    assert (await api.get("/")).status_code == 200
    await in_database(age, 8)
    assert (await api.get("/")).status_code == 302
    assert settings.SESSION_COOKIE_AGE == 12 * 3600
    await sign_in(api, "vera")
    await in_database(Session.objects.all().update, expire_date=timezone.now())
    assert (await api.get("/")).status_code == 302


async def test_cookies_are_out_of_reach_of_scripts_and_of_other_sites_P66(api, fleet):
    signed = await sign_in(api, "vera")
    flags = {line.partition("=")[0]: line for line in signed.headers.get_list("set-cookie")}
    assert set(flags) >= {COOKIE, "csrftoken"}
    assert all("HttpOnly" in line and "SameSite=Lax" in line and "Secure" not in line for line in flags.values())


def test_cookies_go_over_https_only_where_the_hub_is_served_so_P66(tmp_path):
    code = """
import asyncio, httpx
from agora_web.routing import application
async def ask():
    client = httpx.AsyncClient(transport=httpx.ASGITransport(app=application), base_url="http://hub.example")
    answer = await client.get("/sign-in/", headers={"X-Forwarded-Proto": "https"})
    print(answer.headers["set-cookie"], answer.headers["strict-transport-security"])
asyncio.run(ask())
from django.conf import settings
print(settings.SESSION_COOKIE_SECURE, settings.CSRF_COOKIE_SECURE)
"""
    env = os.environ | {
        "AGORA_URL": "https://hub.example",
        "AGORA_DATA": str(tmp_path),
        "DJANGO_SETTINGS_MODULE": "agora_web.settings",
    }
    said = subprocess.run([sys.executable, "-c", code], env=env, cwd=ROOT, capture_output=True, text=True)
    assert said.returncode == 0, said.stderr
    cookie, flags = said.stdout.splitlines()
    assert "Secure" in cookie and "max-age=31536000" in cookie.lower() and flags == "True True"


async def test_a_sign_in_link_works_once_and_for_a_day_P66(api, fleet):
    now = timezone.now()
    link = await in_database(lambda: people.sign_in_link("vera", by="test", now=now))
    async with calling_from("127.0.0.1") as first, calling_from("127.0.0.1") as second:
        assert (await first.get(f"/sign-in/link/{link}/")).headers["location"] == "/"
        assert (await first.get("/")).status_code == 200
        again = await second.get(f"/sign-in/link/{link}/")
        assert again.status_code == 410 and COOKIE not in second.cookies
    old = await in_database(lambda: people.sign_in_link("vera", by="test", now=now - timedelta(hours=25)))
    assert (await api.get(f"/sign-in/link/{old}/")).status_code == 410


@pytest.mark.parametrize(
    "target",
    ["https://evil.example/", "//evil.example", "javascript:alert(1)", "/\\evil.example", "roster", "no such name"],
)
async def test_a_sign_in_leads_to_own_pages_only(api, fleet, target):
    await api.get("/sign-in/")
    form = {
        "username": "vera",
        "password": "correct horse battery",
        "next": target,
        "csrfmiddlewaretoken": api.cookies["csrftoken"],
    }
    assert (await api.post("/sign-in/", data=form)).headers["location"] == "/"
    form |= {"next": "/agents/echo/", "csrfmiddlewaretoken": api.cookies["csrftoken"]}
    assert (await api.post("/sign-in/", data=form)).headers["location"] == "/agents/echo/"
