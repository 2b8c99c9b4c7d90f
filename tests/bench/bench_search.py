"""What a search for words costs, in process, as the hub fills: for somebody with 50 messages, and with a tenth of all.

    python tests/bench/bench_search.py [--check] [--quick]

The words that are frequent in the mail of others are the hard ones. A search stops after so much: where it found
nothing by then, the table says 0 hits, and the next page goes on there. ``growth`` is the CPU against the fewest
messages; it does not count what PostgreSQL used.
"""

from __future__ import annotations

import json
import subprocess
import sys

import _lib

AGENTS, MESSAGES, QUICK = 50, (10_000, 100_000), (1_000, 10_000)
MOST_MS = 100.0
CPU = -2  # its place in a row
HEADS = ("store", "own mail", "what is looked for", "messages", "hits", "CPU ms", "ms", "growth")


def of_store(name: str, messages: int) -> list[tuple]:
    with _lib.store(name, AGENTS) as store:
        command = [sys.executable, str(_lib.HERE / "_search.py"), str(messages)]
        done = subprocess.run(command, env=store.env, check=True, stdout=subprocess.PIPE, text=True)
    return [(name, caller, what, messages, *figures) for caller, what, *figures in json.loads(done.stdout)]


def failures(table: list[tuple]) -> list[str]:
    return [
        f"{store}, {what}, {messages:,} messages: {ms:.0f} ms, not {MOST_MS:g}"
        for store, caller, what, messages, _, _, ms, _ in table
        if caller == "50" and ms > MOST_MS
    ]


def main() -> int:
    """Measure, print the table, and with --check hold the bar."""
    args = _lib.arguments(__doc__.splitlines()[0], f"with 50 messages of one's own <= {MOST_MS:g} ms")
    table = []
    for name in _lib.stores():
        note = _lib.load_note()
        few, many = (of_store(name, messages) for messages in (QUICK if args.quick else MESSAGES))
        of_this = [
            (*row, row[CPU] / first[CPU]) for pair in zip(few, many, strict=True) for first in pair[:1] for row in pair
        ]
        print(f"{note} before, {_lib.load_note()} after")
        _lib.table(HEADS, of_this)
        table += of_this
    return _lib.verdict(failures(table), args.check)


if __name__ == "__main__":
    sys.exit(main())
