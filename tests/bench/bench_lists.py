"""The fleet as JSON and the roster page's first rows: CPU, queries and gzipped size.

    python tests/bench/bench_lists.py [--check] [--quick]

``1,000 as JSON`` is two calls of 500, the longest page that the API gives. ``cold`` comes after one agent on each page
was heard, so that nothing kept can answer; ``unchanged`` asks again for what it has, with its ETag. ``in process`` is
the work alone, where queries can be counted; a server's figures have the request, the token, the sending and, where it
is cold, the two heartbeats in them too.
"""

from __future__ import annotations

import gzip
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import astuple, dataclass
from http.client import HTTPConnection

import _lib
import _load

SIZES = (1_000, 10_000, 100_000)
ROUNDS, ROUNDS_ON_SERVER, WARM_UP = 9, 3, 2
REPEATS = 10  # of each work in a round on a server, since its CPU is told in hundredths of a second
COLD, UNCHANGED, PAGE = "1,000 as JSON, cold", "1,000 as JSON, unchanged", "roster page, 50 rows"
IN_PROCESS = "in process"
CPU_MS = {COLD: 40.0, UNCHANGED: 2.0, PAGE: 50.0}
GZIPPED_KB, GROWTH, QUERIES = 100.0, 1.5, 8
HEADS = ("store", "where", "what", "agents", "ms", "CPU ms", "queries", "kB gzipped", "growth")


@dataclass
class Figure:
    """Medians of the rounds for one work, and what it gave, gzipped."""

    ms: float
    cpu: float
    queries: int
    size: float


CURSORS = ("", _lib.slug(499))  # before the first and the second 500 agents
HEARD = (0, 500)  # one agent on each page


# ---- in process -----------------------------------------------------------------------------------------------------


def in_the_store(cookie: str) -> None:
    """The part that runs with a store's environment; prints what it measured as JSON."""
    _lib.set_up_django()
    from django.test import Client
    from django.utils import timezone

    from roster import listing, queries
    from roster.models import Agent

    client = Client(headers={"host": _load.HOST, "cookie": cookie})

    def of_json() -> list[bytes]:
        selections = (queries.Selection(after=after, limit=500) for after in CURSORS)
        return [listing.listing(selection, timezone.now()).body for selection in selections]

    def hear() -> None:
        Agent.objects.filter(slug__in=map(_lib.slug, HEARD)).update(last_seen=timezone.now())

    def page() -> list[bytes]:
        answer = client.get("/")
        assert answer.status_code == 200, answer.status_code
        return [answer.content]

    works = {COLD: (of_json, hear), UNCHANGED: (of_json, None), PAGE: (page, None)}
    print(json.dumps({what: astuple(in_process(*work)) for what, work in works.items()}))


def in_process(work: Callable[[], list[bytes]], before: Callable[[], None] | None) -> Figure:
    from django.db import connection

    rounds = []
    for _ in range(WARM_UP + ROUNDS):
        asked = []
        if before:
            before()
        began, cpu = time.perf_counter(), time.process_time()
        with connection.execute_wrapper(_lib.counting(asked)):
            bodies = work()
        rounds.append((time.perf_counter() - began, time.process_time() - cpu, len(asked)))
    seconds, cpu, queries = (statistics.median(values) for values in zip(*rounds[WARM_UP:], strict=True))
    return Figure(seconds * 1000, cpu * 1000, int(queries), gzipped(bodies))


# ---- on a server ----------------------------------------------------------------------------------------------------


def on_server(server: _lib.Server, cookie: str) -> dict[str, Figure]:
    line = HTTPConnection(_load.HOST, server.port)

    def ask(path: str, expect: int = 200, method: str = "GET", **headers: str):
        line.request(method, path, headers=headers)
        answer = line.getresponse()
        body = answer.read()
        if answer.status != expect:
            raise RuntimeError(f"{method} {path}: {answer.status}, not {expect}: {body[:300]!r}")
        return answer, body

    def of_json(expect: int = 200, tags=("", "")):
        asked = {"Authorization": f"Bearer {_lib.token(0)}"}
        return [
            ask(f"/api/agents?limit=500&after={after}", expect, **asked, **{"If-None-Match": tag})
            for after, tag in zip(CURSORS, tags, strict=True)
        ]

    def cold():
        for number in HEARD:
            ask("/api/heartbeat", method="POST", Authorization=f"Bearer {_lib.token(number)}")
        return of_json()

    def unchanged():
        return of_json(304, tags)

    cold()  # the first heartbeat of an agent that said nothing else may be news
    tags = [answer.headers["ETag"] for answer, _ in cold()]
    works = {UNCHANGED: unchanged, COLD: cold, PAGE: lambda: [ask("/", Cookie=cookie)]}
    return {what: of_work(server, work) for what, work in works.items()}


def of_work(server: _lib.Server, work: Callable[[], list]) -> Figure:
    rounds = []
    for _ in range(1 + ROUNDS_ON_SERVER):
        began, cpu = time.perf_counter(), _lib.cpu(server.pid)
        for _ in range(REPEATS):
            answers = work()
        rounds.append((time.perf_counter() - began, _lib.cpu(server.pid) - cpu))
    seconds, cpu = (statistics.median(values) / REPEATS for values in zip(*rounds[1:], strict=True))
    return Figure(seconds * 1000, cpu * 1000, 0, gzipped([body for _, body in answers]))


def gzipped(bodies: list[bytes]) -> float:
    return sum(len(gzip.compress(body)) for body in bodies if body) / 1000


# ---- the table ------------------------------------------------------------------------------------------------------


def of_store(name: str, size: int, servers: list[str]) -> dict[tuple, Figure]:
    """All rows of one store and size: (where, what) -> figure."""
    with _lib.store(name, size) as store:
        cookie = _lib.viewer(store)
        done = subprocess.run([sys.executable, __file__, "--in-the-store", cookie], env=store.env, check=True,
                              stdout=subprocess.PIPE, text=True)  # fmt: skip
        found = {(IN_PROCESS, what): Figure(*each) for what, each in json.loads(done.stdout).items()}
        for kind in servers:
            with _lib.server(kind, _lib.HUB, store) as server:
                found |= {(kind, what): each for what, each in on_server(server, cookie).items()}
    return found


def lines(name: str, by_size: dict[int, dict]) -> list[tuple]:
    first = by_size[SIZES[0]]
    return [
        (name, *row, size, *astuple(found[row]), found[row].cpu / first[row].cpu)
        for row in first
        for size, found in by_size.items()
    ]


def failures(table: list[tuple]) -> list[str]:
    """Where the work itself costs more than its bar, or the page grows with the fleet."""
    found = []
    for store, where, what, size, _, cpu, queries, kilobytes, growth in table:
        place = f"{store}, {where}, {what}, {size:,} agents"
        found += [f"{place}: {kilobytes:.0f} kB gzipped, not {GZIPPED_KB:g}"] * (kilobytes > GZIPPED_KB)
        if what == PAGE:
            found += [f"{place}: {growth:.2f} x the smallest fleet, not {GROWTH:g}"] * (growth > GROWTH)
            found += [f"{place}: {queries} queries, not {QUERIES}"] * (queries > QUERIES)
        if where == IN_PROCESS:
            found += [f"{place}: {cpu:.1f} ms CPU, not {CPU_MS[what]:g}"] * (cpu > CPU_MS[what])
    return found


def main() -> int:
    """Measure, print the table, and with --check hold the bars."""
    bars = ", ".join(f"{what} <= {most:g} ms CPU in process" for what, most in CPU_MS.items())
    bars += f"; page <= {QUERIES} queries, <= {GROWTH:g} x the smallest fleet; <= {GZIPPED_KB:g} kB gzipped"
    args, servers, table = _lib.arguments(__doc__.splitlines()[0], bars), _lib.servers(), []
    sizes = SIZES[:2] if args.quick else SIZES
    for name in _lib.stores():
        note = _lib.load_note()
        of_this = lines(name, {size: of_store(name, size, servers) for size in sizes})
        print(f"{note} before, {_lib.load_note()} after; growth of CPU: against {SIZES[0]:,} agents")
        _lib.table(HEADS, of_this)
        table += of_this
    return _lib.verdict(failures(table), args.check)


if __name__ == "__main__":
    sys.exit(in_the_store(sys.argv[-1]) if "--in-the-store" in sys.argv else main())
