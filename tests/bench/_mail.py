"""Fills the inboxes of a store, past the services, and measures the reads in one process. A script of its own, so that
each store has its own Django: python tests/bench/_mail.py fill MESSAGES | read"""

import json
import statistics
import sys
import time
from datetime import timedelta

import _lib

BATCH = 5_000
WAITING = 20  # messages in each inbox that nobody has acked; the rest of the mail is old
ROUNDS, REPEATS = 7, 40


def fill(count: int) -> None:
    """Mail between all agents: the newest ``WAITING`` of each inbox wait, the older ones were acked."""
    from django.utils import timezone

    from inbox.models import Delivery, Message
    from roster.models import Agent, Counter

    keys = list(Agent.objects.order_by("pk").values_list("pk", flat=True))[: max(1, count // WAITING)]
    now, old = timezone.now(), count - WAITING * len(keys)
    for first in range(0, count, BATCH):
        numbers = range(first, min(first + BATCH, count))
        Message.objects.bulk_create([
            Message(seq=n + 1, thread=n + 1, sender_id=keys[(n + 1) % len(keys)], subject=f"Release notes {n}",
                    body=f"Step {n} is done; the next one begins.\n" * 5, size=200, sent_at=now - timedelta(days=1))
            for n in numbers
        ], batch_size=500)  # fmt: skip
        Delivery.objects.bulk_create([
            Delivery(message_id=n + 1, recipient_id=keys[n % len(keys)], addressed_as="bench", size=200,
                     state="acked" if n < old else "waiting", acked_at=now if n < old else None)
            for n in numbers
        ], batch_size=500)  # fmt: skip
    Counter.objects.update_or_create(name="mail", defaults={"value": count})
    Agent.objects.filter(pk__in=keys).update(waiting=WAITING)


def read() -> None:
    """Prints as JSON, for each read, the median CPU and time in ms and the number of queries."""
    from django.db import connection
    from django.utils import timezone

    from inbox import queries
    from roster.models import Agent

    agent, now = Agent.objects.get(slug=_lib.slug(1)), timezone.now()
    works = {"unread count": lambda: queries.unread(agent), "peek": lambda: queries.peek(agent, now)}
    found = {}
    for what, work in works.items():
        asked = []
        with connection.execute_wrapper(_lib.counting(asked)):
            assert work()
        rounds = [_timed(work) for _ in range(1 + ROUNDS)][1:]
        seconds, cpu = (statistics.median(each) / REPEATS * 1000 for each in zip(*rounds, strict=True))
        found[what] = (seconds, cpu, len(asked))
    print(json.dumps(found))


def _timed(work) -> tuple[float, float]:
    began, cpu = time.perf_counter(), time.process_time()
    for _ in range(REPEATS):
        work()
    return time.perf_counter() - began, time.process_time() - cpu


if __name__ == "__main__":
    _lib.set_up_django()
    fill(int(sys.argv[2])) if sys.argv[1] == "fill" else read()
