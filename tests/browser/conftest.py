"""A real browser, signed in at a whole hub: every test ends by asking what the browser had to complain about."""

from __future__ import annotations

from urllib.parse import urlsplit

import pytest

from tests.browser.looking import Look
from tests.browser.pages import people

WIDE = {"width": 1280, "height": 800}


@pytest.fixture(scope="module")
def chromium(browser_path):
    """A started Chromium, for one file: while it runs its event loop occupies the main thread that others need."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def signed_in(chromium, hub) -> dict:
    """The browser's storage after the one-time link was opened."""
    context = chromium.new_context()
    page = context.new_page()
    page.goto(hub.command("sign-in", "admin"))
    assert urlsplit(page.url).path == "/"
    state = context.storage_state()
    context.close()
    return state


@pytest.fixture(scope="session")
def fleet(hub):
    """The hub with somebody to show on each of ``PAGES``."""
    people(hub)
    return hub


@pytest.fixture
def look(chromium, hub, signed_in):
    """Opens pages as the admin. At the end: 0 console errors, 0 policy violations, 0 requests to anybody else."""
    looks = []

    def opened(path: str, live: bool = True, **options) -> Look:
        context = chromium.new_context(**{"storage_state": signed_in, "viewport": WIDE, **options})
        looks.append(Look(context, hub.url))
        return looks[-1].go(path, live)

    yield opened
    complaints = [complaint for each in looks for complaint in each.complaints]
    for each in looks:
        each.page.context.close()
    assert complaints == []
