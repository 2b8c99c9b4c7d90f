"""How quickly a disabled node answers while others queue (P32).

    python tests/bench/bench_prompts.py [--check] [--quick]

The prompts come over 20 keep-alive connections at once, each from another agent, to the one disabled node; meanwhile 20
more callers wait in the queue of another node, their calls held open. An answer is counted once its record is committed.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys

import _lib
import _load

FLEET, CALLERS, PROMPTS = 200, 20, 2_000
P99 = 500.0  # milliseconds
HEADS = ("store", "server", "prompts", "a second", "CPU ms", "p50 ms", "p99 ms")


def prompts(node: str, callers: range, query: str = "") -> list[bytes]:
    """One prompt of each of these agents."""
    body = json.dumps({"body": "How full is your disk?\n" * 10}).encode()
    return [_load.request("POST", f"/api/nodes/{node}/prompt{query}", _lib.token(number), body) for number in callers]


async def beside_a_queue(port: int, count: int) -> _load.Round:
    """``count`` prompts to the disabled node, while as many callers as there are lines wait at the other one."""
    held = []
    for asked in prompts("birch", range(FLEET - CALLERS, FLEET), "?wait=60"):
        reader, writer = await asyncio.open_connection(_load.HOST, port)
        writer.write(asked)
        held.append((reader, writer))
    await _load.send(port, prompts("alder", range(CALLERS)), CALLERS, CALLERS)  # warm, and birch's queue stands by now
    taken = await _load.send(port, prompts("alder", range(FLEET - CALLERS)), count, CALLERS)
    for reader, writer in held:
        assert not reader.at_eof() and not reader._buffer, "a caller that had to wait was answered"
        writer.close()
    return taken


def measure(server: _lib.Server, count: int) -> tuple[_load.Round, float]:
    before = _lib.cpu(server.pid)
    taken = asyncio.run(beside_a_queue(server.port, count)).expect(200)
    told = json.loads(taken.last_body)
    if told["outcome"] != "disabled" or told["model_invoked"]:
        raise RuntimeError(f"expected the answer of a disabled node, got {told}")
    return taken, (_lib.cpu(server.pid) - before) / count * 1000


def main() -> int:
    """Measure, print the table, and with --check hold the bar."""
    args = _lib.arguments(__doc__.splitlines()[0], f"p99 < {P99:g} ms while {CALLERS} others queue")
    count, table = PROMPTS // 10 if args.quick else PROMPTS, []
    for name in _lib.stores():
        note = _lib.load_note()
        with _lib.store(name, FLEET) as store:
            subprocess.run([sys.executable, str(_lib.HERE / "_prompts.py")], env=store.env, check=True)
            for kind in _lib.servers():
                with _lib.server(kind, _lib.HUB, store) as server:
                    taken, cpu = measure(server, count)
                p50, p99 = taken.percentile(0.5), taken.percentile(0.99)
                table.append((name, kind, count, taken.rate, cpu, p50, p99))
        print(f"{note} before, {_lib.load_note()} after")
    _lib.table(HEADS, table)
    slow = [f"{name}, {kind}: p99 {p99:.0f} ms" for name, kind, *_, p99 in table if p99 >= P99]
    return _lib.verdict(slow, args.check)


if __name__ == "__main__":
    sys.exit(main())
