"""What an agent says stays text in a toast too (P67)."""

from __future__ import annotations

import pytest

from tests.browser.payloads import ACTIVE, PAYLOADS

from . import fakes

pytestmark = pytest.mark.browser
AT_ONCE = 3  # toasts


def test_sixty_payloads_stay_text_in_a_toast_P67(page, stage):
    from playwright.sync_api import expect

    expect(page.locator("#connection")).to_have_text("live")
    for first in range(0, len(PAYLOADS), AT_ONCE):
        stage.push(summary=fakes.summary(needs_you=[need(n) for n in range(first, first + AT_ONCE)]))
        for n in range(first, first + AT_ONCE):
            expect(page.locator("#news .toast", has_text=f"says {n} ")).to_contain_text(f"talker-{n}")
        assert page.locator("body").locator(ACTIVE).evaluate_all("all => all.map(each => each.outerHTML)") == []
        assert page.locator("#news .toast a, #news .toast button").count() == 2 * AT_ONCE
    assert page.evaluate("window.hits ?? 0") == 0
    assert page.complaints == []


def need(n: int):
    row = fakes.row(n + 100, id=f"talker-{n}", url=f"/agents/talker-{n}/", attention="high")
    return fakes.Thing(key=f"says-agent-{n}", row=row, text=f"says {n} {PAYLOADS[n]}", since=fakes.NOW)
