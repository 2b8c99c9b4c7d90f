"""Walk 1 in a real browser before a whole hub: what happens outside is on the open page, without a reload."""

from __future__ import annotations

import re
import time
from urllib.parse import quote

import pytest

from tests.flows.outside import ago, change, task
from tests.web.test_ids import ODD

pytestmark = pytest.mark.browser
# With each sign that an id may have, in each place where it may stand; all of them are found by one search.
LEGAL = [
    "4808", "4808-dotnet-4.8-expert", "4808lives", "4808.b", "4808_c", "4808--d", "4808..e", "4808__f", "4808-",
    "4808.", "4808_", "4808-.x", "4808._", "4808.4.8.0", "4808-2026-03-02", "0.0.0.4808", "a-4808", "a.4808_b-c",
    "4808" + "e" * 60, "4808" * 16,
]  # fmt: skip
SOON = 2.0  # seconds within which a change must be on an open page (P10, F042)
LONG_GONE = "update roster_agent set evidence_at = ?, last_seen = ?, deadline = ?, check_after = ? where slug = 'swept'"


@pytest.fixture
def agent(hub):
    """Registers an agent and returns a function that beats for it."""

    def made(slug: str, **said):
        own = hub.client(hub.register(slug, **said))

        def beat(**beaten):
            answer = own.post("/api/heartbeat", json=beaten)
            assert answer.status_code == 200, answer.text

        beat.leave = lambda: own.post(f"/api/agents/{slug}/sign-off", json={}).raise_for_status()
        return beat

    return made


def test_a_heartbeat_changes_the_row_of_an_open_page_without_a_reload(look, agent):
    beat = agent("walk-one", liveness_mode="async")
    roster = look("/?q=walk-")
    roster.same_page()
    beat(status="working: the first page")
    roster.row_says("walk-one", "the first page", SOON)
    agent("walk-two")
    roster.row_says("walk-two", "idle", SOON)
    assert not roster.was_reloaded()


def test_the_first_heartbeat_after_dormancy_is_on_the_page_within_two_seconds_P10(look, agent, hub, soak):
    beat = agent("sleeper", liveness_mode="async")
    roster, spans = look("/?q=sleeper"), []
    for _ in range(40 if soak else 8):
        beat.leave()
        roster.row_says("sleeper", "dormant")
        began = time.monotonic()
        beat(status="idle")
        assert hub.client().get("/api/agents/sleeper").json()["presence"] == "live"
        roster.row_says("sleeper", "live")
        spans.append(time.monotonic() - began)
    assert sorted(spans)[int(len(spans) * 0.95) - 1] <= SOON, spans


def test_what_the_sweep_finds_in_its_own_process_is_on_the_open_page_F042(look, agent, hub, soak):
    """The worker records an edge; the open page of the agent, served by the web process, shows that event.

    The page would find it by a look of its own too, within 2 s; the web process counts what no hint told of.
    """
    from playwright.sync_api import expect

    beat = agent("swept", liveness_mode="async")
    page, spans, unhinted = look("/agents/swept/"), [], missed(hub)
    edges = page.page.locator("#agent-events td").filter(has_text=re.compile("^a sweep$"))
    for n in range(1, 21 if soak else 6):
        beat(status="idle")
        page.sees("#reachable", "live")
        change(hub, LONG_GONE, *[ago(minutes=50)] * 4)
        began = time.monotonic()
        task(hub, "dormancy_and_silence")
        expect(edges).to_have_count(n, timeout=5_000)
        spans.append(time.monotonic() - began)
    assert max(spans) <= SOON + 1, spans  # one for the task's own way
    assert missed(hub) <= unhinted + 1  # a look may come between a commit and its hint


def missed(hub) -> float:
    """How many changes the hub's web process found without a hint so far."""
    with hub.client() as client:
        return float(re.search(r"^agora_unhinted_changes_total (\S+)", client.get("/metrics").text, re.MULTILINE)[1])


def test_twenty_legal_ids_update_live_and_twenty_odd_ones_are_refused_F048_P46(look, agent, hub):
    beats = {slug: agent(slug) for slug in LEGAL}
    roster = look("/?q=4808")
    for slug, beat in beats.items():
        beat(status="working: moved")
        roster.row_says(slug, "moved")
        assert roster.page.request.get(f"{hub.url}/agents/{slug}/").status == 200, slug
    ids = roster.page.locator("#rows > tr").evaluate_all("rows => rows.map(row => row.id)")
    assert all(each.startswith("agent-") and each[6:].isdigit() for each in ids)
    with hub.client() as client:
        for slug in ODD:
            sent = quote(slug, safe="").replace(".", "%2E")
            refused = client.put(f"/api/agents/{sent}", json={"status": "idle"})
            assert refused.status_code == 422, (slug, refused.text)
            assert "lower-case letters, digits, '.', '_' and '-'" in refused.json()["error"]["message"], slug
    roster.rows(len(LEGAL))
    assert len(set(LEGAL)) == len(set(ODD)) == 20


def test_rows_come_change_and_leave_and_a_beat_without_news_changes_nothing_F049_F098(look, agent):
    """Thirty rows; then one comes, changes twice, and leaves; a row that replaced another still takes changes."""
    for n in range(30):
        agent(f"crowd-{n:02}")
    roster = look("/?q=crowd-")
    roster.rows(30)
    newcomer = agent("crowd-15b")
    roster.rows(31)
    for words in ("once", "twice"):
        newcomer(status=f"working: {words}")
        roster.row_says("crowd-15b", words)
    slugs = roster.page.locator("#rows a.id").all_inner_texts()
    assert slugs == sorted(slugs) and len(slugs) == 31
    newcomer()  # nothing new: nothing may move
    newcomer.leave()  # ephemeral: it leaves the roster
    roster.rows(30)
    newcomer(status="working: back")
    roster.row_says("crowd-15b", "back")
    agent("crowd-0")
    agent("crowd-99")
    roster.rows(33)
    slugs = roster.page.locator("#rows a.id").all_inner_texts()
    assert (slugs[0], slugs[-1]) == ("crowd-0", "crowd-99")


def test_an_agents_own_page_follows_it_live(look, agent):
    beat = agent("portrait", liveness_mode="async")
    page = look("/agents/portrait/")
    page.same_page()
    beat(status="working: a likeness")
    page.sees("#reachable", "a likeness", SOON)
    page.sees("#agent-events", "says working")
    beat.leave()
    page.sees("#reachable", "dormant", SOON)
    assert not page.was_reloaded()
