"""What an open page goes through in a day: frozen, cut off, behind a dead line, typed in, left and come back to."""

from __future__ import annotations

import json
import re

import pytest

from tests.browser.looking import Look
from tests.browser.proxy import Proxy
from tests.flows.outside import ago, change, killed_and_back, ready, rows
from tests.services import wait_until

pytestmark = pytest.mark.browser
SECOND = 1000
CARET = "[document.activeElement.id, document.activeElement.selectionStart, document.activeElement.value]"
MARKS = """() => { window.marks = [];
  const mark = document.getElementById("connection");
  new MutationObserver(() => marks.push(mark.textContent)).observe(mark, {childList: true}) }"""
HIDE = """hidden => {
  Object.defineProperty(document, "hidden", {value: hidden, configurable: true});
  document.dispatchEvent(new Event("visibilitychange", {bubbles: true})) }"""
LONG_GONE = "update roster_agent set evidence_at = ?, last_seen = ?, deadline = ?, check_after = ? where slug = ?"


@pytest.fixture(scope="module")
def node(hub):
    """A node that speaks for agents at home nowhere: ``beats`` takes {agent: what it says}, in one call."""
    with hub.client() as client:
        token = client.post("/api/nodes", json={"slug": "honest-node"}).raise_for_status().json()["token"]
    speaker = hub.client(token)

    def beats(said: dict[str, str]) -> None:
        told = [{"agent": slug, "status": "working", "task": task} for slug, task in said.items()]
        answer = speaker.post("/api/heartbeats", json={"heartbeats": told})
        assert answer.status_code == 200 and not answer.json()["refused"], answer.text

    return beats


@pytest.fixture
def proxied(chromium, hub, signed_in):
    """The roster behind a proxy, on a clock that the test turns."""
    proxy, context = Proxy(hub.url), chromium.new_context(storage_state=signed_in)
    page = Look(context, proxy.url)
    page.page.clock.install()
    page.proxy = proxy
    yield page
    context.close()
    proxy.stop()


def shown(page) -> dict[str, str]:
    """What the table says that each agent does, in the order of the table."""
    return dict(
        page.locator("#rows > tr").evaluate_all(
            "rows => rows.map(row => [row.querySelector('a.id').innerText, row.querySelector('.c-doing').innerText])"
        )
    )


def test_a_frozen_tab_equals_the_table_within_five_seconds_of_waking_up_P40_F043(look, hub, node):
    """Five hundred changes, one newcomer and one who left, while the tab reads nothing; then it is thawed."""
    slugs = [f"frost-{n:02}" for n in range(20)]
    tokens = {slug: hub.register(slug) for slug in slugs}
    roster = look("/?q=frost-")
    roster.rows(20)
    devtools = roster.page.context.new_cdp_session(roster.page)
    devtools.send("Debugger.enable")
    devtools.send("Debugger.pause")  # no script of the page runs any more, so nothing reads the socket
    for n in range(25):
        node({slug: f"change {n} of {slug}" for slug in slugs})
    hub.register("frost-05b")
    with hub.client(tokens["frost-07"]) as leaver:
        leaver.post("/api/agents/frost-07/sign-off", json={}).raise_for_status()
    with hub.client() as client:
        listed = client.get("/api/agents", params={"q": "frost-"}).json()["agents"]
        assert "agora_unhinted_changes_total" in client.get("/metrics").text
    devtools.send("Debugger.resume")
    equal_within_five_seconds(roster, listed)


def test_a_tab_that_was_hidden_equals_the_table_within_five_seconds_of_being_shown_P40(look, hub, node):
    """A hidden tab has no connection at all; shown again it connects at once and is given what it missed."""
    for n in range(3):
        hub.register(f"veiled-{n}")
    roster = look("/?q=veiled-")
    roster.page.evaluate(HIDE, True)
    roster.sees("#connection", "not live since")
    node({f"veiled-{n}": f"unseen {n}" for n in range(3)})
    hub.register("veiled-newcomer")
    listed = hub.client().get("/api/agents", params={"q": "veiled-"}).json()["agents"]
    roster.page.evaluate(HIDE, False)
    equal_within_five_seconds(roster, listed)


def equal_within_five_seconds(roster, listed: list[dict]) -> None:
    """Waits until the table shows the agents of the API's list ``listed`` in their order, with their tasks, live."""
    expected = {each["id"]: each["task"] or "" for each in listed}
    assert any(expected.values())

    def equal() -> bool:
        now = shown(roster.page)
        return list(now) == list(expected) and all(task in now[slug] for slug, task in expected.items())

    wait_until(equal, 5, "the page's equality")
    roster.sees("#connection", "live")


def test_typing_a_focused_link_an_opened_evidence_and_selected_text_are_never_disturbed_P43_F047(look, hub, node):
    """Sixty characters are typed before three others in five seconds, while a row in use changes twenty times.

    The scenario types into a send box and a reason; the search box is where one types on this page, and a focused
    link, an opened evidence and a selection are what a reader has in its rows.
    """
    for slug in ("steady-a", "steady-b"):
        hub.register(slug)
    roster = look("/?q=steady-")
    page, typed = roster.page, "the quick brown fox jumps over the lazy dog, and then again "
    roster.row("steady-a").locator(".c-presence summary").click()
    field = page.locator("#q")
    field.fill("end")
    field.press("Home")
    for n in range(20):
        page.keyboard.type(typed[3 * n : 3 * n + 3], delay=80)
        node({"steady-a": f"typed {n}", "steady-b": f"typed {n}"})
    roster.row_says("steady-b", "typed 19")
    assert len(typed) == 60
    assert page.evaluate(CARET) == ["q", 60, typed + "end"]
    assert roster.row("steady-a").locator(".c-presence .pop").is_visible()

    link = roster.row("steady-a").locator("a.id")
    link.focus()
    page.evaluate("getSelection().selectAllChildren([...document.querySelectorAll('#rows a.id')].at(-1))")
    for n in range(5):
        node({"steady-a": f"read {n}", "steady-b": f"read {n}"})
        roster.row_says("steady-b", f"read {n}")
    assert link.evaluate("link => link === document.activeElement")
    assert page.evaluate("getSelection().toString()") == "steady-b"
    assert roster.row("steady-a").locator(".c-presence .pop").is_visible()


def test_a_line_behind_a_proxy_that_stopped_forwarding_and_one_that_was_cut_come_back_P41(proxied, hub, node):
    """Half open: nothing is closed and nothing arrives. The page says so and is right again within 90 s; cut: 35 s."""
    hub.register("behind-proxy")
    clock = proxied.page.clock
    proxied.go("/?q=behind-")
    proxied.page.evaluate(MARKS)
    proxied.proxy.swallow()
    node({"behind-proxy": "unheard"})
    clock.run_for(45 * SECOND)
    assert "unheard" not in proxied.row("behind-proxy").inner_text()
    clock.run_for(45 * SECOND)
    proxied.row_says("behind-proxy", "unheard")
    proxied.sees("#connection", re.compile("^live$"))
    assert [mark for mark in proxied.page.evaluate("marks") if mark.startswith("not live since")]
    proxied.proxy.cut()
    proxied.sees("#connection", "not live since")
    node({"behind-proxy": "heard again"})
    clock.run_for(35 * SECOND)
    proxied.row_says("behind-proxy", "heard again")
    proxied.sees("#connection", re.compile("^live$"))


def test_a_hub_whose_web_process_was_killed_is_found_again_within_35_seconds_P41(proxied, hub, node):
    """Killed outright, so that the line is cut without a close frame; the supervisor starts another."""
    hub.register("restarted")
    proxied.go("/?q=restarted")
    killed_and_back(hub, "web")
    proxied.sees("#connection", "not live since")
    wait_until(lambda: ready(hub), 30, "a hub that is ready")
    node({"restarted": "after the restart"})
    proxied.page.clock.run_for(35 * SECOND)
    proxied.row_says("restarted", "after the restart")
    proxied.sees("#connection", re.compile("^live$"))


def test_time_alone_moves_ages_and_turns_the_word_without_a_sweep_or_a_push_F010(look, hub):
    """Nobody beats and no sweep has a reason to look; the window has ended, and the page finds out by itself."""
    hub.register("untouched", liveness_mode="async")
    roster = look("/?q=untouched")
    age = roster.row("untouched").locator(".c-seen summary time")
    before = age.inner_text()
    wait_until(lambda: age.inner_text() != before, 5, "an older age")
    change(hub, LONG_GONE, *[ago(minutes=70)] * 3, ago(hours=-1), "untouched")
    roster.row_says("untouched", "dormant", 30)
    roster.row_says("untouched", "1 h ago")
    assert rows(hub, "select recorded from roster_agent where slug = 'untouched'") == [("live",)]


def test_back_shows_the_present_state_and_nothing_at_all_after_the_sign_out_F096(look, hub, node):
    """No websocket may help here: what Back shows was asked for again. The browser stores nothing of the fleet.

    The scenario disables the agent before it goes back; here it says something new.
    """
    hub.register("backward")
    link = hub.command("sign-in", "admin")
    page = look("/sign-in/", live=False, storage_state=None)
    page.page.goto(link)
    page.page.route_web_socket(re.compile("/live/"), lambda socket: socket.close(code=1011, reason="no way through"))
    page.go("/?q=backward", live=False)
    assert page.answer.headers["cache-control"] == "no-store"
    assert json.loads(page.page.locator("meta[name='htmx-config']").get_attribute("content"))["history"] is False
    page.row("backward").locator("a.id").click()
    page.sees("h1", "backward")
    node({"backward": "changed meanwhile"})
    page.page.go_back()
    page.row_says("backward", "changed meanwhile", 5)
    stores = page.page.evaluate("[Object.keys(localStorage), Object.keys(sessionStorage)]")
    assert set(stores[0]) <= {"agora-theme", "agora-keys"} and stores[1] == []
    page.page.locator("button", has_text="Sign out").click()
    page.page.wait_for_url("**/sign-in/**")
    page.page.go_back()
    page.page.wait_for_url("**/sign-in/?next=**")
    assert page.page.locator("#rows, a.id, #summary").count() == 0


def test_a_form_works_after_the_sign_in_made_a_new_token_F166(look, hub):
    """Signed in twice, each time with a new token; the page that was reached by its links afterwards acts.

    No link of the hub is boosted: each brings a whole page with its own forms, and that is what is asked of it here.
    The act is the sign-out, which every page has and which answers with the way to the sign-in page.
    """
    page = look("/sign-in/", live=False, storage_state=None)
    tokens = []
    for _ in range(2):
        page.page.goto(hub.command("sign-in", "admin"))
        page.page.locator("nav a", has_text="Events").click()
        page.sees("h1", "Events")
        assert page.page.locator("[hx-boost], [data-hx-boost]").count() == 0
        tokens.append({cookie["name"]: cookie["value"] for cookie in page.page.context.cookies()})
        with page.page.expect_response(lambda answer: answer.request.method == "POST") as acted:
            page.page.locator("button", has_text="Sign out").click()
        assert acted.value.status == 302
        page.page.wait_for_url("**/sign-in/**")  # a page that is on its way somewhere may keep its window from closing
    assert any("csrf" in name and tokens[0][name] != tokens[1][name] for name in tokens[0])
