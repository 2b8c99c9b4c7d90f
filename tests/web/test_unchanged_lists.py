"""A list that did not change is 304 and costs next to nothing; one that did is never given as it was."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from roster import listing, queries
from roster.models import Agent
from roster.offload import in_database
from roster.services import profiles
from tests import make
from tests.make import bearer

EVERYBODY = queries.Selection(limit=500)


@pytest.fixture
def ask(api, fleet):
    """Asks for a list, with the ETag of an earlier answer where one is given."""

    async def asked(query: str = "", known=None):
        also = {"If-None-Match": known.headers["etag"]} if known else {}
        return await api.get(f"/api/agents?{query}", headers=bearer(fleet.agent, **also))

    return asked


def seen(answer) -> dict[str, str]:
    return {each["id"]: each["last_seen"] for each in answer.json()["agents"]}


async def test_an_unchanged_list_is_304_without_a_body_and_the_same_bytes_unasked(ask):
    first = await ask()
    assert first.headers["cache-control"] == "private, no-cache"
    again = await ask("", first)
    assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", first.headers["etag"])
    assert "content-length" not in again.headers
    whole = await ask()
    assert (whole.status_code, whole.content) == (200, first.content)


async def test_a_proxy_that_compressed_it_may_ask_with_a_weak_tag(api, ask, fleet):
    tag = (await ask()).headers["etag"]
    answer = await api.get("/api/agents", headers=bearer(fleet.agent, **{"If-None-Match": f'"other", W/{tag}'}))
    assert answer.status_code == 304


async def test_a_heartbeat_without_news_changes_the_list_though_not_the_version(api, ask, fleet):
    first = await ask()
    assert (await api.post("/api/heartbeat", json={}, headers=bearer(fleet.bram))).status_code == 200
    later = await ask("", first)
    assert later.status_code == 200 and later.json()["version"] == first.json()["version"]
    assert seen(later)["bram"] > seen(first)["bram"] and seen(later)["echo"] == seen(first)["echo"]


async def test_news_of_somebody_on_another_page_moves_the_version_of_this_one(api, ask, fleet):
    first = await ask("limit=1")
    await api.post("/api/heartbeat", json={"status": "working: news"}, headers=bearer(fleet.bram))
    later = await ask("limit=1", first)
    assert later.status_code == 200 and later.json()["version"] > first.json()["version"]


async def test_what_changes_past_every_service_is_in_the_next_answer(ask):
    first = await ask()
    await in_database(Agent.objects.filter(slug="echo").update, waiting=3)
    later = await ask("", first)
    assert {each["id"]: each["waiting"] for each in later.json()["agents"]}["echo"] == 3


async def test_an_edited_profile_is_in_the_next_answer_also_where_no_agent_row_has_it(ask):
    profile = await in_database(make.profile, "kept", liveness_mode="async", title="Scribe")
    first = await ask()
    profile.title = "Scribe the Second"
    await in_database(profiles.save, profile, by="test", now=timezone.now())
    later = await ask("", first)
    assert {each["id"]: each["display_name"] for each in later.json()["agents"]}["kept"] == "Scribe the Second"


async def test_a_tag_of_one_selection_says_nothing_of_another(ask):
    everybody = await ask()
    for query in ("node=birch", "mode=ephemeral", "q=RA", "limit=3", "after=bram", "presence=dormant"):
        answer = await ask(query, everybody)
        assert answer.status_code == 200 and answer.content != everybody.content, query
        assert (await ask(query, answer)).status_code == 304


@pytest.mark.django_db
def test_a_word_that_time_alone_turns_is_not_given_as_it_was():
    now = timezone.now()
    make.agent("sleeper", now, liveness_mode="async", expected_interval=60)
    deadline = Agent.objects.get(slug="sleeper").deadline
    live, still = listing.listing(EVERYBODY, now), listing.listing(EVERYBODY, deadline)
    assert still is live and b'"presence":"live"' in live.body
    later = listing.listing(EVERYBODY, deadline + timedelta(microseconds=1))
    assert b'"presence":"dormant"' in later.body and later.etag != live.etag
    assert listing.listing(EVERYBODY, now).body == live.body  # nor is what is true later true now


@pytest.mark.django_db
def test_what_is_written_while_a_list_is_made_and_then_taken_back_is_not_kept(monkeypatch):
    now, page = timezone.now(), queries.page
    echo = Agent.objects.filter(pk=make.agent("echo", now)[0].pk)

    def overtaken(*args):
        echo.update(waiting=3)
        return page(*args)

    monkeypatch.setattr(queries, "page", overtaken)
    assert b'"waiting":3' in listing.listing(EVERYBODY, now).body
    monkeypatch.setattr(queries, "page", page)
    echo.update(waiting=0)
    assert b'"waiting":0' in listing.listing(EVERYBODY, now).body


@pytest.mark.django_db
def test_few_lists_are_kept_and_those_in_use_stay(monkeypatch):
    now = timezone.now()
    make.agent("echo", now)
    used = listing.listing(EVERYBODY, now)
    for number in range(3 * listing.KEPT):
        listing.listing(queries.Selection(q=str(number)), now)
        assert listing.listing(EVERYBODY, now) is used
    assert len(listing._kept) == listing.KEPT
    monkeypatch.setattr(listing, "KEPT_BYTES", len(used.body))
    assert listing.listing(queries.Selection(q="other"), now) and len(listing._kept) == 1
    monkeypatch.setattr(listing, "KEPT_BYTES", 0)
    assert listing.listing(EVERYBODY, now).body == used.body and not listing._kept
