"""The admin's lists: how far they reach, what their filters and searches find, and what an action may touch."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.utils import timezone

from roster.admin import history, paging
from roster.models import Agent, Event, Token
from tests import make, volume

pytestmark = pytest.mark.django_db


@pytest.fixture
def boss(client):
    client.force_login(make.person("boss", "admin"))
    return client


@pytest.fixture
def reach(monkeypatch) -> int:
    """A reach of three pages, so that a few rows are many."""
    monkeypatch.setattr(paging, "REACH", 150)
    return 150


def rows(page) -> int:
    return len(re.findall('class="action-select"|<th class="field-', page.content.decode()))


def shown(page, column: str) -> list[str]:
    cells = re.findall(rf'class="field-{column}[^"]*">(.*?)</t', page.content.decode())
    return [re.sub(r"<[^>]+>", "", cell) for cell in cells]


def test_a_list_within_reach_is_paged_through_to_its_last_row(boss, reach):
    volume.members(range(reach - 1), timezone.now())  # and the admin
    pages = [boss.get(f"/admin/roster/agent/?p={number}") for number in (1, 2, 3)]
    seen = [slug for page in pages for slug in shown(page, "slug")]
    assert seen == list(Agent.objects.order_by("slug").values_list("slug", flat=True))
    assert f"{reach} agents" in pages[0].content.decode()


def test_a_list_beyond_its_reach_says_so_and_leads_no_further_P52(boss, reach):
    volume.members(range(reach + 1), timezone.now())
    page = boss.get("/admin/roster/agent/?p=3")
    assert f"The first {reach} agents in this order: search or filter" in page.content.decode()
    assert "?p=4" not in page.content.decode()
    assert boss.get("/admin/roster/agent/?p=4").status_code == 302
    assert "150 or more found" in boss.get("/admin/roster/agent/?q=agent").content.decode()


def test_presence_is_read_with_the_page_and_not_for_each_row_P52(boss, django_assert_max_num_queries):
    volume.members(range(60), timezone.now())
    with django_assert_max_num_queries(5):
        page = boss.get("/admin/roster/agent/")
    assert shown(page, "presence")[:50] == ["live"] * 50


def test_fifty_people_are_listed_with_their_roles_in_a_few_queries_P52(boss, django_assert_max_num_queries):
    for number in range(50):
        make.person(f"person-{number}", "manager")
    with django_assert_max_num_queries(12):
        page = boss.get("/admin/auth/user/")
    assert shown(page, "role").count("manager") == 49 and "admin" in shown(page, "role")


@pytest.mark.core
def test_the_acts_of_one_person_of_one_kind_and_of_one_agent_are_found(boss):
    now = timezone.now()
    volume.members(range(6), now)
    volume.acts(60, now)
    assert set(shown(boss.get("/admin/roster/act/?by=ada"), "by")) == {"ada"}
    assert set(shown(boss.get("/admin/roster/act/?kind=edited"), "kind")) == {"edited"}
    assert set(shown(boss.get("/admin/roster/act/?q=Agent-000003"), "agent")) == {"agent-000003"}
    assert "presence" not in boss.get("/admin/roster/act/").content.decode().split("By kind")[1].split("</ul>")[0]
    both = boss.get("/admin/roster/act/?by=boss&q=agent-000003")
    assert len(shown(both, "by")) == Event.objects.filter(by="boss", agent__slug="agent-000003").count() > 0
    assert 'name="q" value="agent-000003"' in both.content.decode().split("By who acted")[1]
    for nobody in ("?q=agent-00000", "?by=ad", "?q=agent-000003&by=nobody"):
        assert shown(boss.get(f"/admin/roster/act/{nobody}"), "by") == [], nobody


@pytest.mark.core
def test_events_up_to_a_day_are_found_whatever_came_after(boss):
    now = timezone.now().replace(hour=12)
    volume.members(range(1), now)
    volume.edges(3, range(1), now - timedelta(days=9), timedelta(days=1))
    day = f"{now - timedelta(days=8):%Y-%m-%d}"
    found = boss.get(f"/admin/roster/presenceedge/?until={day}").context["cl"].result_list
    assert [event.at.date().isoformat() for event in found] == [day]
    assert boss.get("/admin/roster/presenceedge/?until=2000-01-01").context["cl"].result_count == 0
    assert boss.get("/admin/roster/presenceedge/?until=yesterday").status_code == 302


@pytest.mark.core
def test_tokens_are_found_by_prefix_and_by_owner(boss):
    volume.members(range(3), timezone.now())
    node = make.node("alder")[0]
    assert shown(boss.get("/admin/roster/token/?q=agora_a_000001"), "owner") == ["agent-000001"]
    assert shown(boss.get("/admin/roster/token/?q=agent-000002"), "owner") == ["agent-000002"]
    assert shown(boss.get(f"/admin/roster/token/?q={node.slug}"), "owner") == ["alder"]
    assert shown(boss.get("/admin/roster/token/?q=agent"), "owner") == []


def test_an_action_reaches_what_was_ticked_and_never_the_whole_list_P52(boss):
    volume.members(range(60), timezone.now())
    ticked = Token.objects.values_list("pk", flat=True)[:2]
    form = {"action": "revoke", "_selected_action": list(ticked), "select_across": "1"}
    assert "Select all 60" not in boss.get("/admin/roster/token/").content.decode()
    boss.post("/admin/roster/token/", form)
    assert Token.objects.exclude(revoked_at=None).count() == 2


def test_an_event_says_on_one_line_what_it_changed(boss):
    agent, _ = make.agent("echo")
    now = timezone.now()
    Event.objects.create(
        at=now, kind="edited", agent=agent, by="boss", before={"ttl": 60}, after={"ttl": 77, "x": "<b>"}
    )
    Event.objects.create(at=now, kind="role_given", by="boss", before="", after="admin")
    told = shown(boss.get("/admin/roster/act/?by=boss"), "change")
    assert "ttl: 60 → 77, x: &quot;&lt;b&gt;&quot;" in told
    assert history.difference("live", "dormant") == "live → dormant"
    assert history.difference({"prefix": "a"}, None) == 'prefix: "a"'
    assert history.difference(None, None) == ""
    assert history.difference("", "admin") == "none → admin"
    assert history.difference("one", {"of": "each"}) == "one → {'of': 'each'}"


def test_the_history_of_an_agent_is_its_journal(boss):
    agent, _ = make.agent("echo")
    page = boss.get(f"/admin/roster/agent/{agent.pk}/history/", follow=True)
    assert set(shown(page, "agent")) == {"echo"} and "registered" in shown(page, "kind")
    assert boss.get("/admin/roster/agent/99999/history/").status_code == 404


def test_an_empty_list_tells_how_it_would_fill_and_one_without_matches_how_to_leave_it(boss):
    empty = boss.get("/admin/roster/node/").content.decode()
    assert "There are no nodes yet." in empty and "POST /api/nodes" in empty
    nothing = boss.get("/admin/roster/agent/?q=nobody-at-all").content.decode()
    assert "Nothing matches." in nothing and '<a href="?">Show all agents</a>' in nothing


def test_what_is_over_is_told_from_what_still_holds(boss):
    volume.members(range(2), timezone.now())
    Token.objects.filter(prefix="agora_a_000001").update(revoked_at=timezone.now(), revoked_by="boss")
    assert shown(boss.get("/admin/roster/token/?state=revoked"), "owner") == ["agent-000001"]
    assert shown(boss.get("/admin/roster/token/?state=valid"), "owner") == ["agent-000000"]
    assert boss.get("/admin/roster/anomaly/?state=open").context["cl"].result_count == 0
    assert boss.get("/admin/roster/anomaly/?state=closed").context["cl"].result_count == 1


def test_agents_can_be_put_in_the_order_in_which_they_were_last_seen(boss):
    now = timezone.now()
    volume.members(range(3), now)
    seen = Agent.objects.filter(modality="ai").order_by("last_seen").values_list("slug", flat=True)
    assert [slug for slug in shown(boss.get("/admin/roster/agent/?o=8"), "slug") if slug != "boss"] == list(seen)
    assert seen[0] == "agent-000002"
