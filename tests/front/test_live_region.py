import json
import re

import pytest

from tests.services import wait_until

from . import fakes
from .stage import part

pytestmark = pytest.mark.browser


def test_rows_come_change_and_go_by_push_without_a_complaint(live, stage, expect):
    rows = live.locator("#rows > tr")
    stage.push(part("#agent-30", "afterend", fakes.row(31, id="31st"), fakes.row(32, id="32nd")))
    expect(rows).to_have_count(32)
    expect(rows.nth(31)).to_contain_text("32nd")
    stage.push(part("#agent-31", "outerMorph", fakes.row(31, id="31st", waiting=4)))
    expect(live.locator("#agent-31 .c-mail")).to_contain_text("4")
    stage.push(part("#agent-31", "delete"), part("#agent-32", "delete"))
    expect(rows).to_have_count(30)
    stage.push(part("#rows", "afterbegin", fakes.row(40, id="0first")))
    expect(rows.first).to_contain_text("0first")
    assert live.complaints == []


def test_a_part_may_name_a_row_that_an_earlier_part_of_its_message_brings(live, stage, expect):
    stage.push(
        part("#agent-3", "afterend", fakes.row(51, id="new-1")),
        part("#agent-51", "afterend", fakes.row(52, id="new-2")),
        part("#agent-51", "outerHTML", fakes.row(53, id="new-3")),
        part("#agent-53", "outerMorph", fakes.row(53, id="new-3", waiting=8)),
        part("#agent-404", "outerMorph", fakes.row(404)),
    )
    expect(live.locator("#rows > tr")).to_have_count(32)
    expect(live.locator("#agent-3 + tr")).to_have_attribute("id", "agent-53")
    expect(live.locator("#agent-53 + tr")).to_have_attribute("id", "agent-52")
    expect(live.locator("#agent-53 .c-mail")).to_contain_text("8")
    assert live.complaints == []


def test_a_part_for_a_row_that_is_not_here_or_for_nothing_stops_none_of_the_others_F099(live, stage, expect):
    stage.push(
        part("#agent-1", "outerMorph", fakes.row(1, id=stage.rows[0].id, waiting=7)),
        part("#agent-404", "outerMorph", fakes.row(404)),
        part("", "outerMorph", fakes.row(405)),
        part("#agent-4", "outerMorph", fakes.row(4, id=stage.rows[3].id, waiting=7)),
        part("#agent-5", "afterend", fakes.row(60, id="sixtieth", waiting=7)),
    )
    for dom_id in ("agent-1", "agent-4", "agent-60"):
        expect(live.locator(f"#{dom_id} .c-mail")).to_contain_text("7")
    expect(live.locator("#agent-5 + tr")).to_have_id("agent-60")
    expect(live.locator("#rows > tr")).to_have_count(31)
    assert live.complaints == []


def test_a_page_has_one_connection_whatever_is_swapped_around_it_F097(live, stage, expect):
    """Fifty times the whole content is morphed, with the element that holds the connection, and gone through anew.

    Then twenty pages follow one another. No link is boosted: each page ends the connection of the one before it.
    """
    whole = live.locator("main").evaluate("main => main.innerHTML")
    for n in range(50):
        message = f'<hx-partial hx-target="#main" hx-swap="innerMorph">{whole}</hx-partial>'
        stage.push(raw=f"{message}<!-- {n} -->")
        live.evaluate("htmx.process(document.body)")
    rev = stage.push()
    expect(live.locator("#cursor")).to_have_attribute("data-rev", str(rev))
    assert len(stage.addresses) == 1 and len(stage.sockets) == 1
    for n in range(2, 22):
        live.locator("nav a").first.click()
        wait_until(lambda opened=n: len(stage.addresses) == opened or live.wait_for_timeout(10))
    expect(live.locator("#connection")).to_have_text("live")
    wait_until(lambda: len(stage.sockets) == 1)
    assert len(stage.addresses) == 21
    assert live.complaints == []


def test_every_odd_id_takes_a_push(live, stage, expect):
    stage.push(*(part(f"#{row.dom_id}", "outerMorph", fakes.row(row.pk, id=row.id, waiting=9)) for row in stage.rows))
    expect(live.locator("#rows .c-mail", has_text="9")).to_have_count(30)
    assert live.complaints == []


def test_an_empty_message_changes_nothing_but_the_cursor(live, stage, expect):
    def skeleton():
        tree = live.locator("main").evaluate("main => main.innerHTML")
        return re.sub(r'data-(rev|now)="[^"]*"|>[^<]*ago<', "", tree)

    before = skeleton()
    stage.push(raw="")
    rev = stage.push()
    expect(live.locator("#cursor")).to_have_attribute("data-rev", str(rev))
    assert skeleton() == before


def test_typed_text_focus_and_opened_evidence_survive_a_push(live, stage, expect):
    live.locator("#agent-3 .c-presence summary").click()
    live.keyboard.press("/")
    live.keyboard.type("hello wor")
    stage.push(part("#agent-3", "outerMorph", fakes.row(3, id="x_y2", waiting=2)))
    expect(live.locator("#agent-3 .c-mail")).to_contain_text("2")
    rev = stage.push(part("#rows", "innerMorph", *reversed(stage.rows)))
    expect(live.locator("#cursor")).to_have_attribute("data-rev", str(rev))
    expect(live.locator("#rows > tr").first).to_have_attribute("id", "agent-30")
    live.keyboard.type("ld")
    expect(live.locator("#q")).to_have_value("hello world")
    expect(live.locator("#q")).to_be_focused()
    expect(live.locator("#agent-3 .c-presence .pop")).to_be_visible()


def test_only_the_cells_that_changed_are_marked(live, stage, expect):
    row = fakes.row(3, id=stage.rows[2].id, waiting=2, last_seen=fakes.NOW)
    stage.push(part("#agent-3", "outerMorph", row), part("#agent-4", "outerMorph", stage.rows[3]))
    expect(live.locator(".changed")).to_have_count(1)
    expect(live.locator("#agent-3 .c-mail")).to_have_class(re.compile("changed"))
    expect(live.locator(".changed")).to_have_count(0)


def test_a_frame_of_bare_times_moves_the_ages_of_its_rows_alone(live, stage, expect):
    stage.push(raw=json.dumps({"seen": {"agent-5": "2026-11-30T12:00:00Z", "agent-999": "2026-11-30T12:00:00Z"}}))
    moved = live.locator("#rows time[datetime='2026-11-30T12:00:00Z']")
    expect(moved).to_have_count(2)
    expect(live.locator("#agent-5 .c-seen time[data-seen]")).to_have_attribute("title", "30 Nov 2026, 12:00:00 UTC")
    assert live.complaints == []


def test_times_are_told_in_the_readers_zone_the_exact_ones_too(chromium, stage, expect):
    context = chromium.new_context(timezone_id="Asia/Kolkata")
    page = context.new_page()
    page.goto(stage.url)
    page.locator("#agent-5 .c-presence summary").click()
    since = page.locator("#agent-5 .c-presence .pop time[data-when]").first
    expect(since).to_have_text(re.compile(r"^(30 Nov( 2026)? )?17:50$"))
    expect(since).to_have_attribute("title", "30 Nov 2026, 17:50:00 GMT+5:30")
    context.close()


def test_notices_and_the_summary_are_pushed_and_stay_text(live, stage, expect):
    need = fakes.Thing(key="says-agent-3", row=fakes.row(3), text="<i>blocked</i>", since=fakes.back(minutes=4))
    late = fakes.Thing(level="alarm", text="<b>late</b>", since=None, key="sweep")
    stage.push(summary=fakes.summary(needs_you=[need]), notices=[late])
    expect(live.locator("#notices")).to_contain_text("<b>late</b>")
    expect(live.locator("#summary")).to_contain_text("<i>blocked</i>")


def test_without_scripts_the_page_is_whole_and_claims_nothing(chromium, stage, expect):
    plain = chromium.new_context(java_script_enabled=False).new_page()
    plain.goto(stage.url)
    expect(plain.locator("#rows > tr")).to_have_count(30)
    expect(plain.locator("#connection")).to_have_text("page as of 14:20 UTC · reload")
    expect(plain.locator("#theme")).to_be_hidden()
    plain.context.close()


def test_the_theme_can_be_set_and_is_kept(page, expect):
    root = page.locator("html")
    for theme in ("light", "dark"):
        page.locator("#theme").click()
        expect(root).to_have_attribute("data-theme", theme)
    page.reload()
    expect(root).to_have_attribute("data-theme", "dark")
    assert page.locator("body").evaluate("body => getComputedStyle(body).backgroundColor") == "rgb(18, 22, 25)"


@pytest.mark.parametrize("width", [390, 800, 1400])
def test_no_page_width_scrolls_sideways_whatever_evidence_is_opened(page, stage, expect, width):
    doing = fakes.activity("working", as_of=fakes.NOW)
    stage.rows[4] = fakes.row(5, home_node="harbor", waiting=3, activity=doing, task="a long task " * 40)
    page.set_viewport_size({"width": width, "height": 844})
    page.reload()
    values = page.locator("#agent-5 summary:visible")
    assert values.count() >= 4
    for value in values.all():
        value.click()
        expect(page.locator(".pop:visible")).to_have_count(1)
        assert page.locator("html").evaluate("root => root.scrollWidth <= root.clientWidth"), value.inner_text()


def test_the_first_agent_takes_the_place_of_the_advice_and_a_person_does_not(page, stage, expect):
    stage.rows = [fakes.row(1, id="admin", modality="human")]
    page.goto(stage.url)
    expect(page.locator("#connection")).to_have_text("live")
    expect(page.locator("#command")).to_be_visible()
    stage.push(part("#agent-1", "afterend", fakes.row(2)))
    expect(page.locator("#command")).to_be_hidden()
    stage.push(part("#rows", "innerMorph"))
    expect(page.locator("#command")).to_be_visible()
    expect(page.locator("table.roster")).to_be_hidden()
