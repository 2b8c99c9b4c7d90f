"""The pages of nodes in a real browser: the switch by keyboard, one agent a form, and a page that keeps up."""

from __future__ import annotations

import pytest

from tests.browser.test_whole_site import PHONE, no_sideways_scroll

pytestmark = pytest.mark.browser
# How often something was said to a screen reader, counted from now on.
HEARD = """() => { window.heard = [];
  new MutationObserver(() => { const words = document.getElementById("said").textContent.trim();
    if (words) window.heard.push(words) }).observe(document.getElementById("said"), {childList: true, subtree: true}) }"""

# Two clicks, the second while the first is on its way: how often the form was sent, and whether its button waits.
TWICE = """async () => { const button = document.querySelector("button.main"); let sent = 0;
  button.form.addEventListener("submit", () => sent++);
  button.click();
  await new Promise(then => setTimeout(then));
  const waits = button.disabled;
  button.click();
  return [sent, waits] }"""


@pytest.fixture
def expect():
    from playwright.sync_api import expect

    return expect


@pytest.fixture(scope="module")
def node(hub):
    """A node with a name of its own."""
    hub.client().post("/api/nodes", json={"slug": "quay"}).raise_for_status()
    return hub


def focused(shown) -> str:
    return shown.page.evaluate("document.activeElement.id")


def test_by_keyboard_the_switch_keeps_the_focus_and_is_said_once_f151(look, node, expect):
    page = look("/nodes/quay/")
    page.same_page()
    page.page.evaluate(HEARD)
    page.page.locator("#reason").fill("the disk is replaced")
    page.page.keyboard.press("Tab")
    assert focused(page) == "switch-button"
    page.page.keyboard.press("Enter")
    expect(page.page.locator("#switch-button")).to_have_text("Enable")
    page.sees("#said", "quay is disabled.")
    page.sees("#switch-block", "disabled by admin")
    assert focused(page) == "switch-button"
    page.page.keyboard.press("Enter")
    expect(page.page.locator("#switch-button")).to_have_text("Disable")
    page.sees("#said", "quay is enabled.")
    assert focused(page) == "switch-button"
    assert page.page.evaluate("window.heard") == ["quay is disabled.", "quay is enabled."]
    assert not page.was_reloaded()


def test_on_the_roster_a_node_is_enabled_where_its_row_stands(look, node, expect):
    node.client().post("/api/agents/quay/disable", json={"reason": "a test"}).raise_for_status()
    roster = look("/?q=quay")
    roster.same_page()
    button = roster.row("quay").get_by_role("button", name="Enable quay")
    button.focus()
    roster.page.keyboard.press("Enter")
    expect(roster.row("quay").get_by_role("link", name="Disable quay")).to_be_focused()
    roster.sees("#said", "quay is enabled.")
    assert not roster.was_reloaded()


def test_the_menu_of_an_open_page_offers_what_is_possible_by_now(look, node, expect):
    node.client().post("/api/agents", json={"id": "quay-menu", "node": "quay"}).raise_for_status()
    page = look("/agents/quay-menu/")
    page.same_page()
    page.page.locator("#menu summary").click()
    expect(page.page.get_by_role("link", name="Disable …")).to_be_visible()
    node.client().post("/api/agents/quay-menu/disable", json={"reason": "a test"}).raise_for_status()
    expect(page.page.get_by_role("link", name="Enable …")).to_be_visible()
    expect(page.page.get_by_role("link", name="Disable …")).to_have_count(0)
    assert not page.was_reloaded()


def test_a_double_click_hires_one_agent_f146(look, node):
    page = look("/hire/?node=quay", live=False)
    page.page.locator("#f-id").fill("quay-hand")
    assert page.page.evaluate(TWICE) == [1, True]
    page.page.wait_for_url("**/hire/*/")
    page.sees("h1", "quay-hand")
    assert len(node.client().get("/api/events?agent=quay-hand&kind=hired").json()["events"]) == 1


def test_the_page_of_a_node_follows_and_leaves_what_is_being_typed(look, node, expect):
    page = look("/nodes/quay/")
    page.same_page()
    page.page.locator("#body").fill("half a prom")
    asked = node.client().post("/api/nodes/quay/prompt", json={"body": "Who else is here?"}).raise_for_status().json()
    page.sees("#record", "Who else is here?")
    page.sees("#queue", f"#{asked['exchange']}")
    expect(page.page.locator("#body")).to_have_value("half a prom")
    expect(page.page.locator("#body")).to_be_focused()
    assert not page.was_reloaded()


def test_without_javascript_a_node_is_asked_disabled_and_enabled(look, node):
    plain = look("/nodes/quay/", live=False, java_script_enabled=False)
    plain.page.locator("#reason").fill("no scripts")
    plain.page.locator("#switch-button").click()
    plain.sees("#said", "quay is disabled.")
    plain.page.locator("#body").fill("Are you there?")
    plain.page.get_by_role("button", name="Ask quay").click()
    plain.sees("#said", "no model was called")
    plain.sees("#record", "Are you there?")
    plain.page.locator("#switch-button").click()
    plain.sees("#said", "quay is enabled.")


@pytest.mark.parametrize(
    "path", ["/nodes/", "/nodes/access-node/", "/agents/access-hired/", "/agents/access-hired/drain/"]
)
def test_the_pages_fit_a_phone(look, fleet, path):
    assert no_sideways_scroll(look(path, live=False, viewport=PHONE))
