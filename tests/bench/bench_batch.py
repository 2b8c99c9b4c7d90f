"""1,000 heartbeats in one POST with a node's token, beside raw ``executemany`` of the same rows.

    python tests/bench/bench_batch.py [--check] [--quick]

The yardstick writes the four columns of a heartbeat by agent id in one transaction with the same pragmas, and nothing
else: no token, no HTTP, no JSON, no look at what the agents said before.
"""

from __future__ import annotations

import json
import sqlite3
import statistics
import subprocess
import sys
import time
from contextlib import closing
from datetime import UTC, datetime, timedelta

import _lib
import _load

SIZES = (1_000, 10_000)
BATCH = 1_000
ROUNDS = 15  # posts, each beside one run of the yardstick; one more of each comes first, to warm up
SHARE = 0.6
HEADS = ("store", "what", "agents", "ms", "CPU ms", "beats/s", "of executemany", "growth")
UPDATE = (
    'UPDATE "roster_agent" SET "last_seen" = {0}, "evidence_at" = {0}, "last_seen_source" = {0}, "deadline" = {0} '
    'WHERE "slug" = {0}'
)


def node_token(store: _lib.Store) -> str:
    """A node's token, made by the service that makes them for real."""
    command = [sys.executable, str(_lib.HERE / "_node.py")]
    made = subprocess.run(command, env=store.env, check=True, capture_output=True, text=True)
    return made.stdout.strip()


def slugs(size: int) -> list[str]:
    return [_lib.slug(number) for number in range(0, size, size // BATCH)]


def post(token: str, size: int, status: str) -> bytes:
    beats = [{"agent": slug, "status": status, "task": "measuring"} for slug in slugs(size)]
    return _load.request("POST", "/api/heartbeats", token, json.dumps({"heartbeats": beats}).encode())


def open_database(store: _lib.Store):
    """A connection as the hub has one, and the statement in its parameter style."""
    if store.name == "postgres":
        import psycopg

        return psycopg.connect(store.env["DATABASE_URL"]), UPDATE.format("%s")
    from agora_web.database import SQLITE_PRAGMAS

    connection = sqlite3.connect(store.folder / "hub.sqlite3", timeout=20)
    connection.executescript(SQLITE_PRAGMAS)
    return connection, UPDATE.format("?")


def executemany(connection, statement: str, size: int) -> float:
    """Seconds that the yardstick took: one transaction of ``BATCH`` rows."""
    now = datetime.now(UTC)
    moments = [now, now + timedelta(hours=1)]
    if isinstance(connection, sqlite3.Connection):
        moments = [f"{moment:%Y-%m-%d %H:%M:%S.%f}" for moment in moments]
    rows = [(moments[0], moments[0], "heartbeat", moments[1], slug) for slug in slugs(size)]
    began = time.perf_counter()
    cursor = connection.cursor()
    cursor.executemany(statement, rows)
    connection.commit()
    return time.perf_counter() - began


def of_store(name: str, size: int, rounds: int) -> dict[str, tuple[float, float]]:
    """Medians for each row of the table: milliseconds, and milliseconds of the server's CPU."""
    taken = {"executemany": [], "POST": [], "POST, all news": []}
    with _lib.store(name, size) as store, _lib.server("daphne", _lib.HUB, store) as server:
        token = node_token(store)
        connection, statement = open_database(store)
        with closing(connection):
            for number in range(1 + rounds):
                taken["executemany"].append((executemany(connection, statement, size), 0.0))
                taken["POST"].append(_post(server, post(token, size, "working")))
                if number % 3 == 0:
                    taken["POST, all news"].append(_post(server, post(token, size, "idle")))
                    _post(server, post(token, size, "working"))
    return {what: _medians(values[1:]) for what, values in taken.items()}


def _post(server: _lib.Server, request: bytes) -> tuple[float, float]:
    before = _lib.cpu(server.pid)
    done = _load.run(server.port, [request], 1, connections=1)
    assert json.loads(done.last_body)["refused"] == [], done.last_body[:300]
    return done.answers[0], _lib.cpu(server.pid) - before


def _medians(values: list[tuple[float, float]]) -> tuple[float, float]:
    seconds, cpu = zip(*values, strict=True)
    return statistics.median(seconds) * 1000, statistics.mean(cpu) * 1000


def lines(name: str, by_size: dict[int, dict]) -> list[tuple]:
    first = by_size[SIZES[0]]
    return [
        (name, what, size, ms, cpu, BATCH / ms * 1000, found["executemany"][0] / ms, ms / first[what][0])
        for what in first
        for size, found in by_size.items()
        for ms, cpu in [found[what]]
    ]


def main() -> int:
    """Measure, print the table, and with --check hold the bar."""
    args = _lib.arguments(__doc__.splitlines()[0], f"a batch without news >= {SHARE:.0%} of executemany")
    rounds, note = ROUNDS // 5 if args.quick else ROUNDS, _lib.load_note()
    table = []
    for name in _lib.stores():
        table += lines(name, {size: of_store(name, size, rounds) for size in SIZES})
    print(f"{note} before, {_lib.load_note()} after; daphne; growth: against {SIZES[0]:,} agents")
    _lib.table(HEADS, table)
    failures = [f"{store}, {size:,} agents: {share:.0%} of executemany, not {SHARE:.0%}"
                for store, what, size, _, _, _, share, _ in table if what == "POST" and share < SHARE]  # fmt: skip
    return _lib.verdict(failures, args.check)


if __name__ == "__main__":
    sys.exit(main())
