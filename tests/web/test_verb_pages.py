"""The pages of the verbs: what they say before they act, what they ask, and what the second of two is told."""

from __future__ import annotations

import re
from html import unescape

import pytest

from roster import access
from roster.models import Agent, Event
from roster.services import grants, lifecycle, switch
from tests import make

pytestmark = pytest.mark.django_db
BRAM = access.Caller("person", "bram", role="manager")


@pytest.fixture
def manager(client):
    client.force_login(make.person("mira", "manager"))
    return client


def words(answer) -> str:
    main = answer.content.decode().partition("<main")[2].partition("</main>")[0]
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", main)))


def test_a_verb_says_what_it_brings_about_before_it_acts(manager, now):
    make.agent("echo", now, liveness_mode="async")
    said = words(manager.get("/agents/echo/drain/"))
    assert "New prompts are refused from now on." in said and "never used again" in said
    assert Agent.objects.get(slug="echo").lifecycle == "active"


def test_what_cannot_be_undone_asks_for_the_typed_id_and_keeps_what_was_typed(manager, now):
    make.agent("echo", now)
    refused = manager.post("/agents/echo/retire/", {"reason": "the project ended", "confirm": "ecco"})
    assert refused.status_code == 422 and 'value="the project ended"' in refused.content.decode()
    assert Agent.objects.get(slug="echo").lifecycle == "active"
    done = manager.post("/agents/echo/retire/", {"reason": "the project ended", "confirm": "echo"})
    assert done.status_code == 302 and done["Location"] == "/agents/echo/"
    assert Event.objects.get(kind="draining").reason == "the project ended"
    assert "finishes its work" in words(manager.get("/agents/echo/"))


def test_a_manager_has_no_force_and_an_admin_needs_all_three_s11(manager, client, now):
    make.agent("echo", now)
    form = {"reason": "it deletes things", "confirm": "echo"}
    assert manager.post("/agents/echo/force-retire/", form).status_code == 403
    client.force_login(make.person("ada", "admin"))
    for lacking in ({"confirm": "echo"}, {"reason": "it deletes things"}, {"reason": "x", "confirm": "Echo"}):
        assert client.post("/agents/echo/force-retire/", lacking).status_code == 422
    assert Agent.objects.get(slug="echo").lifecycle == "active"
    assert client.post("/agents/echo/force-retire/", form).status_code == 302
    assert Agent.objects.get(slug="echo").lifecycle == "retired"


def test_the_second_of_two_is_told_what_happened_by_whom_and_what_is_possible(manager, now):
    make.agent("echo", now)
    lifecycle.drain(BRAM, "echo", "it is slow", now)
    late = manager.post("/agents/echo/drain/", {"confirm": "echo"})
    said = words(late)
    assert late.status_code == 409 and "bram" in said and "it is slow" in said
    assert "Possible now: Retire" in said and "Force-retire" not in said


@pytest.mark.parametrize("verb", ["drain", "retire", "reassign", "dismiss", "force-retire"])
def test_the_agent_of_a_node_cannot_be_had_by_any_page_p34(client, now, verb):
    make.node("harbor", now)
    client.force_login(make.person("ada", "admin"))
    said = {"reason": "x", "confirm": "harbor", "node": "harbor", "rule": "x"}
    answer = client.post(f"/agents/harbor/{verb}/", said)
    assert answer.status_code == 409 and "lives as long as its node" in words(answer)
    assert Agent.objects.get(slug="harbor").lifecycle == "active"


def test_a_viewer_may_only_with_a_grant(client, now):
    make.agent("echo", now)
    client.force_login(make.person("vera"))
    assert client.get("/agents/echo/disable/").status_code == 403
    assert client.post("/agents/echo/disable/", {"reason": "x"}).status_code == 403
    grants.give(access.Caller("person", "ada", role="admin"), "vera", "disable", now)
    assert client.post("/agents/echo/disable/", {"reason": "x"}).status_code == 302
    assert client.post("/agents/echo/drain/", {"confirm": "echo"}).status_code == 403


def test_the_switch_asks_for_a_reason_and_says_who_was_faster(manager, now):
    make.node("harbor", now)
    assert manager.post("/agents/harbor/disable/", {"reason": " "}).status_code == 422
    switch.disable(BRAM, "harbor", "maintenance", now)
    late = manager.post("/agents/harbor/disable/", {"reason": "x"})
    assert (
        late.status_code == 409 and "disabled already by bram" in words(late) and "Possible now: Enable" in words(late)
    )
    back = manager.post("/agents/harbor/enable/", {"next": "/?q=harbor"})
    assert (back.status_code, back["Location"]) == (302, "/?q=harbor")
    assert Agent.objects.get(slug="harbor").enabled


@pytest.mark.parametrize("target", ["//evil.example/", "https://evil.example/", "javascript:alert(1)", "evil"])
def test_it_leads_back_to_a_page_of_this_hub_only(manager, now, target):
    make.agent("echo", now)
    assert manager.post("/agents/echo/disable/", {"reason": "x", "next": target})["Location"] == "/agents/echo/"


def test_of_nobody_and_of_no_verb_there_is_no_page(manager, now):
    make.agent("echo", now)
    for path in ("/agents/lime/drain/", "/agents/No such/drain/", "/agents/echo/workspace/", "/agents/echo/delete/"):
        assert manager.get(path).status_code == manager.post(path, {"confirm": "lime"}).status_code == 404, path
