"""The timelines of an agent's page, read by keyboard and by pointer, while the page goes on changing."""

from __future__ import annotations

import pytest

from tests.browser.access import accessible

pytestmark = pytest.mark.browser


def test_a_timeline_is_walked_by_arrow_keys_and_keeps_its_place_when_it_grows(look, hub):
    from playwright.sync_api import expect

    own = hub.client(hub.register("drawn", liveness_mode="async"))
    for status in ("working: the first", "error"):
        own.post("/api/heartbeat", json={"status": status}).raise_for_status()
    opened = look("/agents/drawn/")
    page = opened.page
    lane, reading = page.get_by_role("slider", name="doing in the last 24 hours"), page.locator(".timeline .reading")
    lane.focus()
    for key, words in (("ArrowLeft", "says working: the first"), ("Home", "says idle"), ("End", "says error")):
        lane.press(key)
        expect(reading).to_contain_text(words)
        expect(lane).to_have_attribute("aria-valuetext", reading.inner_text())
    lane.press("ArrowLeft")
    own.post("/api/heartbeat", json={"status": "working: the second"}).raise_for_status()
    expect(lane.locator("g")).to_have_count(4)
    expect(reading).to_contain_text("says working: the first")
    expect(lane).to_be_focused()
    lane.press("ArrowRight")
    expect(reading).to_contain_text("says error")
    page.locator("#lane-presence g").last.hover()
    expect(reading).to_contain_text("live")
    page.get_by_text("as a table").click()
    expect(page.locator(".timeline table").first).to_be_visible()
    accessible(opened)
