"""What a single heartbeat costs, committed before its answer, beside the naive sync view on daphne.

    python tests/bench/bench_heartbeat.py [--check] [--quick]

32 keep-alive connections; 1,000 tokens spread over the fleet, or one. ``news`` changes the status with every beat.
"""

from __future__ import annotations

import json
import statistics
import sys
from dataclasses import dataclass

import _lib
import _load

SIZES = (1_000, 10_000)
TOKENS = 1_000
ROUNDS = 3
BEATS, NAIVE_BEATS = 2_000, 300  # a round
TIMES_NAIVE, CPU_MS, P99_MS = 8.0, 0.5, 60.0
HEADS = ("store", "server", "call", "agents", "beats/s", "CPU ms", "stores ms", "p50 ms", "p99 ms", "x naive",
         "CPU growth")  # fmt: skip


@dataclass
class Figure:
    """Medians of the rounds: beats a second, CPU of the server and of its stores for each beat, answer times."""

    rate: float
    cpu: float
    stores: float
    p50: float
    p99: float


def bodies(number: int, news: bool) -> list[bytes]:
    """What one agent says, in turn: always the same, or something new each time."""
    said = {"task": "measuring", "session": f"session-{number}", "host": "bench"}
    statuses = ("idle", "working") if news else ("working",)
    return [json.dumps({"status": status, **said}).encode() for status in statuses]


def requests(size: int, tokens: int, put: bool, news: bool) -> list[bytes]:
    """The requests of one row of the table, one beat of each token after the other."""
    numbers = range(0, size, size // tokens)
    turns = zip(*(bodies(number, news) for number in numbers), strict=True)
    return [
        _load.request("PUT", f"/api/agents/{_lib.slug(number)}", _lib.token(number), body)
        if put
        else _load.request("POST", "/api/heartbeat", _lib.token(number), body)
        for turn in turns
        for number, body in zip(numbers, turn, strict=True)
    ]


CALLS = {  # tokens, PUT, news
    "POST": (TOKENS, False, False),
    "POST, 1 token": (1, False, False),
    "POST, news": (TOKENS, False, True),
    "PUT": (TOKENS, True, False),
    "PUT, news": (TOKENS, True, True),
}


def measure(server: _lib.Server, store: _lib.Store, asked: list[bytes], beats: int) -> Figure:
    """A warm-up that meets every token once, then the counted rounds."""
    _load.run(server.port, asked, max(len(asked), beats // 4))
    rounds = [_round(server, store, asked, beats) for _ in range(ROUNDS)]
    return Figure(*(statistics.median(values) for values in zip(*rounds, strict=True)))


def _round(server, store, asked, beats):
    web, stores = _lib.cpu(server.pid), _lib.cpu(*store.pids)
    taken = _load.run(server.port, asked, beats)
    web, stores = _lib.cpu(server.pid) - web, _lib.cpu(*store.pids) - stores
    return taken.rate, web / beats * 1000, stores / beats * 1000, taken.percentile(0.5), taken.percentile(0.99)


def of_store(name: str, size: int, servers: list[str], share: float) -> dict[tuple, Figure]:
    """All rows of one store and size: (server, call) -> figure."""
    found = {}
    with _lib.store(name, size) as store:
        with _lib.server("daphne", _lib.NAIVE, store, "naive.settings") as server:
            asked = requests(size, TOKENS, False, False)[:: max(1, TOKENS // 100)]
            found["daphne", "naive view"] = measure(server, store, asked, int(NAIVE_BEATS * share))
        for kind in servers:
            with _lib.server(kind, _lib.HUB, store) as server:
                for call, (tokens, put, news) in CALLS.items():
                    found[kind, call] = measure(server, store, requests(size, tokens, put, news), int(BEATS * share))
    return found


def lines(name: str, by_size: dict[int, dict]) -> list[tuple]:
    first = by_size[SIZES[0]]
    return [
        (name, server, call, size, each.rate, each.cpu, each.stores, each.p50, each.p99,
         each.rate / found["daphne", "naive view"].rate, each.cpu / first[server, call].cpu)
        for server, call in first
        for size, found in by_size.items()
        for each in [found[server, call]]
    ]  # fmt: skip


def failures(table: list[tuple]) -> list[str]:
    """Where daphne stays below its bar with a heartbeat that has no news."""
    found = []
    for store, server, call, size, _, cpu, _, _, p99, times, _ in table:
        if server != "daphne" or call not in ("POST", "PUT"):
            continue
        where = f"{store}, {call}, {size:,} agents"
        found += [f"{where}: {times:.1f} x naive, not {TIMES_NAIVE:g}"] * (times < TIMES_NAIVE)
        found += [f"{where}: {cpu:.2f} ms CPU, not {CPU_MS:g}"] * (cpu > CPU_MS)
        found += [f"{where}: p99 {p99:.0f} ms, not {P99_MS:g}"] * (p99 > P99_MS)
    return found


def main() -> int:
    """Measure, print the table, and with --check hold the bars."""
    bars = f"daphne >= {TIMES_NAIVE:g} x naive, <= {CPU_MS} ms CPU, p99 <= {P99_MS:g} ms (beats without news)"
    args = _lib.arguments(__doc__.splitlines()[0], bars)
    share, servers, table = 0.1 if args.quick else 1, _lib.servers(), []
    for name in _lib.stores():
        note = _lib.load_note()
        of_this = lines(name, {size: of_store(name, size, servers, share) for size in SIZES})
        print(f"{note} before, {_lib.load_note()} after; CPU growth: against {SIZES[0]:,} agents")
        _lib.table(HEADS, of_this)
        table += of_this
    return _lib.verdict(failures(table), args.check)


if __name__ == "__main__":
    sys.exit(main())
