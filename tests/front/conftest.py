"""A Chromium in front of a stage, for the tests of the live region."""

import pytest

from . import fakes
from .stage import Stage

ODD_IDS = ["9lives", "a.b", "x_y", "0", "a" * 64, "-".join("abc")]


@pytest.fixture(scope="module")
def chromium(browser_path):
    """A started Chromium.

    It lives for one file only: while it runs, its event loop occupies the main thread that other tests need.
    """
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def stage():
    """A stage with thirty rows, whose ids are the odd ones among the legal ones."""
    ids = [f"{ODD_IDS[n % 6]}{n}"[-64:] for n in range(30)]
    built = Stage([fakes.row(pk, id=name) for pk, name in enumerate(ids, 1)])
    yield built
    built.stop()


@pytest.fixture
def page(chromium, stage):
    """The roster, open and live; what the browser complains about is kept in `page.complaints`."""
    opened = chromium.new_page()
    opened.complaints = []
    opened.on("console", lambda said: said.type in ("error", "warning") and opened.complaints.append(said.text))
    opened.on("pageerror", lambda error: opened.complaints.append(str(error)))
    opened.goto(stage.url)
    yield opened
    opened.close()


@pytest.fixture
def expect():
    from playwright.sync_api import expect

    return expect


@pytest.fixture
def live(page, expect):
    """The page, once it is live."""
    expect(page.locator("#connection")).to_have_text("live")
    return page


@pytest.fixture
def turned(page, expect):
    """The page, live, on a clock that the test may turn."""
    page.clock.install(time=fakes.NOW)  # the day of what the server says, whatever day it is
    page.reload()
    expect(page.locator("#connection")).to_have_text("live")
    return page
