"""Ways to use the pages other than a mouse and good eyes: keyboard, large text, own colours, no motion, a reader."""

from __future__ import annotations

import re

import pytest

from tests.browser.access import DESK, PHONE

pytestmark = pytest.mark.browser
PLACES = {
    "the roster": "/?q=ways-",
    "an agent": "/agents/ways-one/",
    "events": "/events/?agent=ways-two",
    "anomalies": "/anomalies/",
    "no such page": "/no/such/page/",
    "no such agent": "/agents/ways-oen/",
    "held edges": "/guard/",
    "a used link": "/sign-in/link/wrong/",
}
ENDLESS = [
    f"/events/?kind={'k' * 80}&agent={'a' * 80}&by={'b' * 80}&from={'f' * 80}",
    f"/anomalies/?kind={'k' * 80}&subject={'s' * 80}",
    f"/agents/{'n' * 64}/",
    f"/inbox/write/?to={'t' * 80}",
]
DATE_PARTS = 4  # day, month, year and the button of the calendar
LIVE = {"the roster", "an agent"}
STATUS = {"no such page": 404, "no such agent": 404, "a used link": 410}
# A stop is whatever the browser itself takes for one; `reached` says which stop has the focus and whether one sees it.
STOPS = """() => { window.stops = [...document.querySelectorAll(
    "a[href], button, input, select, textarea, summary, [tabindex='0']")]
  .filter(each => each.type !== "hidden" && !each.disabled && each.checkVisibility({visibilityProperty: true}));
  return stops.map(each => each.outerHTML.slice(0, 90)) }"""
REACHED = """() => { const {outlineStyle, outlineWidth} = getComputedStyle(document.activeElement);
  const {top, bottom} = document.activeElement.getBoundingClientRect();
  return [stops.indexOf(document.activeElement),
          outlineStyle !== "none" && parseFloat(outlineWidth) >= 2 && bottom > 0 && top < innerHeight] }"""
SIDEWAYS = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"
# The spacing that a reader may ask for (1.4.12), set without a style element, which the policy would refuse.
SPACED = """() => { const sheet = new CSSStyleSheet();
  sheet.replaceSync(`* { line-height: 1.5 !important; letter-spacing: .12em !important; word-spacing: .16em !important }
    p { margin-bottom: 2em !important }`);
  document.adoptedStyleSheets = [sheet] }"""
CUT = """() => [...document.querySelectorAll("main *, header *")]
  .filter(each => !each.closest(".vh, thead, svg") && each.checkVisibility() && each.children.length === 0)
  .filter(each => getComputedStyle(each).textOverflow !== "ellipsis" && each.clientHeight > 0)
  .filter(each => getComputedStyle(each).overflowY !== "visible" && each.scrollHeight > each.clientHeight + 1)
  .map(each => each.outerHTML.slice(0, 90))"""

ANNOUNCED = """() => { window.announced = [];
  const heard = new MutationObserver(all => announced.push(...all.map(each => each.target.textContent)));
  for (const region of document.querySelectorAll("[aria-live], [role=status], [role=alert]"))
    heard.observe(region, {childList: true, characterData: true, subtree: true}) }"""


@pytest.fixture(scope="module")
def pair(hub):
    """Two agents; the first one's token beats for it."""
    hub.register("ways-two", liveness_mode="async", status="error", task="cannot reach the build machine " * 6)
    return hub.client(hub.register("ways-one", liveness_mode="async", status="working: release notes", session="s"))


@pytest.fixture(scope="module")
def longest_id(hub):
    hub.register("n" * 64)


def opened(look, place: str, **options):
    page = look("/guard/", live=False, **options)
    return page.go(PLACES[place], live=place in LIVE, refused=STATUS.get(place, 0))


@pytest.mark.parametrize("size", [DESK, PHONE], ids=["desk", "phone"])
@pytest.mark.parametrize("place", PLACES)
def test_tab_reaches_everything_in_order_with_a_focus_that_is_seen_and_leaves_again(look, pair, place, size):
    page = opened(look, place, viewport=size, color_scheme="dark").page
    page.locator("#theme").wait_for()
    stops = page.evaluate(STOPS)
    for n, stop in enumerate(stops):
        assert tab(page, n - 1) == [n, True], stop
    assert tab(page, len(stops) - 1)[0] in (-1, 0)


def tab(page, before: int) -> list:
    """Leaves the stop ``before``, a date by each of its parts. Which stop is reached then, and whether one sees it."""
    for _ in range(DATE_PARTS):
        page.keyboard.press("Tab")
        reached = page.evaluate(REACHED)
        if reached[0] != before:
            break
    return reached


def test_the_first_stop_skips_to_the_page_and_escape_gives_the_focus_back(look, pair):
    roster = look(PLACES["the roster"])
    roster.page.keyboard.press("Tab")
    roster.page.keyboard.press("Enter")
    assert roster.page.evaluate("document.activeElement.id") == "main"
    value = roster.row("ways-two").locator(".c-doing summary")
    value.focus()
    roster.page.keyboard.press("Enter")
    roster.row("ways-two").locator(".c-doing .pop").wait_for()
    roster.page.keyboard.press("Escape")
    roster.row("ways-two").locator(".c-doing .pop").wait_for(state="hidden")
    assert value.evaluate("each => each === document.activeElement")


@pytest.mark.parametrize("place", PLACES)
def test_the_pages_flow_at_four_times_the_size_and_with_a_readers_own_spacing(look, pair, place):
    """320 px are a desk's 1280 at 400 %: nothing scrolls sideways and nothing is cut off."""
    page = opened(look, place, viewport={"width": 320, "height": 256}).page
    assert page.evaluate(SIDEWAYS) <= 0
    page.evaluate(SPACED)
    assert page.evaluate(SIDEWAYS) <= 0
    assert page.evaluate(CUT) == []


@pytest.mark.parametrize("path", ENDLESS)
def test_a_word_without_an_end_makes_no_page_scroll_sideways(look, longest_id, path):
    page = look(path, live=False, viewport={"width": 320, "height": 844}).page
    for sheet in page.locator("details.sheet > summary").all():
        sheet.click()
    assert page.evaluate(SIDEWAYS) <= 0


def test_on_a_phone_the_first_who_needs_somebody_is_told_by_name(look, pair):
    first = look("/", viewport=PHONE).page.locator(".needs .first li").first
    assert first.bounding_box()["width"] > PHONE["width"] * 0.75


@pytest.mark.parametrize("motion", ["reduce", "no-preference"])
def test_a_change_moves_nothing_for_whoever_asked_for_less_motion(look, pair, motion):
    roster = look(PLACES["the roster"], reduced_motion=motion)
    moving = roster.page.evaluate_handle("""() => { const seen = {count: 0};
      const look = () => { seen.count += document.getAnimations().length; requestAnimationFrame(look) };
      look(); return seen }""")
    pair.post("/api/heartbeat", json={"status": f"working: {motion}"}).raise_for_status()
    roster.row_says("ways-one", f"working: {motion}")
    roster.page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    assert (moving.evaluate("seen => seen.count") > 0) == (motion == "no-preference")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_signs_are_seen_in_colours_that_the_system_forces(look, pair, theme):
    roster = look(PLACES["the roster"], forced_colors="active", color_scheme=theme)
    drawn = roster.page.locator("main .sign:visible").evaluate_all(
        "all => all.map(each => [each.checkVisibility(), each.clientWidth > 9, getComputedStyle(each).color])"
    )
    ink, ground = roster.page.evaluate(
        "(({color, backgroundColor}) => [color, backgroundColor])(getComputedStyle(document.body))"
    )
    assert len(drawn) > 6 and ink != ground
    assert {tuple(each) for each in drawn} == {(True, True, ink)}
    filled = roster.page.locator("#connection").evaluate("each => getComputedStyle(each, '::before').backgroundColor")
    assert filled == ink


@pytest.mark.parametrize("size", [DESK, PHONE], ids=["desk", "phone"])
@pytest.mark.parametrize("place", ["the roster", "an agent", "events"])
def test_a_table_stays_a_table_for_a_reader_however_it_is_laid_out(look, pair, place, size):
    """In the accessibility tree itself: a layout by other boxes must not take the table away, nor shift its columns."""
    page = opened(look, place, viewport=size).page
    tables = read_tables(page)
    assert len(tables) == page.locator("table:visible").count() > 0
    for columns, rows in tables:
        assert columns > 2 and rows
        assert set(rows) == {columns}


def read_tables(page) -> list[tuple[int, list[int]]]:
    """For each table that a screen reader is told of: how many column headers it has, and how many cells each row."""
    told = page.context.new_cdp_session(page).send("Accessibility.getFullAXTree")["nodes"]
    nodes = {node["nodeId"]: node for node in told}

    def below(node, *roles):
        for key in node.get("childIds", ()):
            child = nodes[key]
            if child["role"]["value"] in roles:
                yield child
            else:
                yield from below(child, *roles)

    tables = []
    for table in (node for node in told if node["role"]["value"] == "table" and not node["ignored"]):
        rows = list(below(table, "row"))
        headers = sum(len(list(below(row, "columnheader"))) for row in rows)
        cells = [len(list(below(row, "cell", "rowheader"))) for row in rows if not list(below(row, "columnheader"))]
        tables.append((headers, cells))
    return tables


def test_a_reader_hears_of_the_line_and_not_of_every_beat(look, pair):
    """What a screen reader announces by itself changes with the connection, and not with ages and rows."""
    roster, lines = look("/guard/", live=False), []
    roster.page.route_web_socket(re.compile("/live/"), lambda line: lines.append((line, line.connect_to_server())))
    roster.go(PLACES["the roster"])
    roster.page.evaluate(ANNOUNCED)
    for n in range(3):
        pair.post("/api/heartbeat", json={"status": f"working: beat {n}"}).raise_for_status()
        roster.row_says("ways-one", f"beat {n}")
    assert roster.page.evaluate("announced") == []
    lines[0][0].close(code=1011, reason="a test")
    roster.page.wait_for_function("() => announced.some(words => words.startsWith('not live since'))")
