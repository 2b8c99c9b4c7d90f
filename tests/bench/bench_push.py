"""What a change costs on its way to the open pages of one process: renders, CPU, and whether all of them get it.

    python tests/bench/bench_push.py [--check] [--quick]

``back to back`` sends 400 changes over 32 connections, eight of each row; ``one by one`` waits until every page shows
a change before it sends the next. A delivery is one row that reached one page. Its CPU is what the server took more
than with a single page, for each delivery more.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import time
from dataclasses import astuple, dataclass
from urllib.request import urlopen

import _lib
import _load
import _pages

COUNTED = "counted.asgi:application"
AGENTS = 1_000
PAGES = (1, 50, 200)  # open at once; the first is what the others are compared with
BURST, SINGLES = 400, 20  # changes a round
ROUNDS = 3
DELIVERY_US = 60.0
HEADS = ("server", "changes", "pages", "reached in ms", "lost", "renders a change", "messages a page", "rows a page",
         "CPU ms", "us a delivery", "growth")  # fmt: skip


@dataclass
class Figure:
    """Medians of the rounds: until the last page showed all, what never arrived, and the price."""

    reached: float
    lost: int
    renders: float
    messages: float
    rows: float
    cpu: float


async def measure(server: _lib.Server, cookie: str, count: int) -> dict[str, Figure]:
    """Both ways with ``count`` open pages; the first round of each warms up."""
    async with _pages.pages(server.port, cookie, count) as pages:
        found = {}
        for what, send in (("back to back", _burst), ("one by one", _singles)):
            rounds = [await _round(server, pages, send) for _ in range(1 + ROUNDS)]
            found[what] = Figure(*(statistics.median(values) for values in zip(*rounds[1:], strict=True)))
        return found


async def _round(server: _lib.Server, pages: list[_pages.Page], send) -> tuple:
    for page in pages:
        page.forget()
    rendered, cpu, began = await _rendered(server), _lib.cpu(server.pid), time.perf_counter()
    changes, last = await send(server.port, pages)
    took, cpu, rendered = time.perf_counter() - began, _lib.cpu(server.pid) - cpu, await _rendered(server) - rendered
    lost = sum(page.missing(last) for page in pages)
    messages, rows = (sum(getattr(page, each) for page in pages) / len(pages) for each in ("messages", "rows"))
    return took * 1000, lost, rendered / changes, messages, rows, cpu * 1000


async def _burst(port: int, pages: list[_pages.Page]) -> tuple[int, set[int]]:
    news, now = _pages.News(), time.time()
    requests = [news(number, now + number / 1e6) for number in range(BURST)]
    (await _load.send(port, requests, BURST)).expect(200)
    await _all_show(pages, news.last)
    return BURST, news.last


async def _singles(port: int, pages: list[_pages.Page]) -> tuple[int, set[int]]:
    last = set()
    for number in range(SINGLES):
        news = _pages.News()
        (await _load.send(port, [news(number, time.time())], 1, connections=1)).expect(200)
        await _all_show(pages, news.last)
        last |= news.last
    return SINGLES, last


async def _all_show(pages: list[_pages.Page], last: set[int]) -> None:
    await _pages.until(lambda: not any(page.missing(last) for page in pages))


async def _rendered(server: _lib.Server) -> int:
    def ask():
        with urlopen(f"http://{_load.HOST}:{server.port}/rendered") as answer:
            return int(answer.read())

    return await asyncio.to_thread(ask)


def of_server(kind: str, store: _lib.Store, cookie: str) -> dict[int, dict[str, Figure]]:
    found = {}
    for count in PAGES:
        with _lib.server(kind, COUNTED, store) as server:
            found[count] = asyncio.run(measure(server, cookie, count))
    return found


def lines(server: str, by_pages: dict[int, dict[str, Figure]]) -> list[tuple]:
    alone = by_pages[PAGES[0]]
    return [
        (server, what, count, *astuple(each), price(each, count, alone[what]), each.cpu / alone[what].cpu)
        for what in alone
        for count, found in by_pages.items()
        for each in [found[what]]
    ]


def price(many: Figure, count: int, alone: Figure) -> float:
    """Microseconds of CPU for each delivery more than to a page ``alone``."""
    if count == PAGES[0]:
        return 0.0
    return (many.cpu - alone.cpu) * 1000 / (many.rows * count - alone.rows)


def failures(table: list[tuple]) -> list[str]:
    """Where a row was rendered again for a page, a delivery costs too much, or something was lost."""
    found = []
    for server, what, pages, _, lost, renders, _, _, _, cost, _ in table:
        where = f"{server}, {what}, {pages} pages"
        found += [f"{where}: {lost} never shown"] * (lost > 0)
        found += [f"{where}: {renders:.2f} renders a change, not 1"] * (renders > 1)
        found += [f"{where}: {cost:.0f} us a delivery, not {DELIVERY_US:g}"] * (cost > DELIVERY_US)
    return found


def main() -> int:
    """Measure, print the table, and with --check hold the bars."""
    bars = f"one render a change, <= {DELIVERY_US:g} us of CPU a delivery, none lost"
    args, note = _lib.arguments(__doc__.splitlines()[0], bars), _lib.load_note()
    with _lib.store("sqlite", AGENTS) as store:
        cookie = _lib.viewer(store)
        table = [line for kind in _lib.servers() for line in lines(kind, of_server(kind, store, cookie))]
    print(f"{note} before, {_lib.load_note()} after; growth of CPU: against one page")
    _lib.table(HEADS, table)
    return _lib.verdict(failures(table), args.check)


if __name__ == "__main__":
    sys.exit(main())
