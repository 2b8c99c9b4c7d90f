"""Fills a store with mail of many words, past the services, and looks for some of them in one process. A script of its
own, so that each store has its own Django: python tests/bench/_search.py MESSAGES"""

import itertools
import json
import random
import statistics
import sys
import time

import _lib

BATCH, ROUNDS = 5_000, 9
OF_FEW, SHARE_OF_MANY = 50, 10  # messages of the one caller; one in so many is the other's
WORDS, LENGTH = 20_000, 80  # different ones, by Zipf's law; words a message
FEW, MANY = 1, 2  # the numbers of the two agents that look


def fill(count: int, words: list[str]) -> None:
    """``elsewhere`` is in all messages but those of the two who look, ``everywhere`` in all, ``rare`` in ten."""
    from django.db import connection, transaction
    from django.utils import timezone

    from inbox.models import Delivery, Message
    from roster.models import Agent
    from roster.services.rows import insert

    chance, shares = random.Random(1), list(itertools.accumulate(1 / (n + 1) for n in range(WORDS)))
    keys, now = list(Agent.objects.order_by("pk").values_list("pk", flat=True)), timezone.now()
    for first in range(0, count, BATCH):
        messages, deliveries = [], []
        for n in range(first, min(first + BATCH, count)):
            to = FEW if n % (count // OF_FEW) == 0 else MANY if n % SHARE_OF_MANY == 1 else 3 + n % (len(keys) - 3)
            text = chance.choices(words, cum_weights=shares, k=LENGTH) + ["everywhere"]
            text += ["elsewhere"] * (to not in (FEW, MANY)) + ["rare"] * (n % (count // 10) == 1)
            body = " ".join(text)
            messages.append(Message(seq=n + 1, thread=n + 1, sender_id=keys[0], subject="Release notes", body=body,
                                    size=len(body), sent_at=now))  # fmt: skip
            deliveries.append(Delivery(message_id=n + 1, recipient_id=keys[to], addressed_as="bench", size=len(body),
                                       state="acked", acked_at=now))  # fmt: skip
        with transaction.atomic():
            insert(messages)
            insert(deliveries)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")


def look(words: list[str]) -> None:
    """Prints as JSON, by caller and by what is looked for: the number of hits, the median CPU of this process and the
    least time, in ms. Other work on the machine makes the time longer, never shorter."""
    from inbox.queries import search
    from roster.models import Agent

    asked = {"in all messages": "everywhere", "in all of others": "elsewhere", "in ten": "rare", "in none": "absent",
             "beginning with a letter": words[0][0], "in one of 30": words[300], "a phrase": '"release notes" ' + words[3]}  # fmt: skip
    found = []
    for caller, number in (("50", FEW), ("a tenth", MANY)):
        agent = Agent.objects.get(slug=_lib.slug(number)).pk
        for what, text in asked.items():
            times, cpu, hits = zip(*[_timed(search.find, agent, text) for _ in range(1 + ROUNDS)], strict=True)
            found.append((caller, what, hits[0], statistics.median(cpu[1:]), min(times[1:])))
    print(json.dumps(found))


def _timed(find, agent: int, text: str) -> tuple[float, float, int]:
    began, cpu = time.perf_counter(), time.process_time()
    found = find(agent, text)
    return (time.perf_counter() - began) * 1000, (time.process_time() - cpu) * 1000, len(found.hits)


if __name__ == "__main__":
    _lib.set_up_django()
    letters = random.Random(2)
    vocabulary = [
        "".join(letters.choices("abcdefghijklmnopqrstuvwxyz", k=letters.randint(2, 10))) for _ in range(WORDS)
    ]
    fill(int(sys.argv[1]), vocabulary)
    look(vocabulary)
