"""The page of one agent: what it shows of whom, and what that costs."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.utils import timezone

from roster import plans
from roster.models import Agent, HubUptime, SweepRun
from tests import make

pytestmark = pytest.mark.django_db


@pytest.fixture
def viewer(client):
    client.force_login(make.person("vera"))
    return client


def page(client, slug: str) -> str:
    answer = client.get(f"/agents/{slug}/")
    assert answer.status_code == 200
    return answer.content.decode()


def value(text: str, name: str) -> str:
    """The words of the fact ``name``, before its evidence is opened."""
    fact = re.search(rf'<dd data-v="{name}">(.*?)</dd>', text, re.S)[1]
    return re.sub(r"<[^>]+>", "", fact.partition("</summary>")[0]).strip()


def test_seen_and_last_worked_are_told_apart_F136(viewer):
    """Six hours of idle heartbeats after its work."""
    now = timezone.now()
    _, token = make.agent("echo", now - timedelta(hours=7), status="working: notes", liveness_mode="async")
    for minutes in (*range(360, 0, -30), 0.2):
        make.beat(token, now - timedelta(minutes=minutes), status="idle")
    text = page(viewer, "echo")
    assert re.fullmatch(r"1\d s ago", value(text, "seen"))
    assert value(text, "worked") == "6 h ago"


def test_each_value_about_reaching_it_opens_its_evidence(viewer):
    home = make.node("harbor")[0]
    make.agent("echo", status="error", liveness_mode="async")
    Agent.objects.filter(slug="echo").update(waiting=2, home_node=home, worked_at=timezone.now())
    facts = page(viewer, "echo").partition('<dl class="facts">')[2].partition("</section>")[0]
    values = re.findall(r'<dd data-v="(\w+)">(<details class="ev" name="ev"><summary>)?', facts)
    assert {name for name, _ in values} >= {"seen", "worked", "doing", "attention", "switch", "mode", "node", "mail"}
    assert all(opens for _, opens in values), values


def test_the_page_takes_eighteen_queries_at_most_however_much_happened(viewer, django_assert_max_num_queries):
    now = timezone.now()
    HubUptime.objects.create(up_at=now - timedelta(hours=2), alive_at=now, down_at=now - timedelta(hours=3))
    make.profile("echo", title="Echo")
    _, token = make.agent("echo", now - timedelta(hours=20), liveness_mode="async")
    for minutes in range(600, 0, -5):
        make.beat(token, now - timedelta(minutes=minutes), status="idle" if minutes % 2 else f"working: {minutes}")
    SweepRun.objects.bulk_create(SweepRun(name=name, started_at=now) for name in plans.PERIODS)
    page(viewer, "echo")  # the profiles are read once in a process and edit
    with django_assert_max_num_queries(18):  # one of them counts the reader's own mail
        page(viewer, "echo")


def test_the_timeline_is_a_picture_with_a_title_for_each_stretch_and_a_table_behind_it(viewer):
    now = timezone.now()
    HubUptime.objects.create(up_at=now - timedelta(hours=2), alive_at=now, down_at=now - timedelta(hours=3))
    _, token = make.agent("echo", now - timedelta(hours=20), status="working: notes", liveness_mode="async")
    make.beat(token, now - timedelta(minutes=30), status="error")
    text = page(viewer, "echo")
    drawn = text.partition('<figure class="timeline">')[2].partition("</figure>")[0]
    titles = [title.partition(" UTC: ")[2] for title in re.findall(r"<title>(.*?)</title>", drawn)]
    assert titles == [
        "live", "dormant", "live", "says working: notes", "says error", "the hub was not running and heard nobody"
    ]  # fmt: skip
    rows = [re.sub(r"<[^>]+>", " ", row).split() for row in re.findall(r"<tr><td.*?</tr>", drawn, re.S)]
    assert len(rows) == len(titles) and ["dormant", "19 h"] == [rows[1][rows[1].index("dormant")], "19 h"]


def test_nothing_is_drawn_of_whom_nothing_is_known(viewer):
    make.profile("oracle", title="Oracle", liveness_mode="async")
    text = page(viewer, "oracle")
    assert "<figure" not in text and "No heartbeat was ever received" in text
    assert value(text, "seen") == "never"


def test_the_newest_fifty_events_stand_on_the_page_and_a_link_leads_to_all(viewer):
    now = timezone.now()
    _, token = make.agent("echo", now - timedelta(hours=3), liveness_mode="async")
    for n in range(60):
        make.beat(token, now - timedelta(minutes=100 - n), status=f"working: part {n}")
    events = page(viewer, "echo").partition('id="agent-events"')[2]
    assert events.count("<tr><td") == 50 and "part 59" in events and "part 2<" not in events
    assert '<a href="/events/?agent=echo">' in events
