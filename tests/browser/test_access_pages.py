"""Every page in every state that changes how it looks, before axe-core: WCAG 2.2 AA, both themes, desk and phone."""

from __future__ import annotations

import re

import pytest
from django.template.loader import render_to_string

from agora_web.middleware import POLICY
from tests.browser.access import accessible
from tests.browser.pages import PAGES
from tests.front import fakes

pytestmark = pytest.mark.browser
TYPED = [("to", "echo"), ("body", "The disk is full.")]
HELD = {
    "held": [fakes.Thing(evidence={"would_flip": 9, "live": 12}, subject="the dormancy sweep", opened_at=fakes.NOW)],
    "rows": [fakes.row(1, presence=fakes.presence("dormant", as_of=None), last_seen=None)],
    "may": True,
}


@pytest.mark.parametrize("name", PAGES)
def test_a_page_has_no_violation(look, fleet, name):
    path, live = PAGES[name]
    accessible(look(path, live))


def test_a_profile_with_headings_of_its_own_keeps_the_pages_order(look, fleet):
    page = look("/agents/access-profiled/", live=False).page
    levels = page.locator("h1, h2, h3, h4, h5, h6").evaluate_all("all => all.map(each => Number(each.tagName[1]))")
    assert levels.count(1) == 1 and levels[0] == 1 and {3, 4} <= set(levels)
    assert all(after <= before + 1 for before, after in zip(levels, levels[1:], strict=False))


# name: the address and its status
REFUSED = {
    "no such page": ("/no/such/page/", 404),
    "no such agent": ("/agents/access-lime/", 404),
    "an id that nobody can have": ("/agents/No such agent/", 404),
    "a link that was used": ("/sign-in/link/wrong/", 410),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_refusal_has_no_violation(look, fleet, name):
    path, status = REFUSED[name]
    refused = look("/guard/", live=False).go(path, live=False, refused=status)
    assert refused.answer.status == status
    accessible(refused)


# name: the template and its context, for states that a shared hub must not be brought into
DRAWN = {
    "the roster without anybody": ("roster/roster.html", fakes.roster(live_url="")),
    "the roster under an alarm": (
        "roster/roster.html",
        fakes.roster(
            [fakes.row()], live_url="", notices=[fakes.Thing(level="alarm", text="The sweep is late.", since=fakes.NOW)]
        ),
    ),
    "held edges": ("roster/held.html", fakes.site(**HELD)),
    "events of every kind": ("roster/events.html", fakes.events()),
    "anomalies of every kind": ("roster/anomalies.html", fakes.anomalies()),
    "a throttled sign-in": (
        "registration/sign_in.html",
        {"wait": 120, "why": "Your sign-in has ended.", "next": "/agents/echo/"},
    ),
    "a mistake of the hub": ("500.html", {"request_id": "f00d"}),
    "a database that is away": ("503.html", {"marked": fakes.NOW, "now": fakes.NOW, "request_id": "f00d"}),
    "a form that has expired": ("403_csrf.html", fakes.site(typed=TYPED)),
    "a text that was sent after the sign-in had ended": ("401.html", {"typed": TYPED, "sign_in": "/sign-in/"}),
}


@pytest.mark.parametrize("name", DRAWN)
def test_a_rare_state_has_no_violation(look, hub, name):
    page = drawn(look, *DRAWN[name])
    accessible(page)


def drawn(look, template: str, context: dict):
    """A page with what ``template`` makes of ``context``, under the hub's own styles, scripts and policy."""
    page = look("/guard/", live=False)
    answer = {"body": render_to_string(template, context), "content_type": "text/html; charset=utf-8"}
    page.page.route("**/drawn/", lambda route: route.fulfill(**answer, headers={"Content-Security-Policy": POLICY}))
    return page.go("/drawn/", live=False)


def test_an_open_evidence_has_no_violation(look, fleet):
    roster = look("/?q=access-")
    for value in ("presence", "doing"):
        roster.row("access-error").locator(f".c-{value} summary").click()
        roster.row("access-error").locator(f".c-{value} .pop").wait_for()
        accessible(roster)


def test_the_list_of_keys_and_a_toast_have_no_violation(look, fleet):
    roster = look("/?q=access-")
    fleet.register("access-newly", status="error", task="no build machine")
    roster.sees("#news .toast", "access-newly")
    accessible(roster)
    roster.page.keyboard.press("?")
    roster.page.locator("dialog[open]").wait_for()
    accessible(roster)


@pytest.mark.parametrize(("code", "words"), [(1011, "not live since"), (4401, "signed out")])
def test_a_page_that_lost_its_line_has_no_violation(look, fleet, code, words):
    roster = look("/guard/", live=False)
    roster.page.route_web_socket(re.compile("/live/"), lambda socket: socket.close(code=code, reason="a test"))
    roster.go("/?q=access-", live=False)
    roster.sees("#connection", words)
    accessible(roster)


def test_signing_in_has_no_violation_before_and_after_a_failure(look, hub):
    stranger = look("/sign-in/", live=False, storage_state=None)
    accessible(stranger)
    stranger.page.locator("#id_username").fill("access-nobody")
    stranger.page.locator("#id_password").fill("wrong")
    stranger.refused = 401
    stranger.page.locator("button.main").click()
    stranger.sees("main [role=alert]", "correct")
    accessible(stranger)


def test_a_page_of_a_higher_role_refuses_without_a_violation(look, fleet):
    viewer = look("/sign-in/", live=False, storage_state=None)
    viewer.page.goto(fleet.command("sign-in", "access-viewer"))
    viewer.go("/admin/", live=False, refused=403)
    assert viewer.answer.status == 403
    accessible(viewer)


def test_axe_sees_what_it_is_here_for(look, hub):
    """Under the strict policy, on a page that was made worse, each kind of rule finds something."""
    page = look("/sign-in/", live=False, storage_state=None)
    page.page.locator("h1").evaluate("h1 => { h1.style.color = '#eee'; h1.parentNode.append(new Image()) }")
    with pytest.raises(AssertionError, match="(?s)color-contrast.*image-alt|image-alt.*color-contrast"):
        accessible(page)
