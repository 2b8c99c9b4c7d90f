"""A sweep over a fleet in which one agent in a hundred is due: all of them gone, so that every one is an edge.

    python tests/bench/bench_sweep.py [--check] [--quick]

Then once more beside a web process that takes heartbeats at a steady pace: how long their answers take while no sweep
runs, and while one does in another process, as the worker's do.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import statistics
import subprocess
import sys
import time
from datetime import timedelta

import _lib
import _load

SIZES = (10_000, 100_000)
DUE = 100  # one in so many
ROUNDS, ROUNDS_BESIDE = 3, 20
RATE, ALONE = 200, 5  # heartbeats a second; seconds without a sweep
SECONDS, QUERIES, P99_MS = 1.0, 5.0, 60.0
HEADS = ("store", "agents", "edges", "seconds", "CPU s", "queries", "a batch", "growth")
BESIDE = ("store", "agents", "beats/s", "p50 ms", "p99 ms", "beats in sweeps", "p50 in them", "p99 in them")
SPEAKERS = range(DUE // 2, SIZES[0] // 10, DUE)  # whose turn to be due never comes


def sweep_once(number: int) -> tuple[int, float, float, int, float, float]:
    """Makes every hundredth agent due, from ``number`` on, and sweeps: edges, seconds, CPU, queries, those a batch, and
    when it began."""
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
    began, cpu, at = time.perf_counter(), time.process_time(), time.time()
    with connection.execute_wrapper(_lib.counting(queries)):
        run = sweeps.run(plan(sweeps.DORMANCY), now)
    seconds, cpu, asked = time.perf_counter() - began, time.process_time() - cpu, len(queries)
    with connection.execute_wrapper(_lib.counting(queries)):
        sweeps.run(plan(sweeps.DORMANCY), now)  # nothing is due any more: what a sweep costs beside its batches
    batches = -(-run.edges // plan(sweeps.DORMANCY).batch)
    return run.edges, seconds, cpu, asked, (2 * asked - len(queries)) / batches, at


def in_the_store(rounds: int) -> None:
    """The part that runs with a store's environment; prints the rounds as JSON."""
    _lib.set_up_django()
    print(json.dumps([sweep_once(number) for number in range(rounds)]))


def sweeps(store: _lib.Store, rounds: int) -> list[tuple]:
    done = subprocess.run([sys.executable, __file__, "--in-the-store", str(rounds)], env=store.env, check=True,
                          stdout=subprocess.PIPE, text=True)  # fmt: skip
    return json.loads(done.stdout)


def of_store(name: str, size: int) -> tuple[tuple[float, ...], tuple]:
    """In fresh stores: medians of the rounds of a sweep alone, and the answers beside sweeps."""
    with _lib.store(name, size) as store:
        *alone, _ = (statistics.median(values) for values in zip(*sweeps(store, ROUNDS), strict=True))
    with _lib.store(name, size) as store, _lib.server("daphne", _lib.HUB, store) as server:
        return tuple(alone), asyncio.run(beside(server.port, store))


async def beside(port: int, store: _lib.Store) -> tuple:
    """Heartbeats without a sweep and then with sweeps in another process: what stands in the line of the table."""

    def beat(number: int, _) -> bytes:
        speaker = SPEAKERS[number % len(SPEAKERS)]
        return _load.request("POST", "/api/heartbeat", _lib.token(speaker), b'{"status": "working"}')

    await _load.paced(port, beat, RATE, range(RATE))  # a warm-up
    alone = (await _load.paced(port, beat, RATE, range(RATE * ALONE))).expect(200)
    swept = asyncio.create_task(asyncio.to_thread(sweeps, store, ROUNDS_BESIDE))
    numbers = itertools.takewhile(lambda _: not swept.done(), itertools.count())
    taken = (await _load.paced(port, beat, RATE, numbers)).expect(200)
    spans = [(at, at + seconds) for _, seconds, *_, at in await swept]
    inside = [
        answer
        for answer, due in zip(taken.answers, taken.due, strict=True)
        if any(begin <= due <= end for begin, end in spans)
    ]
    during = (_load.percentile(inside, share) for share in (0.5, 0.99))
    return taken.rate, alone.percentile(0.5), alone.percentile(0.99), len(inside), *during


def lines(name: str, found: dict[int, tuple]) -> list[tuple]:
    first = next(iter(found.values()))[1]
    return [(name, size, *alone, alone[1] / first) for size, alone in found.items()]


def failures(table: list[tuple], beside: list[tuple]) -> list[str]:
    """Where a sweep is slower than its bar or asks more often, or keeps heartbeats waiting."""
    found = []
    for store, size, _, seconds, _, _, a_batch, _ in table:
        found += [f"{store}, {size:,} agents: {seconds:.2f} s, not {SECONDS:g}"] * (seconds > SECONDS)
        found += [f"{store}, {size:,} agents: {a_batch:.1f} queries a batch, not {QUERIES:g}"] * (a_batch > QUERIES)
    for store, size, *_, p99 in beside:
        found += [f"{store}, {size:,} agents: p99 {p99:.0f} ms during a sweep, not {P99_MS:g}"] * (p99 > P99_MS)
    return found


def main() -> int:
    """Measure, print the table, and with --check hold the bars."""
    bars = f"<= {SECONDS:g} s, <= {QUERIES:g} queries a batch, a heartbeat's p99 beside it <= {P99_MS:g} ms"
    args, note = _lib.arguments(__doc__.splitlines()[0], bars), _lib.load_note()
    sizes = tuple(size // 10 for size in SIZES) if args.quick else SIZES
    table, beats = [], []
    for name in _lib.stores():
        found = {size: of_store(name, size) for size in sizes}
        table += lines(name, {size: alone for size, (alone, _) in found.items()})
        beats += [(name, size, *beside) for size, (_, beside) in found.items()]
    print(f"{note} before, {_lib.load_note()} after; growth: against {sizes[0]:,} agents")
    _lib.table(HEADS, table)
    print(f"heartbeats, {RATE} a second on daphne, while no sweep runs and while one does:")
    _lib.table(BESIDE, beats)
    return _lib.verdict(failures(table, beats), args.check)


if __name__ == "__main__":
    sys.exit(in_the_store(int(sys.argv[-1])) if "--in-the-store" in sys.argv else main())
