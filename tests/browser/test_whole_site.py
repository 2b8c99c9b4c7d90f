"""Every page of the site in a browser: nothing in the console, nothing asked of anybody else, readable and narrow."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import pytest

from roster import showing
from tests.browser.conftest import WIDE
from tests.browser.pages import PAGES

pytestmark = pytest.mark.browser
PHONE = {"width": 390, "height": 844}
SHEET = Path(__file__).parents[2] / "static" / "css" / "agora.css"
# What a page says, apart from what its scripts are for: ages, times in the reader's zone, the state of the line; and from
# what goes on by itself: how long something has lasted.
SAID = r"""() => { const copy = document.querySelector("main").cloneNode(true);
  for (const moving of copy.querySelectorAll("time, [hidden], #summary, #connection, #news")) moving.remove();
  return copy.textContent.replace(/\s+/g, " ").replace(/\d+ (d|h|min|s)/g, "") }"""


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
    for path in ("/events/", "/anomalies/"):
        shown.go(path, live=False)
        assert no_sideways_scroll(shown)
    for path, status, words in (("/no/such/page/", 404, "404"), ("/sign-in/link/wrong/", 410, "sign-in link")):
        shown.go(path, live=False, refused=status)
        assert shown.answer.status == status
        shown.sees("main", words)
        assert no_sideways_scroll(shown)


# Three that need somebody, of which the first has the longest name; answers with those whose words cannot be read.
CROWD = """() => { const list = document.querySelector(".needs .first"), one = list.querySelector("li");
  for (const at of [2, 1]) list.prepend(one.cloneNode(true));
  list.querySelector(".id").textContent = "a-name-of-forty-letters-that-goes-on-and";
  for (const what of list.querySelectorAll(".what")) what.textContent = "silent, though it should be on · 4 min ago";
  const shown = [...list.children].filter(li => li.offsetWidth);
  return shown.filter(li => { const name = li.querySelector(".id").getBoundingClientRect();
    const what = li.querySelector(".what");
    return name.width < 24 || name.right > what.getBoundingClientRect().left || what.offsetWidth < 60 })
    .map(li => li.textContent).concat(shown.length ? [] : ["nobody is shown"]) }"""


@pytest.mark.parametrize("size", [PHONE, WIDE], ids=["phone", "wide"])
def test_a_name_that_needs_somebody_never_covers_why(look, fleet, size):
    shown = look("/", viewport=size)
    assert shown.page.evaluate(CROWD) == []
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
    plain = look("/sign-in/", live=False, java_script_enabled=False, storage_state=None)  # it signs out in the end
    plain.page.goto(seeded.command("sign-in", "admin"))
    plain.go("/?q=site-", live=False)
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


@pytest.fixture(scope="module")
def full(fleet):
    """A roster with more rows than one page has, each with a long task."""
    with fleet.client() as client:
        for n in range(showing.PAGE + 1):
            body = {
                "status": f"working: step {n}",
                "task": f"{n} of a rather long task " * 12,
                "liveness_mode": "async",
            }
            client.put(f"/api/agents/full-{n:02}", json=body).raise_for_status()
    return fleet


WEIGHED = {name: where for name, where in PAGES.items() if not where[0].startswith("/admin/")}
WEIGHED |= {"a full page": ("/?q=full-", True)}
WEIGHED |= {name: PAGES[name] for name in ("the admin's list", "the admin's form")}


@pytest.mark.parametrize("name", WEIGHED)
def test_every_page_weighs_less_than_100_kb_with_everything_it_loads(look, full, name):
    """For a browser with an empty cache, each body gzipped, as a proxy in front of the hub sends it."""
    path, live = WEIGHED[name]
    answers = [answer for answer in look(path, live).answers if answer.status // 100 != 3]  # a way on has no body
    weights = {answer.url: len(gzip.compress(answer.body())) for answer in answers}
    assert any("css" in address for address in weights)
    assert sum(weights.values()) < 100_000, weights


def test_the_one_sheet_is_small():
    assert SHEET.stat().st_size < 30_000


@pytest.mark.parametrize("path", ["/?q=site-", "/agents/site-agent/", "/guard/"])
def test_a_page_is_painted_whole_before_its_scripts_have_come(look, seeded, path):
    """All but the few lines that choose the theme are held back, and add nothing to what the page says."""
    slow, held = look("/sign-in/", live=False), []
    slow.page.route(re.compile(r"/static/(vendor|js/(?!theme)).*\.js"), lambda each: held.append(each))
    slow.page.goto(slow.url + path, wait_until="commit")
    slow.page.wait_for_function("() => performance.getEntriesByName('first-contentful-paint').length")
    slow.page.wait_for_function("() => document.readyState !== 'loading'")
    painted = slow.page.evaluate(SAID)
    assert ("site-agent" if "site-" in path else "Nothing is held") in painted and held
    for each in held:
        each.continue_()
    slow.page.wait_for_load_state()
    slow.page.unroute_all()
    assert slow.page.evaluate(SAID) == painted
