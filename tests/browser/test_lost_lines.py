"""Pages that lose their line: by a sign-out elsewhere, by a network that lets no websocket through."""

from __future__ import annotations

import re

import pytest

pytestmark = pytest.mark.browser


def test_a_page_without_websockets_asks_by_itself_and_one_that_was_signed_out_elsewhere_says_so_P45(look, hub):
    """Two pages that each need some seconds of patience, side by side: P45's first half, and F064 in a browser.

    One network lets no websocket through; the page says so and still brings a newcomer. One session is ended in
    another tab; the page that was left open says that it is signed out and what to do.
    """
    from playwright.sync_api import expect

    link = hub.command("sign-in", "admin")
    left_open = look("/?q=lines-", live=False, storage_state=None)
    left_open.page.goto(link)
    left_open.go("/?q=lines-")
    cut_off = look("/?q=lines-", live=False)
    cut_off.page.route_web_socket(re.compile("/live/"), lambda socket: socket.close(code=1011, reason="no way through"))
    cut_off.go("/?q=lines-", live=False)
    cut_off.sees("#connection", "not live since")
    other_tab = left_open.page.context.new_page()
    other_tab.goto(hub.url)
    other_tab.locator("button", has_text="Sign out").click()
    hub.register("lines-newcomer")
    cut_off.row_says("lines-newcomer", "idle", 16)
    cut_off.sees("#connection", "again every 15 s")
    shown = "rows => rows.map(row => [row.id, row.querySelector('.c-agent').innerText])"
    same = [each.page.locator("#rows > tr").evaluate_all(shown) for each in (cut_off, look("/?q=lines-"))]
    assert len(same[0]) == 1 and same[0] == same[1]
    left_open.sees("#connection", "signed out", 30)
    expect(left_open.page.locator("#connection a")).to_have_attribute("href", re.compile(r"^/sign-in/\?next="))
    other_tab.close()
