"""What an admin edits of how agents are employed: each act by the services, journaled, and nothing is deleted."""

from __future__ import annotations

import time

import pytest
from django.utils import timezone

from roster import access, plans, tools
from roster.models import (
    Agent,
    AgentTemplate,
    EngramRevision,
    Event,
    Grant,
    MemoryEntry,
    Rule,
    SurgeRule,
    Warning,
)
from roster.queries.employment import engram
from roster.services import engrams
from tests import make, volume
from tests.web.test_admin import opened

pytestmark = pytest.mark.django_db(transaction=True)
SCRIBE = {"slug": "scribe", "display_name": "Scribe", "engram": "You keep the notes.", "tool_scope": "read, mail",
          "max_sessions": "2", "node": "alder", "liveness_mode": "async", "lifetime": "3600"}  # fmt: skip


@pytest.fixture
def boss(client):
    client.force_login(make.person("boss", "admin"))
    return client


def page_of(agent: Agent) -> str:
    return f"/admin/roster/agent/{agent.pk}/change/"


def told(kind: str) -> Event:
    return Event.objects.filter(kind=kind).latest("pk")


def test_an_engram_is_edited_on_its_agents_page_with_its_revisions_r139_p39(boss):
    agent, _ = make.agent("echo")
    for n, text in enumerate(("Keep the notes.", "Keep the notes.\nShort ones.")):
        form = opened(boss, page_of(agent)) | {"revision": str(n), "engram": text.replace("\n", "\r\n")}
        assert boss.post(page_of(agent), form).status_code == 302
    assert (engram(agent).text, engram(agent).author) == ("Keep the notes.\nShort ones.", "boss")
    page = boss.get(page_of(agent)).content.decode()
    assert "2: boss," in page and "1: boss," in page and "?q=echo" in page
    assert (told("engram_edited").by, told("engram_edited").before["revision"]) == ("boss", 1)
    assert boss.post(page_of(agent), opened(boss, page_of(agent)) | {"display_name": "Echo"}).status_code == 302
    assert EngramRevision.objects.count() == 2, "a form in which it was left alone is no edit"


def test_an_engram_that_somebody_edited_meanwhile_is_not_overwritten(boss):
    agent, _ = make.agent("echo")
    form = opened(boss, page_of(agent)) | {"revision": "0"}
    engrams.edit(access.Caller("person", "ada", role="admin"), "echo", "Ada's.", timezone.now())
    answer = boss.post(page_of(agent), form | {"engram": "Mine."})
    assert answer.status_code == 200 and "revision 1 by now, by ada" in answer.content.decode()
    assert "Mine." in answer.content.decode(), "what was typed is kept"
    assert boss.post(page_of(agent), form | {"display_name": "Echo"}).status_code == 302
    assert engram(agent).text == "Ada's."


def test_cap_and_tools_are_edited_and_journaled_r89_p39(boss):
    agent, _ = make.agent("echo")
    form = opened(boss, page_of(agent)) | {"max_sessions": "3", "tool_scope": "read, search"}
    assert boss.post(page_of(agent), form).status_code == 302
    after = Agent.objects.get(pk=agent.pk)
    assert (after.max_sessions, after.tool_scope) == (3, ["read", "search"])
    assert told("edited").before == {"max_sessions": 1, "tool_scope": None}
    assert boss.post(page_of(agent), opened(boss, page_of(agent)) | {"tool_scope": "none"}).status_code == 302
    assert Agent.objects.get(pk=agent.pk).tool_scope == []
    assert boss.post(page_of(agent), opened(boss, page_of(agent)) | {"tool_scope": ""}).status_code == 302
    assert Agent.objects.get(pk=agent.pk).tool_scope is None


@pytest.mark.parametrize(
    ("field", "value", "why"),
    [
        ("tool_scope", "read, deploy", "deploy"),
        ("tool_scope", "all", "fewer tools"),
        ("max_sessions", "2", "one thing"),
    ],
)
def test_a_nodes_agent_is_held_to_its_limits_at_save_r140(boss, field, value, why):
    _, agent, _ = make.node("alder")
    typed = ", ".join(plans.TOOLS.person) if value == "all" else value
    answer = boss.post(page_of(agent), opened(boss, page_of(agent)) | {field: typed})
    assert answer.status_code == 200 and why in answer.content.decode()
    after = Agent.objects.get(pk=agent.pk)
    assert (after.tool_scope, after.max_sessions) == (None, 1)
    assert tools.of(after, plans.TOOLS) == list(plans.TOOLS.node)


def test_a_person_and_a_retired_agent_have_no_terms_to_edit_r123(boss):
    mira = make.person("mira").agent
    gone, _ = make.agent("gone")
    Agent.objects.filter(pk=gone.pk).update(lifecycle="retired")
    for agent in (mira, gone):
        page = boss.get(page_of(agent)).content.decode()
        assert 'name="engram"' not in page and 'name="max_sessions"' not in page
        form = opened(boss, page_of(agent)) | {"engram": "Obey.", "max_sessions": "9", "display_name": "Name"}
        assert boss.post(page_of(agent), form).status_code == 302
        assert (Agent.objects.get(pk=agent.pk).max_sessions, EngramRevision.objects.count()) == (1, 0)


def test_lifecycle_and_switch_are_shown_and_not_written(boss):
    agent, _ = make.agent("echo")
    form = opened(boss, page_of(agent))
    assert not {"lifecycle", "enabled", "home_node", "template", "expires_at", "workspace"} & set(form)
    boss.post(page_of(agent), form | {"lifecycle": "retired", "enabled": "", "expires_at": "2020-01-01"})
    after = Agent.objects.get(pk=agent.pk)
    assert (after.lifecycle, after.enabled, after.expires_at) == ("active", True, None)


def test_a_look_into_a_memory_is_journaled_and_a_list_shows_no_text(boss):
    agent, _ = make.agent("echo")
    entry = MemoryEntry.objects.create(agent=agent, kind="fact", text="the moss grows", at=timezone.now())
    listed = boss.get("/admin/roster/memoryentry/?q=echo")
    assert listed.context["cl"].result_count == 1 and "moss" not in listed.content.decode()
    assert not Event.objects.filter(kind="memory_looked_at").exists()
    assert "the moss grows" in boss.get(f"/admin/roster/memoryentry/{entry.pk}/change/").content.decode()
    assert (told("memory_looked_at").by, told("memory_looked_at").agent.slug) == ("boss", "echo")


def test_a_template_is_made_edited_and_put_away_r106_p39(boss):
    make.node("alder")
    assert boss.post("/admin/roster/agenttemplate/add/", SCRIBE).status_code == 302
    scribe = AgentTemplate.objects.get()
    assert scribe.node.slug == "alder"
    assert (scribe.tool_scope, scribe.lifetime, scribe.created_by) == (["read", "mail"], 3600, "boss")
    page = f"/admin/roster/agenttemplate/{scribe.pk}/change/"
    assert boss.post(page, opened(boss, page) | {"lifetime": "7200"}).status_code == 302
    edited = told("template_edited")
    assert (edited.by, edited.before["lifetime"], edited.after["lifetime"]) == ("boss", 3600, 7200)
    boss.post("/admin/roster/agenttemplate/", {"action": "put_away", "_selected_action": [scribe.pk]})
    assert AgentTemplate.objects.get().archived_at and told("template_edited").after["archived"] is True
    boss.post("/admin/roster/agenttemplate/", {"action": "take_out", "_selected_action": [scribe.pk]})
    assert AgentTemplate.objects.get().archived_at is None


@pytest.mark.parametrize(
    ("more", "why"),
    [({"slug": "echo"}, "taken"), ({"lifetime": "59"}, "60"), ({"tool_scope": "Read it"}, "no tool"),
     ({"max_sessions": "0"}, "1"), ({"engram": "x" * (64 * 1024 + 1)}, "65,536"), ({"slug": "x" * 49}, "48"), ({"node": "nowhere"}, "none of this id")],
)  # fmt: skip
def test_a_template_that_cannot_be_is_refused_at_its_field(boss, more, why):
    make.agent("echo")
    make.node("alder")
    answer = boss.post("/admin/roster/agenttemplate/add/", SCRIBE | more)
    assert why in answer.content.decode() and not AgentTemplate.objects.exists()


def test_a_surge_rule_is_made_and_edited_p39(boss):
    make.agent("echo")
    boss.post("/admin/roster/agenttemplate/add/", SCRIBE | {"node": ""})
    rule = {"template": "scribe", "agent": "echo", "above": "2", "samples": "3", "cooldown": "600", "most": "1",
            "active": "on"}  # fmt: skip
    assert boss.post("/admin/roster/surgerule/add/", rule).status_code == 302
    page = f"/admin/roster/surgerule/{SurgeRule.objects.get().pk}/change/"
    assert boss.post(page, opened(boss, page) | {"most": "4"}).status_code == 302
    edited = told("surge_rule_edited")
    assert (edited.by, edited.agent.slug, edited.before["most"], edited.after["most"]) == ("boss", "echo", 1, 4)
    first, second = opened(boss, page), opened(boss, page)
    boss.post(page, first | {"most": "7"})
    boss.post(page, second | {"above": "9"})
    kept = SurgeRule.objects.get()
    assert (kept.most, kept.above) == (7, 9), "two who edit at once keep each other's changes"
    make.person("mira")
    for nobody, why in (("mira", "no queue"), ("no-one", "Nobody has this id"), ("a\0b", "Null characters")):
        answer = boss.post("/admin/roster/surgerule/add/", rule | {"agent": nobody})
        assert why in str(answer.context["errors"]) and SurgeRule.objects.count() == 1


def test_a_rule_is_written_a_warning_withdrawn_and_a_grant_given_and_revoked_p39(boss):
    make.agent("echo")
    rule = {"slug": "review", "text": "Merge after a review.", "active": "on"}
    assert boss.post("/admin/roster/rule/add/", rule).status_code == 302
    assert (told("rule_edited").by, Rule.objects.get().text) == ("boss", "Merge after a review.")
    warning = make.report("echo", "review", "1a2b").warning
    page = f"/admin/roster/warning/{warning.pk}/change/"
    assert boss.post(page, {"reason": " "}).status_code == 200 and Warning.objects.get().withdrawn_at is None
    assert boss.post(page, {"reason": "It had been reviewed."}).status_code == 302
    assert (Warning.objects.get().withdrawn_by, told("warning_withdrawn").by) == ("boss", "boss")
    assert "It had been reviewed." in boss.get(page).content.decode()
    assert boss.post(page, {"reason": "Twice."}).status_code == 403
    grant = {"agent": "echo", "permission": "hire"}
    assert boss.post("/admin/roster/grant/add/", grant).status_code == 302
    assert (told("granted").by, told("granted").after) == ("boss", {"permission": "hire"})
    assert "before" in boss.post("/admin/roster/grant/add/", grant).content.decode()
    kept = Grant.objects.get()
    boss.post("/admin/roster/grant/", {"action": "revoke", "_selected_action": [kept.pk]})
    assert (Grant.objects.get().revoked_by, told("grant_revoked").by) == ("boss", "boss")


def test_delete_is_offered_for_no_agent_and_no_node_however_many_are_chosen_f039(boss):
    """Neither singly nor in bulk, and asking costs no look at what hangs on them."""
    volume.members(range(5_000), timezone.now())
    node, agent, _ = make.node("alder")
    began = time.perf_counter()
    chosen = list(Agent.objects.values_list("pk", flat=True))
    answers = [
        boss.post(
            "/admin/roster/agent/", {"action": "delete_selected", "_selected_action": chosen, "select_across": "1"}
        ),
        boss.post(f"/admin/roster/agent/{agent.pk}/delete/", {"post": "yes"}),
        boss.post(f"/admin/roster/node/{node.pk}/delete/", {"post": "yes"}),
    ]
    assert time.perf_counter() - began < 3  # the bar is a second each
    assert [each.status_code for each in answers[1:]] == [403, 403]
    assert "delete_selected" not in boss.get("/admin/roster/agent/").content.decode()
    assert Agent.objects.count() == 5_000 + 2
