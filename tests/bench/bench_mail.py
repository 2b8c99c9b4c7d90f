"""What mail costs: a send, a drain with its ack, one's own unread count and a peek, as the hub fills.

    python tests/bench/bench_mail.py [--check] [--quick]

Sends go over 16 keep-alive connections, each to another inbox in turn, and are committed before their answer. A drain
takes three messages and acks them in a second call; both are counted as one. Each read is measured on a server and in
process, where its own cost is not hidden by that of a request.
"""

from __future__ import annotations

import itertools
import json
import statistics
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from http.client import HTTPConnection

import _lib
import _load

FLEETS, MESSAGES = (50, 10_000), (500, 100_000)
CONNECTIONS, ROUNDS = 16, 3
SENDS, DRAINS, READS = 1_000, 100, 200  # a round
TAKEN = 3  # messages a drain: as many as the sends leave, one drain after the other
SENDS_A_SECOND, GROWTH = 300.0, 1.2
SEND, DRAIN, PEEK, UNREAD = "send", "drain + ack", "peek", "unread count"
IN_PROCESS = "in process"
HEADS = (
    "store",
    "where",
    "what",
    "agents",
    "messages",
    "a second",
    "CPU ms",
    "stores ms",
    "p50 ms",
    "p99 ms",
    "growth",
)


@dataclass
class Figure:
    """Medians of the rounds: how many a second, CPU of the server and of its stores for each, answer times."""

    rate: float
    cpu: float
    stores: float
    p50: float
    p99: float


def sends(fleet: int) -> list[bytes]:
    """One letter of each of up to 1,000 agents to its neighbour, so that no inbox fills up."""
    return [
        _load.request("POST", "/api/messages", _lib.token(number), _letter(_lib.slug((number + 1) % fleet)))
        for number in range(0, fleet, max(1, fleet // 1_000))
    ]


def _letter(to: str) -> bytes:
    return json.dumps({"to": to, "subject": "Release notes", "body": "The next step begins.\n" * 10}).encode()


def reads(query: str) -> list[bytes]:
    paths = (f"/api/agents/{_lib.slug(number)}/inbox{query}" for number in range(20))
    return [_load.request("GET", path, _lib.token(number), b"") for number, path in enumerate(paths)]


def drain_and_ack(server: _lib.Server, numbers: list[int]) -> _load.Round:
    """A drain and an ack for each of the agents ``numbers``, over CONNECTIONS lines."""
    taken = _load.Round()
    began = time.perf_counter()
    with ThreadPoolExecutor(CONNECTIONS) as threads:
        shares = [numbers[at::CONNECTIONS] for at in range(CONNECTIONS)]
        for answers in threads.map(lambda share: _work(server, share), shares):
            taken.answers += answers
    taken.seconds = time.perf_counter() - began
    return taken


def _work(server: _lib.Server, numbers: list[int]) -> list[float]:
    line, answers = HTTPConnection(_load.HOST, server.port), []
    for number in numbers:
        began = time.perf_counter()
        given = _post(line, number, "drain", {"limit": TAKEN})
        _post(line, number, "ack", {"lease": given["lease"], "seqs": [each["seq"] for each in given["messages"]]})
        answers.append(time.perf_counter() - began)
    return answers


def _post(line: HTTPConnection, number: int, verb: str, body: dict) -> dict:
    headers = {"Authorization": f"Bearer {_lib.token(number)}", "Content-Type": "application/json"}
    line.request("POST", f"/api/agents/{_lib.slug(number)}/inbox/{verb}", json.dumps(body), headers)
    answer = line.getresponse()
    told = json.loads(answer.read())
    if answer.status != 200:
        raise RuntimeError(f"{verb}: {answer.status}: {told}")
    return told


def measure(server: _lib.Server, store: _lib.Store, work, count: int) -> Figure:
    """A warm-up, then the counted rounds of ``work``, which does ``count`` of its kind."""
    work()
    rounds = []
    for _ in range(ROUNDS):
        web, stores = _lib.cpu(server.pid), _lib.cpu(*store.pids)
        taken = work()
        web, stores = _lib.cpu(server.pid) - web, _lib.cpu(*store.pids) - stores
        p50, p99 = taken.percentile(0.5), taken.percentile(0.99)
        rounds.append((taken.rate, web / count * 1000, stores / count * 1000, p50, p99))
    return Figure(*(statistics.median(values) for values in zip(*rounds, strict=True)))


def on_server(server: _lib.Server, store: _lib.Store, fleet: int, share: float) -> dict[str, Figure]:
    """The sends come first: what they leave waiting is what the drains take."""
    letters = sends(fleet)
    senders = [(n + 1) % fleet for n in range(0, fleet, max(1, fleet // 1_000))]
    count = {SEND: int(SENDS * share), DRAIN: int(DRAINS * share), PEEK: int(READS * share), UNREAD: int(READS * share)}
    turns = itertools.cycle(senders)  # on from round to round, since a drained inbox is empty
    works = {
        SEND: lambda: _load.run(server.port, letters, count[SEND], CONNECTIONS, expect=201),
        PEEK: lambda: _load.run(server.port, reads(""), count[PEEK], CONNECTIONS),
        UNREAD: lambda: _load.run(server.port, reads("?limit=1"), count[UNREAD], CONNECTIONS),
        DRAIN: lambda: drain_and_ack(server, list(itertools.islice(turns, count[DRAIN]))),
    }
    return {what: measure(server, store, work, count[what]) for what, work in works.items()}


def of_store(name: str, fleet: int, messages: int, servers: list[str], share: float) -> dict[tuple, Figure]:
    """All rows of one store and size: (where, what) -> figure."""
    found = {}
    with _lib.store(name, fleet) as store:
        _script(store, "fill", str(messages))
        for what, (ms, cpu, _) in json.loads(_script(store, "read")).items():
            found[IN_PROCESS, what] = Figure(1000 / ms, cpu, 0.0, ms, ms)
        for kind in servers:
            with _lib.server(kind, _lib.HUB, store) as server:
                found |= {(kind, what): each for what, each in on_server(server, store, fleet, share).items()}
    return found


def _script(store: _lib.Store, *arguments: str) -> str:
    command = [sys.executable, str(_lib.HERE / "_mail.py"), *arguments]
    return subprocess.run(command, env=store.env, check=True, stdout=subprocess.PIPE, text=True).stdout


def lines(name: str, by_size: dict[tuple[int, int], dict]) -> list[tuple]:
    """``growth`` is CPU, the stores' with it, against the smallest fleet and the fewest messages."""
    first = by_size[FLEETS[0], MESSAGES[0]]
    return [
        (name, where, what, fleet, messages, each.rate, each.cpu, each.stores, each.p50, each.p99,
         (each.cpu + each.stores) / (first[where, what].cpu + first[where, what].stores))
        for where, what in first
        for (fleet, messages), found in by_size.items()
        for each in [found[where, what]]
    ]  # fmt: skip


def failures(table: list[tuple]) -> list[str]:
    found = []
    for store, where, what, fleet, messages, rate, *_, growth in table:
        at = f"{store}, {where}, {what}, {fleet:,} agents, {messages:,} messages"
        if what == SEND and rate < SENDS_A_SECOND:
            found.append(f"{at}: {rate:.0f} a second, not {SENDS_A_SECOND:g}")
        bounded = what == SEND or where == IN_PROCESS
        if bounded and growth > GROWTH:
            found.append(f"{at}: grew {growth:.2f} times, not {GROWTH:g}")
    return found


def main() -> int:
    """Measure, print the table, and with --check hold the bars."""
    bars = f"send >= {SENDS_A_SECOND:g}/s at {CONNECTIONS} connections; send and the reads grow <= {GROWTH:g} x"
    args = _lib.arguments(__doc__.splitlines()[0], bars)
    share, servers, table = 0.1 if args.quick else 1, _lib.servers(), []
    for name in _lib.stores():
        note = _lib.load_note()
        by_size = {
            (fleet, messages): of_store(name, fleet, messages, servers, share)
            for fleet in FLEETS
            for messages in MESSAGES
        }
        of_this = lines(name, by_size)
        print(f"{note} before, {_lib.load_note()} after; growth: against {FLEETS[0]} agents, {MESSAGES[0]} messages")
        _lib.table(HEADS, of_this)
        table += of_this
    return _lib.verdict(failures(table), args.check)


if __name__ == "__main__":
    sys.exit(main())
