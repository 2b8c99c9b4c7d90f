"""Open roster pages: websockets that read what they are sent as a browser does, and one real Chromium among them.

Agents say in their status when they said it (``said``), so whatever shows a row can tell how old its news is.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Callable
from contextlib import asynccontextmanager
from functools import lru_cache

import _lib
import _load
from websockets.asyncio.client import connect

from tests.services import chromium

SHOWN = 50  # rows on the first page, which all of these show
PATIENCE = 30  # seconds until every page must show the last news
SENT = re.compile(r"\bsent (\d+)")
WATCH = """() => {
  window.delays = [];
  window.shown = new Map();
  new MutationObserver(() => {
    const now = Date.now();
    for (const row of document.querySelectorAll("#rows > tr")) {
      const sent = Number(/\\bsent (\\d+)/.exec(row.textContent)?.[1] ?? 0);
      if (sent <= (window.shown.get(row.id) ?? 0)) continue;
      window.shown.set(row.id, sent);
      window.delays.push(now / 1000 - sent / 1e6);
    }
  }).observe(document.getElementById("rows"), { subtree: true, childList: true, characterData: true });
}"""


class News:
    """Heartbeats of the agents on the page in turn, each with something new: the moment it was said."""

    def __init__(self):
        self._last: dict[int, int] = {}

    def __call__(self, number: int, moment: float) -> bytes:
        """The request of the ``number``-th of them, said at ``moment``, in seconds since the epoch."""
        self._last[number % SHOWN] = sent = round(moment * 1e6)
        body = json.dumps({"status": f"working: sent {sent}"}).encode()
        return _load.request("POST", "/api/heartbeat", _lib.token(number % SHOWN), body)

    @property
    def last(self) -> set[int]:
        """What every page must show in the end, in microseconds since the epoch."""
        return set(self._last.values())


@lru_cache(maxsize=16)  # the pages here show the same rows, so they are sent the same text
def news(text: str) -> dict[str, int]:
    """The rows that a message holds, and when each was said, in microseconds since the epoch."""
    rows = (part.partition('"') for part in text.split('<tr id="agent-')[1:])
    found = ((key, SENT.search(row)) for key, _, row in rows)
    return {key: int(sent[1]) for key, sent in found if sent}


class Page:
    """One websocket and what it was sent since ``forget``."""

    def __init__(self):
        self.shown: dict[str, int] = {}
        self.forget()

    def forget(self) -> None:
        self.messages = self.rows = self.size = 0
        self.delays: list[float] = []

    async def read(self, line) -> None:
        async for text in line:
            now = time.time()
            found = news(text)
            self.messages, self.rows, self.size = self.messages + 1, self.rows + len(found), self.size + len(text)
            newer = {key: sent for key, sent in found.items() if sent > self.shown.get(key, 0)}
            self.delays += [now - sent / 1e6 for sent in newer.values()]
            self.shown |= newer

    def missing(self, last: set[int]) -> int:
        """How many of the ``last`` news, one of each row, it does not show."""
        return len(last.difference(self.shown.values()))


@asynccontextmanager
async def pages(port: int, cookie: str, count: int):
    """``count`` open pages that have got their table."""
    headers = {"Cookie": cookie}
    opened, readers = [], []
    try:
        for _ in range(count):
            line = await connect(f"ws://{_load.HOST}:{port}/live/roster/", origin=f"http://{_load.HOST}:{port}",
                                 additional_headers=headers, max_size=None)  # fmt: skip
            opened.append(Page())
            readers.append((line, asyncio.create_task(opened[-1].read(line))))
        if not await until(lambda: all(page.messages for page in opened)):
            raise RuntimeError(f"not every page had its table after {PATIENCE} s")
        yield opened
    finally:
        await asyncio.gather(*(line.close() for line, _ in readers))
        await asyncio.gather(*(task for _, task in readers))


async def until(condition: Callable[[], bool]) -> bool:
    """Whether ``condition()`` came true in time."""
    ends = time.monotonic() + PATIENCE
    while not (found := condition()) and time.monotonic() < ends:
        await asyncio.sleep(0.005)
    return found


@asynccontextmanager
async def browser_page(port: int, cookie: str):
    """The roster in a real Chromium, live, with an observer that notes how old news is when a row changes."""
    from playwright.async_api import async_playwright

    name, _, value = cookie.partition("=")
    url = f"http://{_load.HOST}:{port}"
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        context = await browser.new_context()
        await context.add_cookies([{"name": name, "value": value, "url": url}])
        page = await context.new_page()
        await page.goto(url)
        await page.locator('#connection[data-state="live"]').wait_for()
        await page.evaluate(WATCH)
        yield page
        await browser.close()
