"""Who newly needs a person is said once, beside the list; nothing else ever is."""

import re

import pytest

from . import fakes
from .stage import part

pytestmark = pytest.mark.browser
SECOND = 1000


@pytest.fixture
def live(turned):
    return turned


def needing(*numbers, text="blocked: permission bash", **of):
    rows = [fakes.row(n, id=f"needy-{n}", url=f"/agents/needy-{n}/", **of) for n in numbers]
    since = fakes.back(minutes=4)
    return fakes.summary(needs_you=[fakes.Thing(row=row, text=text, since=since, key=row.id) for row in rows])


def test_whoever_newly_needs_somebody_is_said_once_with_a_link_and_its_reason_as_text(live, stage, expect):
    toasts = live.locator("#news .toast")
    stage.push(summary=needing(1, text="<b>blocked</b>: permission"))
    expect(toasts).to_have_count(1)
    expect(toasts).to_contain_text("needy-1 <b>blocked</b>: permission")
    assert "ago" not in toasts.inner_text()
    expect(toasts.locator("a")).to_have_attribute("href", re.compile("/agents/needy-1/$"))
    rev = stage.push(summary=needing(1, text="still blocked"))
    expect(live.locator("#cursor")).to_have_attribute("data-rev", str(rev))
    expect(toasts).to_have_count(1)
    assert live.locator("#news").get_attribute("role") == "status"
    assert live.complaints == []


def test_only_an_urgent_need_is_said_in_red(live, stage, expect):
    toasts = live.locator("#news .toast")
    stage.push(summary=needing(1))
    expect(toasts).to_have_class("toast")
    stage.push(summary=needing(1, 2, attention="high"))
    expect(toasts.last).to_have_class("toast urgent")


def test_who_needed_somebody_before_the_page_was_opened_is_not_news(page, stage, expect):
    stage.over = {"glance": needing(1, 2)}
    page.goto(stage.url)
    expect(page.locator("#connection")).to_have_text("live")
    stage.push(summary=needing(1, 2, 3))
    expect(page.locator("#news .toast")).to_have_count(1)
    expect(page.locator("#news .toast")).to_contain_text("needy-3")


def test_changes_that_need_nobody_are_never_said(live, stage, expect):
    row = fakes.row(3, id=stage.rows[2].id, presence=fakes.presence("dormant"), waiting=7)
    rev = stage.push(part("#agent-3", "outerMorph", row), part("#agent-4", "delete"), summary=fakes.summary(total=7))
    expect(live.locator("#cursor")).to_have_attribute("data-rev", str(rev))
    expect(live.locator("#news > *")).to_have_count(0)


def test_at_most_three_are_said_and_the_rest_is_counted(live, stage, expect):
    stage.push(summary=needing(1, 2, 3, 4))
    expect(live.locator("#news [data-need]")).to_have_count(3)
    expect(live.locator("#news .more")).to_contain_text("and 1 more")
    stage.push(summary=needing(1, 2, 3, 4, 5))
    expect(live.locator("#news .more")).to_contain_text("and 2 more")
    expect(live.locator("#news > *")).to_have_count(4)


def test_a_word_leaves_by_itself_but_not_while_somebody_reads_it(live, stage, expect):
    toasts = live.locator("#news .toast")
    stage.push(summary=needing(1, 2))
    expect(toasts).to_have_count(2)
    toasts.first.hover()
    expect(live.locator("#news .toast:hover")).to_have_count(1)  # a busy browser takes a moment to notice the pointer
    live.clock.run_for(13 * SECOND)
    expect(toasts).to_have_count(1)
    expect(toasts).to_contain_text("needy-1")
    toasts.locator("a").focus()
    live.locator("#q").hover()
    live.clock.run_for(13 * SECOND)
    expect(toasts).to_have_count(1)
    live.locator("#q").focus()
    live.clock.run_for(2 * SECOND)
    expect(toasts).to_have_count(0)


def test_a_word_leaves_when_it_is_dismissed_or_no_longer_true(live, stage, expect):
    toasts = live.locator("#news .toast")
    stage.push(summary=needing(1, 2, 3))
    live.locator("#news").get_by_role("button", name="Dismiss needy-1").click()
    expect(toasts).to_have_count(2)
    expect(live.locator("#news").get_by_role("button", name="Dismiss needy-2")).to_be_focused()
    stage.push(summary=needing(1, 3))
    expect(toasts).to_have_count(1)
    stage.push(summary=needing(1, 2, 3))
    expect(toasts).to_have_count(2)  # who needs somebody again is news again


def test_what_a_plain_request_brings_is_said_too_P45(live, stage, expect):
    stage.blocked = True
    stage.over = {"glance": needing(6)}
    stage.close_sockets(1001)
    expect(live.locator("#connection")).to_contain_text("not live since")
    live.clock.run_for(11 * SECOND)
    expect(live.locator("#news .toast")).to_contain_text("needy-6")
