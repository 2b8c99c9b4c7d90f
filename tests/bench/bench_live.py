"""From a heartbeat to the changed row in an open page: how long it takes, over websockets and in a real Chromium.

    python tests/bench/bench_live.py [--check] [--quick]

Every page shows the same 50 rows and all news is on these. A delay counts from when the heartbeat was due until the
message was read, or until the row changed in the browser.
"""

from __future__ import annotations

import asyncio
import sys
from dataclasses import astuple, dataclass

import _lib
import _load
import _pages

SIZES = (1_000, 100_000)
LOADS = ((50, 50), (200, 200))  # open pages, changes a second; the bar holds for the first
SECONDS, WARM_UP = 10, 3
P50_MS, P99_MS = 250.0, 1000.0
HEADS = ("store", "server", "agents", "pages", "changes/s", "p50 ms", "p99 ms", "browser p50", "browser p99", "lost",
         "messages/s", "kB/s", "cores", "growth")  # fmt: skip


@dataclass
class Figure:
    """Delays at the websockets and in the browser, what never arrived; messages and kB a page; cores of the server."""

    rate: float
    p50: float
    p99: float
    browser_p50: float
    browser_p99: float
    lost: int
    messages: float
    size: float
    cores: float


async def measure(server: _lib.Server, cookie: str, count: int, rate: int, seconds: int) -> Figure:
    """Opens the pages, warms up, and counts the news of so many ``seconds``."""
    async with _pages.browser_page(server.port, cookie) as browser, _pages.pages(server.port, cookie, count) as pages:
        await _news(server.port, pages, rate, WARM_UP)
        await browser.evaluate("window.delays = []")
        for page in pages:
            page.forget()
        cpu = _lib.cpu(server.pid)
        taken, lost = await _news(server.port, pages, rate, seconds)
        cpu = _lib.cpu(server.pid) - cpu
        in_browser = await browser.evaluate("window.delays")
    delays = [delay for page in pages for delay in page.delays]
    a_page = len(pages) * taken.seconds
    return Figure(
        taken.rate,
        *(_load.percentile(each, share) for each in (delays, in_browser) for share in (0.5, 0.99)),
        lost,
        sum(page.messages for page in pages) / a_page,
        sum(page.size for page in pages) / 1000 / a_page,
        cpu / taken.seconds,
    )


async def _news(port: int, pages: list[_pages.Page], rate: int, seconds: int) -> tuple[_load.Round, int]:
    """News at a steady ``rate``; how it was answered, and what some page did not show in the end."""
    news = _pages.News()
    taken = (await _load.paced(port, news, rate, range(rate * seconds))).expect(200)
    await _pages.until(lambda: not any(page.missing(news.last) for page in pages))
    return taken, sum(page.missing(news.last) for page in pages)


def of_store(name: str, size: int, servers: list[str], seconds: int) -> dict[tuple, Figure]:
    """All rows of one store and size: (server, pages) -> figure."""
    found = {}
    with _lib.store(name, size) as store:
        cookie = _lib.viewer(store)
        for kind in servers:
            for count, rate in LOADS:
                with _lib.server(kind, _lib.HUB, store) as server:
                    found[kind, count] = asyncio.run(measure(server, cookie, count, rate, seconds))
    return found


def lines(name: str, by_size: dict[int, dict]) -> list[tuple]:
    first = by_size[SIZES[0]]
    return [
        (name, server, size, pages, *astuple(each), each.p50 / first[server, pages].p50)
        for server, pages in first
        for size, found in by_size.items()
        for each in [found[server, pages]]
    ]


def failures(table: list[tuple]) -> list[str]:
    """Where news was lost, or came later than its bar under the load that the bar is for."""
    found = []
    for store, server, size, pages, _, p50, p99, browser_p50, browser_p99, lost, *_ in table:
        where = f"{store}, {server}, {size:,} agents, {pages} pages"
        found += [f"{where}: {lost} never shown"] * (lost > 0)
        if pages != LOADS[0][0]:
            continue
        for what, middle, late in (("websocket", p50, p99), ("browser", browser_p50, browser_p99)):
            found += [f"{where}: {what} p50 {middle:.0f} ms, not {P50_MS:g}"] * (middle > P50_MS)
            found += [f"{where}: {what} p99 {late:.0f} ms, not {P99_MS:g}"] * (late > P99_MS)
    return found


def main() -> int:
    """Measure, print the table, and with --check hold the bars."""
    bars = f"p50 <= {P50_MS:g} ms, p99 <= {P99_MS:g} ms with {LOADS[0][0]} pages at {LOADS[0][1]} changes/s; none lost"
    args = _lib.arguments(__doc__.splitlines()[0], bars)
    seconds, servers, table = 2 if args.quick else SECONDS, _lib.servers(), []
    for name in _lib.stores():
        note = _lib.load_note()
        of_this = lines(name, {size: of_store(name, size, servers, seconds) for size in SIZES})
        print(f"{note} before, {_lib.load_note()} after; growth of p50: against {SIZES[0]:,} agents")
        _lib.table(HEADS, of_this)
        table += of_this
    return _lib.verdict(failures(table), args.check)


if __name__ == "__main__":
    sys.exit(main())
