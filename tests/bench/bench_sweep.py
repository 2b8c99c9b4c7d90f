"""A sweep over a fleet in which one agent in a hundred is due: all of them gone, so that every one is an edge.

python tests/bench/bench_sweep.py [--check] [--quick]
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from datetime import timedelta

import _lib

SIZES = (10_000, 100_000)
DUE = 100  # one in so many
ROUNDS = 3
SECONDS, QUERIES = 1.0, 5.0
HEADS = ("store", "agents", "edges", "seconds", "CPU s", "queries", "a batch", "growth")


def sweep_once(number: int) -> tuple[int, float, float, int, float]:
    """Makes every hundredth agent due, from ``number`` on, and sweeps: edges, seconds, CPU, queries, those a batch."""
    from django.db import connection
    from django.utils import timezone

    from roster.models import Agent
    from roster.plans import plan
    from roster.services import sweeps

    now, queries = timezone.now(), []
    keys = list(Agent.objects.order_by("pk").values_list("pk", flat=True))[number::DUE]
    for first in range(0, len(keys), 500):
        gone = Agent.objects.filter(pk__in=keys[first : first + 500])
        gone.update(deadline=now - timedelta(seconds=1), check_after=now - timedelta(seconds=1))
    began, cpu = time.perf_counter(), time.process_time()
    with connection.execute_wrapper(_lib.counting(queries)):
        run = sweeps.run(plan(sweeps.DORMANCY), now)
    seconds, cpu, asked = time.perf_counter() - began, time.process_time() - cpu, len(queries)
    with connection.execute_wrapper(_lib.counting(queries)):
        sweeps.run(plan(sweeps.DORMANCY), now)  # nothing is due any more: what a sweep costs beside its batches
    batches = -(-run.edges // plan(sweeps.DORMANCY).batch)
    return run.edges, seconds, cpu, asked, (2 * asked - len(queries)) / batches


def in_the_store() -> None:
    """The part that runs with a store's environment; prints the rounds as JSON."""
    _lib.set_up_django()
    print(json.dumps([sweep_once(number) for number in range(ROUNDS)]))


def of_store(name: str, size: int) -> tuple[float, ...]:
    """Medians of the rounds in a fresh store."""
    with _lib.store(name, size) as store:
        done = subprocess.run([sys.executable, __file__, "--in-the-store"], env=store.env, check=True,
                              stdout=subprocess.PIPE, text=True)  # fmt: skip
    return tuple(statistics.median(values) for values in zip(*json.loads(done.stdout), strict=True))


def lines(name: str, sizes: tuple[int, ...]) -> list[tuple]:
    found = {size: of_store(name, size) for size in sizes}
    first = found[sizes[0]][1]
    return [
        (name, size, edges, seconds, cpu, queries, a_batch, seconds / first)
        for size, (edges, seconds, cpu, queries, a_batch) in found.items()
    ]


def failures(table: list[tuple]) -> list[str]:
    """Where a sweep is slower than its bar, or asks more often."""
    found = []
    for store, size, _, seconds, _, _, a_batch, _ in table:
        found += [f"{store}, {size:,} agents: {seconds:.2f} s, not {SECONDS:g}"] * (seconds > SECONDS)
        found += [f"{store}, {size:,} agents: {a_batch:.1f} queries a batch, not {QUERIES:g}"] * (a_batch > QUERIES)
    return found


def main() -> int:
    """Measure, print the table, and with --check hold the bars."""
    bars = f"<= {SECONDS:g} s, <= {QUERIES:g} queries a batch"
    args, note = _lib.arguments(__doc__.splitlines()[0], bars), _lib.load_note()
    sizes = tuple(size // 10 for size in SIZES) if args.quick else SIZES
    table = [line for name in _lib.stores() for line in lines(name, sizes)]
    print(f"{note} before, {_lib.load_note()} after; growth: against {sizes[0]:,} agents")
    _lib.table(HEADS, table)
    return _lib.verdict(failures(table), args.check)


if __name__ == "__main__":
    sys.exit(in_the_store() if "--in-the-store" in sys.argv else main())
