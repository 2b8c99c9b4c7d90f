"""The pages that refuse something say what was asked for and what helps; a sign-in leads back to where one was."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.contrib.sessions.backends.db import SessionStore
from django.db import connection, connections
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from agora_web.pulse import pulse
from roster import queries
from roster.models import Agent
from roster.offload import in_database
from tests import make
from tests.web.conftest import calling_from, sign_in
from tests.web.test_inert import Elements


def words(page) -> str:
    return " ".join("".join(Elements(page.text).text).split())


@pytest.mark.parametrize("asked", ["ecko", "echoo", "ech", "Echo", "echp"])
async def test_a_mistyped_id_is_told_back_with_the_one_it_was_meant_for(api, fleet, asked):
    await sign_in(api, "vera")
    page = await api.get(f"/agents/{asked}/")
    assert page.status_code == 404
    assert f"You asked for {asked}." in words(page)
    assert 'href="/agents/echo/"' in page.text and f'href="/?q={asked}"' in page.text


async def test_an_id_known_by_its_profile_only_is_offered_too_and_a_strange_one_offers_nobody(api, fleet):
    await in_database(make.profile, "librarian", title="keeps books")
    await sign_in(api, "vera")
    assert 'href="/agents/librarian/"' in (await api.get("/agents/librarain/")).text
    assert "Perhaps" not in words(await api.get("/agents/zzzzzz/"))


async def test_an_id_that_nobody_can_have_is_told_the_rule(api, fleet):
    await sign_in(api, "vera")
    for asked in ("node:alder", "agent 7", "x" * 65, "%C3%A9lan", "a%00b"):
        page = await api.get(f"/agents/{asked}/")
        assert page.status_code == 404 and "an id has lower-case letters, digits" in words(page), asked
    assert "an id has" not in words(await api.get("/agents/nobody/"))


@pytest.mark.django_db
def test_looking_for_nearly_that_id_reads_the_same_few_rows_of_any_fleet():
    now = timezone.now()
    rows = [Agent(slug=f"crew-{n:05}", check_after=now, lifecycle_since=now, created_at=now) for n in range(3000)]
    Agent.objects.bulk_create(rows)
    with CaptureQueriesContext(
        connection,
    ) as asked:
        assert queries.near("crew-01x50")[0].startswith("crew-01")
    assert len(asked) == 4
    for each in asked.captured_queries:
        assert "LIMIT 50" in each["sql"]
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            for each in asked.captured_queries:
                plan = str(cursor.execute("EXPLAIN QUERY PLAN " + each["sql"]).fetchall())
                assert "USING COVERING INDEX" in plan and "SCAN" not in plan, plan


async def test_a_page_that_is_none_says_its_address(api, fleet):
    await sign_in(api, "vera")
    page = await api.get("/no/such/page/")
    assert page.status_code == 404 and "Nothing is kept at /no/such/page/" in words(page)


async def test_a_refused_page_says_which_role_it_needs_and_who_can_give_it(api, fleet):
    await in_database(make.person, "zoe", "admin")
    await in_database(User.objects.filter(username="zoe").update, is_active=False)
    await sign_in(api, "vera")
    page = await api.get("/admin/login/")
    assert page.status_code == 403
    assert "The admin needs the role admin; yours is viewer." in words(page)
    assert "under Users: ada." in words(page) and "zoe" not in words(page)
    form = {"csrfmiddlewaretoken": api.cookies["csrftoken"]}
    page = await api.post("/guard/release/", data=form)
    assert page.status_code == 403 and "This needs the role manager; yours is viewer." in words(page)


async def test_a_person_without_a_role_is_not_sent_to_a_page_that_refuses_again(api, fleet):
    await in_database(make.person, "newcomer", None)
    await sign_in(api, "newcomer")
    page = await api.get("/")
    assert page.status_code == 403 and "you have none" in words(page)
    assert "Open the roster" not in words(page)


async def test_what_no_role_may_do_names_nobody_to_ask(api, fleet):
    agent = await in_database(Agent.objects.get, slug="echo")
    await sign_in(api, "ada")
    page = await api.get(f"/admin/roster/agent/{agent.pk}/delete/")
    assert page.status_code == 403
    assert "No role may do this" in words(page) and "give you another role" not in words(page)


async def test_who_was_signed_out_is_told_why_and_led_back(api, fleet):
    """By their own act, by somebody else's, and after a week; a stranger is told nothing of the kind."""
    stranger = await api.get("/agents/echo/")
    assert stranger.headers["location"] == "/sign-in/?next=/agents/echo/"
    page = await api.get(stranger.headers["location"])
    assert "ended" not in words(page) and "Then you come to /agents/echo/" in words(page)
    await sign_in(api, "vera")
    form = {"csrfmiddlewaretoken": api.cookies["csrftoken"]}
    away = await api.post("/sign-out/", data=form)
    assert "You are signed out." in words(await api.get(away.headers["location"]))
    await sign_in(api, "vera")
    await in_database(SessionStore(api.cookies["agora_session"]).flush)
    away = await api.get("/agents/echo/?x=1")
    assert away.headers["location"] == "/sign-in/?next=/agents/echo/%3Fx%3D1&why=ended"
    assert "Your sign-in has ended" in words(await api.get(away.headers["location"]))


async def test_who_was_signed_in_for_too_long_is_told_so(api, fleet, settings):
    await sign_in(api, "vera")
    settings.SESSION_ABSOLUTE_AGE = timedelta(seconds=-1)
    away = await api.get("/agents/echo/")
    assert away.headers["location"] == "/sign-in/?next=/agents/echo/&why=limit"
    assert "A sign-in lasts 7 days at most" in words(await api.get(away.headers["location"]))


async def test_a_form_sent_after_the_sign_in_has_ended_is_not_sent_again(api, fleet):
    await sign_in(api, "mira")
    form = {"csrfmiddlewaretoken": api.cookies["csrftoken"]}
    await in_database(SessionStore(api.cookies["agora_session"]).flush)
    away = await api.post("/guard/release/", data=form)
    assert away.headers["location"] == "/sign-in/?next=/&why=ended"


async def test_the_address_of_the_sign_in_cannot_put_words_into_the_page(api, fleet):
    page = await api.get("/sign-in/?why=<b>pay here</b>")
    assert page.status_code == 200 and "pay here" not in page.text


async def test_too_many_tries_say_how_long_to_wait_and_keep_the_way_back(fleet):
    async with calling_from("203.0.113.77") as guesser:
        await guesser.get("/sign-in/")
        form = {"username": "vera", "password": "wrong", "csrfmiddlewaretoken": guesser.cookies["csrftoken"]}
        for _ in range(9):
            page = await guesser.post("/sign-in/", data=form | {"next": "/agents/echo/"})
        assert page.status_code == 429
        assert "Try again in" in words(page) and 'value="/agents/echo/"' in page.text


async def test_a_database_that_is_away_is_told_with_the_last_moment_it_answered(api, fleet, monkeypatch, logged):
    await sign_in(api, "vera")
    monkeypatch.setattr(pulse, "marked", timezone.now() - timedelta(minutes=3))
    with monkeypatch.context() as context:
        context.setitem(connections.settings["default"], "NAME", "/nowhere/at/all.sqlite3")
        page = await api.get("/")
    assert page.status_code == 503 and "It last answered at" in words(page) and "3 min ago" in words(page)
    assert page.headers["x-request-id"] in page.text and page.headers["x-request-id"] in logged()
    monkeypatch.setattr(pulse, "marked", None)
    with monkeypatch.context() as context:
        context.setitem(connections.settings["default"], "NAME", "/nowhere/at/all.sqlite3")
        assert "last answered" not in words(await api.get("/"))


@pytest.mark.django_db
def test_a_text_that_was_typed_before_the_role_was_taken_away_is_shown_again(client):
    make.node("harbor")
    person = make.person("mira", "manager")
    client.force_login(person)
    person.groups.clear()
    for address, name in (("/nodes/harbor/ask/", "body"), ("/agents/harbor/disable/", "reason")):
        page = client.post(address, {name: "a long story <b>"})
        assert page.status_code == 403 and "a long story &lt;b&gt;" in page.content.decode()
