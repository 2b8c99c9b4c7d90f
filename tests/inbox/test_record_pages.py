"""The page of an employee's record: as the page of a node, for who lives on one."""

from __future__ import annotations

import re

import pytest
from django.utils import timezone

from inbox.models import Exchange
from roster.services import lifecycle, switch
from tests import make
from tests.roster import staff

from .test_node_pages import words

pytestmark = pytest.mark.django_db
PAGE = "/agents/echo/record/"


@pytest.fixture
def vera(client):
    staff.hire("echo", timezone.now())
    client.force_login(make.person("vera"))
    return client


def ask(client, body: str = "How full is the disk?", slug: str = "echo"):
    return client.post(f"/agents/{slug}/record/ask/", {"body": body, "key": "k" * 22})


def test_a_viewer_comes_from_the_agents_page_and_asks_once(vera):
    assert f'href="{PAGE}"' in vera.get("/agents/echo/").content.decode()
    for _ in range(2):
        asked = ask(vera)
    number = Exchange.objects.get().pk
    assert (asked.status_code, asked["Location"]) == (302, f"{PAGE}#x{number}")
    page = vera.get(PAGE)
    assert f'id="x{number}"' in page.content.decode()
    assert all(each in words(page) for each in ("How full is the disk?", "waits for its turn", f"is #{number}"))
    assert "Nothing in the record has this" in words(vera.get(f"{PAGE}?q=sail"))


def test_a_search_marks_what_it_found_where_the_text_is_cut(vera):
    ask(vera, f"{'The fan is loud. ' * 90}<b>Is the disk full?")  # longer than what is shown of it
    assert "<mark>" not in vera.get(PAGE).content.decode()
    found = vera.get(f"{PAGE}?q=disk").content.decode()
    assert "<mark>disk</mark> full" in found and "<b>" not in found


def test_what_cannot_be_asked_stays_in_the_form_of_the_record(vera):
    refused = ask(vera, "")
    assert refused.status_code == 422 and 'id="body-error"' in refused.content.decode()


def test_who_drains_takes_no_prompts_any_more_and_its_record_tells_the_refused_one(vera):
    lifecycle.drain(make.MANAGER, "echo", "moves", timezone.now())
    refused = ask(vera, "Too late?")
    assert refused.status_code == 409
    assert all(each in words(refused) for each in ("no prompts any more: it is draining", "refused", "Too late?"))


def test_a_disabled_employee_answers_at_once_on_its_record(vera):
    switch.disable(make.MANAGER, "echo", "it loops", timezone.now())
    assert ask(vera).status_code == 302
    assert re.search(r"no model was called disabled by \w+ since \d\d:\d\d UTC : it loops", words(vera.get(PAGE)))


def test_an_empty_record_teaches_how_to_ask_only_where_that_is_possible(vera):
    assert "/api/agents/echo/prompt?wait=60" in vera.get(PAGE).content.decode()
    lifecycle.drain(make.MANAGER, "echo", "moves", timezone.now())
    assert "Nobody asked it" in words(vera.get(PAGE)) and "/api/" not in words(vera.get(PAGE))


def test_how_many_are_answered_at_once_is_said(vera):
    assert "One at a time" in words(vera.get(PAGE))
    staff.hire("delta", timezone.now(), max_sessions=3)
    assert "3 at a time" in words(vera.get("/agents/delta/record/"))


def test_the_record_of_a_nodes_agent_is_on_its_nodes_page_and_people_have_none(vera):
    assert vera.get("/agents/alder/record/")["Location"] == "/nodes/alder/"
    assert vera.get("/agents/vera/record/").status_code == 404
    for slug in ("lime", "%00"):
        assert vera.get(f"/agents/{slug}/record/").status_code == 404


def test_the_record_needs_a_role(client):
    staff.hire("echo", timezone.now())
    assert client.get(PAGE)["Location"].startswith("/sign-in/")
    client.force_login(make.person("nobody", None))
    assert client.get(PAGE).status_code == ask(client).status_code == 403


def test_a_search_that_has_not_looked_at_everything_does_not_say_that_there_is_nothing(vera, monkeypatch):
    """It ends after so many, and goes on where a reader asks for more."""
    monkeypatch.setattr("inbox.queries.record.MOST_READ", 2)
    for n in range(4):
        vera.post(f"{PAGE}ask/", {"body": "the sail" if n == 0 else "the disk", "key": f"{n:022}"})
    page = vera.get(f"{PAGE}?q=sail")
    assert "Nothing newer in the record has this" in words(page) and "Nothing in the record" not in words(page)
    earlier = re.search(r'href="([^"]+)">Earlier<', page.content.decode())[1].replace("&amp;", "&")
    assert "the sail" in words(vera.get(earlier))
