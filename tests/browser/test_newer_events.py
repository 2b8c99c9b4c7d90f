"""A list that somebody reads does not move: the line above says that there is more, and what it does not know."""

from __future__ import annotations

import re

import pytest

pytestmark = pytest.mark.browser
EVERY = "00:16"  # a little more than the page waits between two questions


@pytest.fixture(scope="module")
def echo(hub):
    """An agent, by a client that beats for it."""
    return hub.client(hub.register("newer-echo", liveness_mode="async"))


@pytest.fixture
def listed(look, echo):
    """The events of that agent, on a page whose clock the test moves on."""
    shown = look("/guard/", live=False)
    shown.page.clock.install()
    return shown.go("/events/?agent=newer-echo", live=False)


def test_new_events_are_announced_and_no_row_moves_until_the_reader_asks(listed, echo):
    listed.sees("#newer", "page as of")
    rows = listed.page.locator("#rows").inner_html()
    listed.page.clock.fast_forward(EVERY)
    listed.sees("#newer", re.compile("nothing newer · asked at .*, again every 15 s"))
    echo.post("/api/heartbeat", json={"status": "working: on the list"}).raise_for_status()
    listed.page.clock.fast_forward(EVERY)
    listed.sees("#newer", "1 newer event: show it")
    assert listed.page.locator("#rows").inner_html() == rows
    listed.page.locator("#newer a").click()
    listed.sees("#rows > tr", "says working")


def test_a_line_without_an_answer_says_since_when_and_goes_on_asking(listed):
    listed.expected = ("Failed to load resource",)
    listed.page.route("**/events/newer/**", lambda route: route.abort())
    listed.page.clock.fast_forward(EVERY)
    listed.sees("#newer", "no answer since")
    listed.page.unroute("**/events/newer/**")
    listed.page.clock.fast_forward(EVERY)
    listed.sees("#newer", "nothing newer")


def test_a_sign_in_that_ended_is_said_and_its_page_is_never_put_into_this_one_F050(listed):
    listed.page.context.clear_cookies()
    listed.page.clock.fast_forward(EVERY)
    listed.sees("#newer", "signed out · sign in")
    assert listed.page.locator("#newer a").get_attribute("href") == "/sign-in/?next=%2Fevents%2F%3Fagent%3Dnewer-echo"
    assert listed.page.locator("input[type=password]").count() == 0


def test_without_scripts_the_list_is_filtered_paged_and_of_a_moment(look, echo):
    plain = look("/events/", live=False, java_script_enabled=False)
    plain.sees("#newer", "page as of")
    plain.page.locator("#q").fill("newer-echo")
    plain.page.locator("#q").press("Enter")
    plain.page.wait_for_url("**agent=newer-echo**")
    plain.sees("#rows > tr", "newer-echo")
    plain.page.locator("#rows .h-id a").first.click()
    plain.page.wait_for_url("**at=**")
    plain.sees("#rows > tr:target", "newer-echo")
