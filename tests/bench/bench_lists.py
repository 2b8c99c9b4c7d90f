"""The fleet as JSON and the roster page's first rows: CPU, queries and gzipped size, in this process.

    python tests/bench/bench_lists.py [--quick]

No bar is held here yet. ``1,000 as JSON`` is two calls of 500, the longest page that the API gives.
"""

from __future__ import annotations

import gzip
import json
import statistics
import subprocess
import sys
import time

import _lib

SIZES = (1_000, 10_000, 100_000)
ROUNDS, WARM_UP = 9, 2
HEADS = ("store", "what", "agents", "CPU ms", "queries", "kB gzipped", "growth")


def of_json() -> list[bytes]:
    """The first thousand agents as the API answers them."""
    from django.utils import timezone

    from roster import queries, schemas

    bodies, after = [], ""
    for _ in range(2):
        page = queries.page(queries.Selection(limit=500, after=after), timezone.now())
        told = {"agents": [schemas.agent(row) for row in page.rows], "next": page.next, "version": page.version}
        bodies.append(json.dumps(told).encode())
        after = page.next or ""
    return bodies


def page_client():
    from django.contrib.auth.models import Group, User
    from django.test import Client
    from django.utils import timezone

    from roster.services import people

    people.make_roles()
    user = User.objects.create_user("viewer")
    user.groups.add(Group.objects.get(name="viewer"))
    people.welcome(user, by="benchmark", now=timezone.now())
    client = Client(headers={"host": "localhost"})
    client.force_login(user)
    return client


def measure(work) -> tuple[float, int, float]:
    """Medians of CPU milliseconds and queries, and the gzipped size in kB."""
    from django.db import connection

    rounds = []
    for _ in range(WARM_UP + ROUNDS):
        queries = []
        began = time.process_time()
        with connection.execute_wrapper(_lib.counting(queries)):
            bodies = work()
        rounds.append(((time.process_time() - began) * 1000, len(queries)))
    cpu, queries = (statistics.median(values) for values in zip(*rounds[WARM_UP:], strict=True))
    return cpu, int(queries), sum(len(gzip.compress(body)) for body in bodies) / 1000


def in_the_store() -> None:
    """The part that runs with a store's environment; prints its rows as JSON."""
    _lib.set_up_django()
    client = page_client()

    def page():
        answer = client.get("/")
        assert answer.status_code == 200, answer.status_code
        return [answer.content]

    print(json.dumps({"1,000 as JSON": measure(of_json), "roster page, 50 rows": measure(page)}))


def of_store(name: str, size: int) -> dict[str, list]:
    with _lib.store(name, size) as store:
        done = subprocess.run([sys.executable, __file__, "--in-the-store"], env=store.env, check=True,
                              stdout=subprocess.PIPE, text=True)  # fmt: skip
    return json.loads(done.stdout)


def main() -> int:
    """Measure and print the table."""
    args, note = _lib.arguments(__doc__.splitlines()[0], "none yet"), _lib.load_note()
    sizes = SIZES[:2] if args.quick else SIZES
    table = []
    for name in _lib.stores():
        found = {size: of_store(name, size) for size in sizes}
        for what, (first, *_) in found[sizes[0]].items():
            table += [(name, what, size, *each[what], each[what][0] / first) for size, each in found.items()]
    print(f"{note} before, {_lib.load_note()} after; growth of CPU: against {sizes[0]:,} agents")
    _lib.table(HEADS, table)
    return 0


if __name__ == "__main__":
    sys.exit(in_the_store() if "--in-the-store" in sys.argv else main())
