"""The websocket's life in a browser whose clock the test turns: lost, resumed, silent, slept through, ended."""

import re
from collections import Counter
from contextlib import suppress
from itertools import accumulate

import pytest

from tests.services import wait_until

from . import fakes

pytestmark = pytest.mark.browser
LOST = re.compile(r"^not live since \d\d:\d\d · retrying$")
SECOND = 1000
PAUSES = """pages => Array.from({ length: pages }, () => [0, 1, 2, 3, 4, 5].map(attempt => {
  const connection = { config: {}, attempt };
  const detail = { reason: "closed", code: 1006, connection };
  document.dispatchEvent(new CustomEvent("htmx:ws:close", { detail }));
  return connection.config.reconnectDelay / 1000;
}))"""


@pytest.fixture
def live(turned):
    return turned


def found_again(live, expect, within: int) -> None:
    """The page is live again ``within`` so many seconds. A socket opens in real time, so the page's clock goes on in steps
    that leave it some: in one stride the page would give up a line that was about to open."""
    for _ in range(within // 5):
        live.clock.run_for(5 * SECOND)
        with suppress(AssertionError):
            return expect(live.locator("#connection")).to_have_text("live", timeout=500)
    raise AssertionError("it is not live again")


@pytest.mark.parametrize("code", [1000, 1001, 1006, 1011, 1012, 4503])
def test_every_close_code_is_said_and_resumed_from_the_cursor_P41(live, stage, expect, code):
    """The first attempt comes after 2 to 12 s."""
    rev = stage.push()
    expect(live.locator("#cursor")).to_have_attribute("data-rev", str(rev))
    stage.close_sockets(code)
    expect(live.locator("#connection")).to_have_text(LOST)
    live.clock.run_for(12 * SECOND)
    expect(live.locator("#connection")).to_have_text("live")
    assert stage.addresses[-1].partition("&as_of=")[0] == f"/live/roster/?q=a&rev={rev}"
    assert len(stage.sockets) == 1


def test_a_server_that_is_away_for_two_minutes_is_found_within_35_seconds_of_its_return_P41(live, stage, expect):
    stage.blocked = True
    stage.close_sockets(1006)
    for _ in range(12):
        live.clock.run_for(10 * SECOND)
        expect(live.locator("#connection")).to_have_attribute("data-state", re.compile("lost|asking"))
    stage.blocked = False
    found_again(live, expect, within=35)


def test_a_line_that_fell_silent_is_marked_and_left_within_90_seconds_P41(live, stage, expect):
    """Nothing is closed: the server is just never heard again, as behind a proxy that stopped forwarding."""
    (old,) = stage.sockets
    live.clock.run_for(40 * SECOND)
    expect(live.locator("#connection")).to_have_text("live")
    stage.blocked = True
    live.clock.run_for(12 * SECOND)
    expect(live.locator("#connection")).to_have_text(LOST)
    stage.blocked = False
    found_again(live, expect, within=35)
    wait_until(lambda: len(stage.sockets) == 1 and old not in stage.sockets)


def test_a_word_from_the_server_now_and_then_keeps_the_line_P41(live, stage, expect):
    for n in range(6):
        live.clock.run_for(20 * SECOND)
        stage.push(raw=f'{{"now": "2026-11-30T14:2{n}:00Z"}}')
        expect(live.locator("#connection")).to_have_text("live")
    assert len(stage.addresses) == 2


def test_what_the_server_says_of_its_clock_corrects_the_ages_F010(live, stage, expect):
    """A quarter of an hour passes that this machine's clock did not see; without any push of a row the ages know."""
    age = live.locator("#agent-5 .c-seen time[data-seen]")
    expect(age).to_have_text("2 s ago")
    live.clock.run_for(8 * SECOND)
    expect(age).to_have_text(re.compile(r"^1\d s ago$"))
    stage.push(raw='{"now": "2026-11-30T14:35:00Z"}')
    expect(age).to_have_text("15 min ago")


def test_a_machine_that_wakes_up_connects_anew_at_once_P40(live, stage, expect):
    """The lid was closed for an hour: one timer fires, far too late, and the page stands no turn."""
    live.clock.fast_forward(3600 * SECOND)
    expect(live.locator("#connection")).to_have_text(LOST)
    live.clock.run_for(SECOND)
    expect(live.locator("#connection")).to_have_text("live")
    assert len(stage.addresses) == 3 and len(stage.sockets) == 1


def test_a_line_that_proves_alive_after_all_is_kept(live, stage, expect):
    live.clock.fast_forward(3600 * SECOND)
    expect(live.locator("#connection")).to_have_text(LOST)
    stage.push(raw='{"seen": {}}')
    expect(live.locator("#connection")).to_have_text("live")
    live.clock.run_for(12 * SECOND)
    assert len(stage.addresses) == 2


def test_150_pages_return_evenly_after_an_outage_of_30_seconds_F149(live):
    """The pauses are those that the page's own script draws; the outage is played with them twenty times.

    A peak counts the arrivals of one second. Chance alone may take one of the twenty a little over the bar.
    """
    peaks, latest = [], 0
    for _ in range(20):
        returns = [next(at for at in accumulate(pauses) if at >= 30) for pauses in live.evaluate(PAUSES, 150)]
        peaks.append(max(Counter(map(int, returns)).values()))
        latest = max(latest, *returns)
    assert sorted(peaks)[-2] <= 15, peaks
    assert latest <= 65


def test_where_no_websocket_gets_through_the_page_asks_every_15_seconds_but_not_while_hidden_P45(live, stage, expect):
    connection, asked = live.locator("#connection"), []
    live.on("request", lambda request: request.resource_type == "fetch" and asked.append(request.url))
    live.locator("#q").fill("typed")
    stage.blocked = True
    stage.rows[4] = fakes.row(5, id="asked-for")
    stage.close_sockets(1001)
    expect(connection).to_have_text(LOST)
    live.clock.run_for(15 * SECOND)
    expect(live.locator("#agent-5 .id")).to_have_text("asked-for")
    expect(connection).to_have_text(re.compile(r"^not live · asked at \d\d:\d\d, again every 15 s$"))
    expect(live.locator("#q")).to_have_value("typed")
    connection.evaluate("mark => mark.firstChild.kept = true")
    for word in ("second", "third"):
        stage.rows[4] = fakes.row(5, id=word)
        live.clock.run_for(15 * SECOND)
        expect(live.locator("#agent-5 .id")).to_have_text(word)
    assert connection.evaluate("mark => mark.firstChild.kept"), "a mark that is written anew is read out anew"
    hide(live, True)
    live.clock.run_for(60 * SECOND)
    assert len(asked) == 3
    hide(live, False)
    live.clock.run_for(10 * SECOND)
    wait_until(lambda: len(asked) == 4 or live.wait_for_timeout(10))
    stage.blocked = False
    live.clock.run_for(35 * SECOND)
    expect(connection).to_have_text("live")


def test_a_plain_request_after_the_sign_in_ended_brings_no_sign_in_form_into_the_page_F050(live, stage, expect):
    """The scenario expects a header that only htmx reads. Nothing is asked for by htmx here: the page's own request
    sees where it was led, and takes nothing from there.
    """
    before = live.locator("#rows").inner_text()
    stage.blocked = stage.signed_out = True
    stage.close_sockets(1001)
    expect(live.locator("#connection")).to_have_text(LOST)
    asked = []
    live.on("request", lambda request: asked.append(request.url))
    live.clock.run_for(15 * SECOND)
    expect(live.locator("#connection")).to_have_text("signed out · sign in")
    expect(live.locator("#connection a")).to_have_attribute("href", "/sign-in/?next=%2F")
    expect(live.locator("input[type=password]")).to_have_count(0)
    assert live.locator("#rows").inner_text().split()[0] == before.split()[0]
    count = len(asked)
    live.clock.run_for(60 * SECOND)
    assert [url for url in asked[count:] if not url.startswith("ws")] == []


def hide(page, hidden):
    """Lets the page believe that its tab is or is not in front; a headless one always is."""
    page.evaluate(
        """hidden => {
          Object.defineProperty(document, "hidden", { value: hidden, configurable: true });
          document.dispatchEvent(new Event("visibilitychange", { bubbles: true }));
        }""",
        hidden,
    )


@pytest.mark.parametrize(
    ("code", "words", "target"),
    [
        (4401, "signed out · sign in", "/sign-in/?next=%2F"),
        (4403, "you may not watch this page · sign in", "/sign-in/?next=%2F"),
        (4404, "this agent is not in the registry · roster", "/"),
    ],
)
def test_a_page_that_was_turned_away_says_so_and_asks_no_more(live, stage, expect, code, words, target):
    before = len(stage.addresses)
    stage.close_sockets(code)
    expect(live.locator("#connection")).to_have_text(words)
    expect(live.locator("#connection a")).to_have_attribute("href", target)
    live.clock.run_for(120 * SECOND)
    assert len(stage.addresses) == before
    expect(live.locator("#connection")).to_have_text(words)
