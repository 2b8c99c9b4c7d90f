"""Every page of the site in a browser: nothing in the console, nothing asked of anybody else, readable and narrow."""

from __future__ import annotations

import re

import pytest

from tests.browser.conftest import WIDE

pytestmark = pytest.mark.browser
PHONE = {"width": 390, "height": 844}


@pytest.fixture(scope="module")
def seeded(hub):
    """An agent with a long task, so that the pages have something to show."""
    hub.register("site-agent", liveness_mode="async", task="a rather long task " * 20)
    return hub


def no_sideways_scroll(look) -> bool:
    return look.page.locator("html").evaluate("root => root.scrollWidth <= root.clientWidth")


@pytest.mark.parametrize("size", [PHONE, WIDE], ids=["phone", "wide"])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_pages_fit_both_widths_in_both_themes_without_a_complaint(look, seeded, size, theme):
    shown = look("/", viewport=size, color_scheme=theme)
    assert no_sideways_scroll(shown)
    shown.go("/agents/site-agent/")
    assert no_sideways_scroll(shown)
    for path, status, words in (("/no/such/page/", 404, "404"), ("/sign-in/link/wrong/", 410, "sign-in link")):
        shown.go(path, live=False, refused=status)
        assert shown.answer.status == status
        shown.sees("main", words)
        assert no_sideways_scroll(shown)


def test_every_admin_page_and_the_api_page_load_without_a_complaint(look, seeded):
    """Each list of the admin, each first entry and each form for a new one, under the one strict policy."""
    admin = look("/admin/", live=False)
    seen, waiting = set(), ["/admin/", "/api/docs"]
    while waiting:
        path = waiting.pop()
        seen.add(path)
        admin.go(path, live=False)
        assert admin.answer.status == 200, path
        assert "default-src 'self'" in admin.answer.headers["content-security-policy"], path
        found = admin.page.locator("#content a[href^='/admin/']").evaluate_all("all => all.map(a => a.pathname)")
        kinds = {_kind(each) for each in seen | set(waiting)}
        waiting += [each for each in dict.fromkeys(found) if _kind(each) not in kinds and not kinds.add(_kind(each))]
    assert len(seen) > 4, seen
    admin.go("/api/docs", live=False)
    admin.sees("#swagger-ui", "/api/heartbeat")


def _kind(path: str) -> str:
    """Pages that differ in their number only are one kind of page."""
    return re.sub(r"\d+", "N", path)


def test_without_javascript_the_pages_are_whole_and_their_forms_work(look, seeded):
    plain = look("/?q=site-", live=False, java_script_enabled=False)
    plain.row_says("site-agent", "live")
    plain.sees("#connection", "page as of")
    plain.page.locator("#q").fill("site-ag")
    plain.page.locator("#q").press("Enter")
    plain.page.wait_for_url("**q=site-ag**")
    plain.rows(1)
    plain.page.locator("a.id", has_text="site-agent").click()
    plain.sees("h1", "site-agent")
    plain.page.locator("button", has_text="Sign out").click()
    plain.page.wait_for_url("**/sign-in/**")
    plain.page.locator("#id_username").fill("admin")
    plain.page.locator("#id_password").fill("wrong")
    plain.refused = 401
    plain.page.locator("button.main").click()
    plain.sees("main [role=alert]", "correct")
