"""`manage.py up` on a fresh and on an existing data folder: start, memory of the whole process tree, stop.

    python tests/bench/bench_up.py [--check] [--quick]

Memory is the PSS of the tree: shared pages are counted once. The Python environment exists already.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from pathlib import Path

import _lib
import _load
import httpx

from tests import hubs
from tests.services import wait_until

AGENTS = 1_000
ROUNDS = 3
START, STOP, MIB = 3.0, 3.0, 300.0
HEADS = ("data folder", "first page s", "idle MiB", f"with {AGENTS:,} agents MiB", "growth", "stop s")
SETTLED = 2  # seconds in which a quiet tree uses next to no CPU


def pss(pid: int) -> float:
    """MiB of the tree of ``pid``."""
    total = 0
    for each in _lib.tree(pid):
        rollup = Path(f"/proc/{each.pid}/smaps_rollup").read_text()
        total += int(next(line for line in rollup.splitlines() if line.startswith("Pss:")).split()[1])
    return total / 1024


def first_page(url: str) -> bool:
    try:
        return httpx.get(url + "/sign-in/").status_code == 200
    except httpx.TransportError:
        return False


def quiet(pid: int) -> None:
    """Waits until the tree has finished starting: workers are still importing when the first page is there."""
    seen = [(time.monotonic(), _lib.cpu(pid))]

    def settled() -> bool:
        seen.append((time.monotonic(), _lib.cpu(pid)))
        since = [used for at, used in seen if at >= seen[-1][0] - SETTLED]
        return seen[-1][0] - seen[0][0] > SETTLED and since[-1] - since[0] < 0.05 * SETTLED

    wait_until(settled, 60, "a quiet tree")


def register(hub: hubs.Hub, count: int) -> None:
    token, port = hub.up["enrolment_token"], int(hub.url.rsplit(":", 1)[1])
    body = b'{"status": "idle", "liveness_mode": "async"}'
    requests = [_load.request("PUT", f"/api/agents/{_lib.slug(number)}", token, body) for number in range(count)]
    _load.run(port, requests, count, connections=8, expect=201)


def measure(data: Path, agents: int) -> tuple[float, ...]:
    """One start and stop on ``data``: seconds to the first page, MiB idle and with agents, seconds to stop."""
    began = time.perf_counter()
    hub = hubs.start(data, AGORA_RATE_HEARTBEAT=_lib.PLENTY)
    try:
        wait_until(lambda: first_page(hub.url), 30, "the first page")
        started = time.perf_counter() - began
        quiet(hub.process.pid)
        idle = pss(hub.process.pid)
        if agents:
            register(hub, agents)
            quiet(hub.process.pid)
        full = pss(hub.process.pid)
    finally:
        began = time.perf_counter()
        hub.stop()
    return started, idle, full, time.perf_counter() - began


def rounds(agents: int) -> dict[str, tuple[float, ...]]:
    """Medians for a fresh folder, in which the agents are registered, and for the same folder a second time."""
    taken = {"fresh": [], "existing": []}
    for _ in range(ROUNDS):
        with tempfile.TemporaryDirectory(prefix="agora-bench-") as folder:
            taken["fresh"].append(measure(Path(folder), agents))
            taken["existing"].append(measure(Path(folder), 0))
    return {name: tuple(map(statistics.median, zip(*each, strict=True))) for name, each in taken.items()}


def main() -> int:
    """Measure, print the table, and with --check hold the bars."""
    bars = f"first page <= {START:g} s, <= {MIB:g} MiB with {AGENTS:,} agents, stop <= {STOP:g} s"
    args, note = _lib.arguments(__doc__.splitlines()[0], bars), _lib.load_note()
    found = rounds(AGENTS // 10 if args.quick else AGENTS)
    print(f"{note} before, {_lib.load_note()} after")
    table = [(name, start, idle, full, full / idle, stop) for name, (start, idle, full, stop) in found.items()]
    _lib.table(HEADS, table)
    failures = []
    for name, (start, _, full, stop) in found.items():
        failures += [f"{name}: first page after {start:.1f} s, not {START:g}"] * (start > START)
        failures += [f"{name}: {full:.0f} MiB, not {MIB:g}"] * (full > MIB)
        failures += [f"{name}: stopped after {stop:.1f} s, not {STOP:g}"] * (stop > STOP)
    return _lib.verdict(failures, args.check)


if __name__ == "__main__":
    sys.exit(main())
