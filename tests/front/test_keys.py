"""Single keys walk and search; none acts while somebody types, with a modifier, or once they are switched off."""

import pytest

from . import fakes
from .stage import part

pytestmark = pytest.mark.browser


def focused(live):
    return live.evaluate("document.activeElement.closest('tr')?.id ?? document.activeElement.id")


def test_j_and_k_walk_the_rows_into_view_and_enter_opens_one(live, stage, expect):
    live.set_viewport_size({"width": 1280, "height": 400})
    live.keyboard.press("j")
    assert focused(live) == "agent-1"
    for _ in range(29):
        live.keyboard.press("j")
    expect(live.locator("#agent-30 a.id")).to_be_focused()
    expect(live.locator("#agent-30")).to_be_in_viewport()
    live.keyboard.press("j")
    assert focused(live) == "agent-30"
    live.keyboard.press("k")
    assert focused(live) == "agent-29"
    assert live.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    live.keyboard.press("Enter")
    live.wait_for_url("**/agents/agent29/")


def test_a_push_between_two_keys_keeps_the_place(live, stage, expect):
    for _ in range(3):
        live.keyboard.press("j")
    stage.push(
        part("#agent-3", "outerMorph", fakes.row(3, id=stage.rows[2].id, waiting=5)),
        part("#agent-3", "afterend", fakes.row(61, id="between")),
        part("#agent-1", "delete"),
    )
    expect(live.locator("#agent-3 .c-mail")).to_contain_text("5")
    expect(live.locator("#agent-1")).to_have_count(0)
    expect(live.locator("#agent-3 a.id")).to_be_focused()
    live.keyboard.press("j")
    expect(live.locator("#agent-61 a.id")).to_be_focused()


def test_when_the_row_with_the_focus_leaves_the_next_one_has_it(live, stage, expect):
    for _ in range(3):
        live.keyboard.press("j")
    stage.push(part("#agent-3", "delete"))
    expect(live.locator("#agent-4 a.id")).to_be_focused()
    stage.push(part("#rows", "innerMorph", *stage.rows[:2]))
    expect(live.locator("#agent-2 a.id")).to_be_focused()
    live.locator("#q").focus()
    stage.push(part("#agent-2", "delete"))
    expect(live.locator("#agent-2")).to_have_count(0)
    expect(live.locator("#q")).to_be_focused()


def test_no_key_acts_while_somebody_types_or_with_a_modifier(live, expect):
    live.keyboard.press("/")
    expect(live.locator("#q")).to_be_focused()
    live.keyboard.type("jk?/")
    expect(live.locator("#q")).to_have_value("jk?/")
    live.locator("#q").blur()
    for keys in ("Control+j", "Alt+k", "Meta+j"):
        live.keyboard.press(keys)
    assert focused(live) == ""
    expect(live.locator("#keys")).to_be_hidden()


def test_the_list_of_keys_opens_closes_and_gives_the_focus_back(live, expect):
    live.keyboard.press("j")
    live.keyboard.press("?")
    dialog = live.get_by_role("dialog", name="Keys")
    expect(dialog).to_be_visible()
    live.keyboard.press("j")
    assert live.evaluate("document.querySelector('#keys').contains(document.activeElement)")
    live.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    assert focused(live) == "agent-1"
    live.get_by_role("button", name="Keys").click()
    expect(dialog).to_be_visible()
    dialog.get_by_role("button", name="Close").click()
    expect(dialog).to_be_hidden()
    expect(live.get_by_role("button", name="Keys")).to_be_focused()
    assert live.complaints == []


def test_single_keys_can_be_switched_off_for_good(live, expect):
    live.keyboard.press("?")
    live.locator("#keys-on").uncheck()
    live.keyboard.press("Escape")
    for reloaded in (False, True):
        if reloaded:
            live.reload()
        for key in "j?/":
            live.keyboard.press(key)
        assert focused(live) == "" and live.locator("#keys").is_hidden()
    live.get_by_role("button", name="Keys").click()
    live.locator("#keys-on").check()
    live.keyboard.press("Escape")
    live.locator("body").press("j")
    assert focused(live) == "agent-1"


def test_a_chosen_filter_shows_at_once(live, stage, expect):
    live.locator("select[name=presence]").select_option("live")
    live.wait_for_url("**/?q=&presence=live*")
