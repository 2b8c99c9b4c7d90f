"""The admin's lists, searches, filters and forms over a large fleet with a long journal and much mail, in this process.

python tests/bench/bench_admin.py [--check] [--quick]

A figure is the median of three rounds after one to warm up: seconds as the admin waits for them, and queries.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from datetime import timedelta

import _lib

SIZES = ((10_000, 200_000), (100_000, 2_000_000))  # agents, and as many events as messages
ROUNDS = 3
SECONDS, QUERIES = 1.0, 12
HEADS = ("store", "page", "agents", "events and messages", "ms", "queries", "growth")


def fill(agents: int, events: int) -> None:
    """Acts first and nothing but edges since; mail that is not done with first and nothing but other since; and
    statistics as a server that runs for days has them."""
    from django.db import connection
    from django.utils import timezone

    from tests import volume

    now = timezone.now()
    volume.members(range(agents), now)
    volume.acts(events // 50, now - timedelta(days=60))
    volume.edges(events - events // 50, range(agents), now - timedelta(days=50), timedelta(days=50) / events)
    volume.post(events, range(agents), now)
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("VACUUM ANALYZE")


def admin_client():
    from django.test import Client

    from tests import make

    client = Client(headers={"host": "localhost"})
    client.force_login(make.person("boss", "admin"))
    return client


def measure(client, address: str) -> tuple[float, int]:
    """Medians of milliseconds and queries of one page."""
    from django.db import connection

    rounds = []
    for _ in range(1 + ROUNDS):
        queries = []
        began = time.perf_counter()
        with connection.execute_wrapper(_lib.counting(queries)):
            answer = client.get(address)
        rounds.append(((time.perf_counter() - began) * 1000, len(queries)))
        assert answer.status_code == 200, (address, answer.status_code)
    took, asked = zip(*rounds[1:], strict=True)
    return statistics.median(took), int(statistics.median(asked))


def in_the_store(agents: int, events: int) -> None:
    """The part that runs with a store's environment; prints its rows as JSON."""
    _lib.set_up_django()
    from tests import admin_pages

    fill(agents, events)
    client = admin_client()
    pages = (*admin_pages.of_members(), *admin_pages.of_history(), *admin_pages.of_mail())
    print(json.dumps({page: measure(client, page) for page in pages}))


def of_store(name: str, agents: int, events: int) -> dict[str, list]:
    with _lib.store(name, 0) as store:
        command = [sys.executable, __file__, "--in-the-store", str(agents), str(events)]
        done = subprocess.run(command, env=store.env, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout)


def lines(name: str, sizes) -> list[tuple]:
    found = [(size, of_store(name, *size)) for size in sizes]
    pages = zip(*(pages.items() for _, pages in found), strict=True)  # a page's number differs, its place does not
    return [
        (name, page, *size, took, asked, took / of_page[0][1][0])
        for of_page in pages
        for (size, _), (page, (took, asked)) in zip(found, of_page, strict=True)
    ]


def failures(table: list[tuple]) -> list[str]:
    """Pages that are slower than the bar, or ask more often."""
    found = []
    for store, page, agents, _, took, asked, _ in table:
        what = f"{store}, {agents:,} agents, {page}"
        found += [f"{what}: {took:.0f} ms, not {1000 * SECONDS:.0f}"] * (took > 1000 * SECONDS)
        found += [f"{what}: {asked} queries, not {QUERIES}"] * (asked > QUERIES)
    return found


def main() -> int:
    """Measure, print the table, and with --check hold the bars."""
    args, note = _lib.arguments(__doc__.splitlines()[0], f"< {SECONDS:g} s, <= {QUERIES} queries"), _lib.load_note()
    sizes = tuple((agents // 10, events // 10) for agents, events in SIZES) if args.quick else SIZES
    table = [line for name in _lib.stores() for line in lines(name, sizes)]
    print(f"{note} before, {_lib.load_note()} after; growth: against {sizes[0][0]:,} agents")
    _lib.table(HEADS, table)
    return _lib.verdict(failures(table), args.check)


if __name__ == "__main__":
    sys.exit(in_the_store(*map(int, sys.argv[2:])) if "--in-the-store" in sys.argv else main())
