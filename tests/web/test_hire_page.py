"""Hiring on a page: one form is one agent, and its token is shown once."""

from __future__ import annotations

import re

import pytest

from roster.models import Agent, EngramRevision, Event
from tests import make

pytestmark = pytest.mark.django_db
KEY = "k" * 22


@pytest.fixture
def manager(client, now):
    make.node("harbor", now)
    client.force_login(make.person("mira", "manager"))
    return client


def form(**over) -> dict[str, str]:
    return {"id": "echo", "node": "harbor", "max_sessions": "3", "key": KEY, **over}


def test_the_form_hires_onto_the_node_and_shows_the_token_once(manager):
    hired = manager.post("/hire/", form(engram="You are kind.\r\n\r\nBe brief.", display_name="Echo"))
    agent = Agent.objects.get(slug="echo")
    assert (agent.lifecycle, agent.home_node.slug, agent.max_sessions) == ("hired", "harbor", 3)
    assert EngramRevision.objects.get(agent=agent).text == "You are kind.\n\nBe brief."
    shown = manager.get(hired["Location"]).content.decode()
    raw = re.search(r'<code id="command">([^<]+)</code>', shown)[1]
    assert raw.startswith("agora") or len(raw) > 20
    assert raw not in manager.get(hired["Location"]).content.decode()
    assert "was hired" in manager.get("/events/?agent=echo").content.decode()
    assert KEY not in manager.get("/events/?agent=echo").content.decode()


def test_the_same_form_sent_again_makes_no_second_agent_and_leads_to_the_first_f146(manager):
    manager.post("/hire/", form())
    for _ in range(2):
        again = manager.post("/hire/", form())
        assert (again.status_code, again["Location"]) == (302, "/agents/echo/")
    assert (
        Agent.objects.filter(kind="employee", modality="ai").count() == Event.objects.filter(kind="hired").count() == 1
    )


def test_another_form_for_the_same_id_is_told_that_it_is_taken_and_by_whom(manager):
    manager.post("/hire/", form())
    late = manager.post("/hire/", form(key="j" * 22, display_name="Second"))
    text = late.content.decode()
    assert late.status_code == 409 and 'href="/agents/echo/"' in text and 'value="Second"' in text


@pytest.mark.parametrize(
    ("wrong", "field"),
    [({"id": "No Such"}, "id"), ({"id": ""}, "id"), ({"id": "harbor"}, "id"), ({"max_sessions": "0"}, "max_sessions"),
     ({"max_sessions": "101"}, "max_sessions"), ({"max_sessions": "²"}, "max_sessions"), ({"node": "lime"}, "node"),
     ({"node": ""}, "node"), ({"display_name": "x" * 201}, "display_name"), ({"engram": "x" * 70_000}, "engram")],
)  # fmt: skip
def test_what_cannot_be_taken_is_said_at_its_field_and_nobody_is_hired(manager, wrong, field):
    refused = manager.post("/hire/", form(**wrong))
    assert refused.status_code in (404, 409, 422), refused.status_code
    assert f'id="e-{field}"' in refused.content.decode()
    assert not Event.objects.filter(kind="hired").exists()


def test_a_viewer_cannot_hire(client):
    client.force_login(make.person("vera"))
    assert client.get("/hire/").status_code == client.post("/hire/", form()).status_code == 403


def test_without_a_node_the_page_says_how_to_get_one(client):
    client.force_login(make.person("mira", "manager"))
    text = client.get("/hire/").content.decode()
    assert "No node is enrolled yet" in text and 'name="id"' not in text


def test_the_engram_shows_its_revisions_side_by_side(manager, now):
    from roster.services import engrams

    manager.post("/hire/", form(engram="Be kind."))
    agent = Agent.objects.get(slug="echo")
    for text in ("Be quick.", "Be thorough."):
        engrams.write(agent, text, by="ada", now=now)
    page = manager.get("/agents/echo/engram/").content.decode()
    assert "Be quick." in page and "Be thorough." in page and "Be kind." not in page
    page = manager.get("/agents/echo/engram/?revision=1").content.decode()
    assert "Be kind." in page and "Be thorough." in page and "Be quick." not in page
    assert manager.get("/agents/mira/engram/").status_code == manager.get("/agents/lime/engram/").status_code == 404


def test_a_node_is_retired_only_when_nobody_lives_there_r131(manager, now):
    manager.post("/hire/", form())
    page = manager.get("/nodes/harbor/retire/").content.decode()
    assert "Who lives here has to be reassigned" in page and 'href="/agents/echo/reassign/"' in page and 'name="confirm"' not in page
    refused = manager.post("/nodes/harbor/retire/", {"confirm": "harbor"})
    assert refused.status_code == 409 and "echo" in refused.content.decode()
    make.node("empty", now)
    assert manager.post("/nodes/empty/retire/", {"confirm": "no"}).status_code == 422
    assert manager.post("/nodes/empty/retire/", {"confirm": "empty"}).status_code == 302
    assert Agent.objects.get(slug="empty").lifecycle == "draining"


def test_a_warning_is_shown_and_withdrawn_with_a_reason_r120(manager, now):
    make.agent("delta")
    make.rule("review-first")
    make.report("delta", "review-first", "merge-1")
    page = manager.get("/agents/delta/").content.decode()
    where = re.search(r'href="(/warnings/\d+/withdraw/)"', page)[1]
    assert "commit 1a2b" in page
    assert manager.post(where, {"reason": ""}).status_code == 422
    assert manager.post(where, {"reason": "the review came late"}).status_code == 302
    assert manager.post(where, {"reason": "again"}).status_code == 409
    page = manager.get("/agents/delta/").content.decode()
    assert "withdrawn by" in page and "the review came late" in page and where not in page


@pytest.mark.parametrize("cap", ["000000005" + "0" * 5, "000000005" + "0" * 5000, "0", "-1", "1.0", "\u00b2", "101"])
def test_a_cap_that_is_no_number_in_its_bounds_is_told_at_its_field(manager, cap):
    answer = manager.post("/hire/", form(max_sessions=cap))
    assert answer.status_code == 422 and "from 1 to 100" in answer.content.decode()
    assert not Agent.objects.filter(slug="echo").exists()
