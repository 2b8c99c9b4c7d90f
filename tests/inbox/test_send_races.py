"""Many senders at the same time: keys, order, and cursors beside transactions that are still open."""

from __future__ import annotations

import asyncio
import random
import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from functools import partial
from queue import SimpleQueue

import pytest
from django.db import connection, connections, transaction

from inbox import queries
from inbox.models import Message, SendKey
from inbox.services import leases, sending
from roster.errors import Full, Invalid
from roster.offload import in_database
from tests import make
from tests.inbox import post
from tests.inbox.crowd import Reader, outgoing, write
from tests.services import wait_until
from tests.together import at_once

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.core
def test_one_key_used_twenty_times_at_once_stores_one_message_P28(now, soak):
    """Each in a transaction of its own, as through several web processes."""
    sender, _ = make.agent("scribe", now)
    Reader("echo", now)
    for turn in range(50 if soak else 2):
        key = f"key-{turn}"
        sent = at_once(*[lambda key=key: write(sender, ["echo"], now, key=key)] * 20)
        assert all(each == sent[0] for each in sent)
        assert SendKey.objects.filter(key=key).count() == 1
        assert Message.objects.count() == turn + 1


@pytest.mark.core
def test_of_two_letters_under_one_key_at_once_one_is_stored_and_the_other_refused_P28(now, soak):
    sender, _ = make.agent("scribe", now)
    Reader("echo", now)

    def send(body: str, key: str) -> str:
        try:
            write(sender, ["echo"], now, body, key=key)
            return body
        except Invalid as refusal:
            return refusal.code

    for turn in range(100 if soak else 5):
        said = at_once(*(partial(send, body, f"key-{turn}") for body in ("one", "other", "one", "other")))
        (stored,) = Message.objects.filter(pk__gt=turn).values_list("body", flat=True)
        assert Counter(said) == {stored: 2, "key_reused": 2}


async def test_one_key_that_comes_twenty_times_in_one_group_stores_one_message_P28(api):
    """Through the API, where one transaction writes them all."""
    (_, token), _ = await in_database(lambda: (make.agent("echo"), make.agent("bram")))
    headers = make.bearer(token, **{"Idempotency-Key": "once"})
    calls = [api.post("/api/messages", json={"to": "bram", "body": f"hi {n % 2}"}, headers=headers) for n in range(20)]
    answers = await asyncio.gather(*calls)
    assert Counter(each.status_code for each in answers) == {201: 10, 422: 10}
    first, *others = (each.json() for each in answers if each.status_code == 201)
    assert others == [first] * 9
    assert await in_database(Message.objects.count) == 1


@pytest.mark.core
def test_each_sender_is_read_in_its_order_however_many_write_at_once_P22(now, soak):
    """Four senders, each five letters at a time, and three readers that drain meanwhile, few at a time: 10,000 first
    deliveries with --soak, 240 otherwise."""
    count, most = (835, 12) if soak else (20, 3)
    senders = [make.agent(f"scribe-{n}", now)[0] for n in range(4)]
    readers = [Reader(f"echo-{n}", now) for n in range(3)]
    over, read = threading.Event(), defaultdict(list)

    def writes(sender):
        for first in range(0, count, 5):
            for reader in random.sample(readers, 3):
                _deliver(sender, reader.agent.slug, list(map(str, range(first, first + 5))), now)

    def all_write():
        at_once(*(partial(writes, sender) for sender in senders), patience=600)
        over.set()

    def reads(reader):
        last = False
        while not last:
            last = over.is_set()
            while (given := reader.drain(now, random.randint(1, most)))["messages"]:
                for each in given["messages"]:
                    read[each["from"], reader.agent.slug].append((each["seq"], int(each["body"])))
                leases.ack(reader.at(now), post.seqs(given), given["lease"])

    at_once(all_write, *(partial(reads, reader) for reader in readers), patience=600)
    assert len(read) == 12
    for got in read.values():
        assert [n for _, n in got] == list(range(count)) and got == sorted(got)


def _deliver(sender, slug: str, bodies: list[str], now) -> None:
    """In as few transactions as the inbox has room for."""
    while bodies:
        outcomes = sending.record([outgoing(sender, [slug], now, body) for body in bodies])
        bodies = bodies[sum(isinstance(each, sending.Sent) for each in outcomes) :]


class Held:
    """A send whose transaction stays open after it took its number, until it is let go; on a thread of its own."""

    def __init__(self, sender, to: str, now, numbered: SimpleQueue):
        self.to, self.seq = to, None
        self._send = partial(write, sender, [to], now)
        self._numbered, self._go = numbered, threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            with transaction.atomic():
                self.seq = self._send().seq
                self._numbered.put(self)
                self._go.wait(60)
        finally:
            connections.close_all()

    def commit(self) -> None:
        self._go.set()
        self._thread.join(60)
        assert not self._thread.is_alive()


class Tail:
    """Who follows numbers by a cursor: ``after`` gives the next few behind one."""

    def __init__(self, after: Callable[[int], Iterable[int]]):
        self.after, self.seen = after, []

    def follow(self) -> list[int]:
        """All that it has ever seen."""
        while new := list(self.after(self.seen[-1] if self.seen else 0)):
            assert not self.seen or new[0] > self.seen[-1]
            self.seen += new
        return self.seen


def tail(reader: Reader, now) -> Tail:
    """Of one inbox, by its pages."""
    return Tail(
        lambda after: [each.seq for each in queries.peek(reader.agent, now, state="all", after=after, limit=3).headers]
    )


def whole_tail() -> Tail:
    """Of all messages of the hub."""
    return Tail(lambda after: Message.objects.filter(pk__gt=after).order_by("pk").values_list("pk", flat=True)[:3])


@pytest.mark.core
def test_no_number_is_seen_before_a_lower_one_whose_transaction_is_still_open_P24_F024(now):
    """A has its number and does not commit; B, to somebody else, waits for it."""
    numbered = SimpleQueue()
    readers = [Reader("echo", now), Reader("bram", now)]
    tails = [whole_tail(), *(tail(reader, now) for reader in readers)]
    slow, quick = make.agent("slow", now)[0], make.agent("quick", now)[0]
    first = Held(slow, "echo", now, numbered)
    assert numbered.get(timeout=20) is first
    second = Held(quick, "bram", now, numbered)
    if connection.vendor == "postgresql":
        wait_until(_somebody_waits, what="the second send's wait")
    assert numbered.empty() and [each.follow() for each in tails] == [[], [], []]
    first.commit()
    assert numbered.get(timeout=20) is second
    second.commit()
    assert first.seq < second.seq
    assert [each.follow() for each in tails] == [[first.seq, second.seq], [first.seq], [second.seq]]


def _somebody_waits() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_locks WHERE NOT granted")
        return cursor.fetchone()[0] > 0


@pytest.mark.core
def test_nothing_is_lost_or_repeated_beside_transactions_that_stay_open_P24_F024(now, soak):
    """Sends begun and committed in random order, while others follow by cursor and drain: 1,000 interleavings with
    --soak, 12 otherwise."""
    chance, numbered = random.Random(24), SimpleQueue()
    senders = [make.agent(f"scribe-{n}", now)[0] for n in range(3)]
    readers = [Reader("echo", now), Reader("bram", now)]
    tails = [whole_tail(), *(tail(reader, now) for reader in readers)]
    drained, sent = ([], []), []
    for _ in range(1000 if soak else 12):
        begun = 0
        for step in sorted(["begin"] * 5 + ["commit"] * 5 + ["look"] * 4, key=lambda _: chance.random()):
            if step == "begin":
                Held(chance.choice(senders), chance.choice(readers).agent.slug, now, numbered)
                begun += 1
            elif step == "commit" and begun:
                begun -= _committed(numbered, sent)
            chance.choice(tails).follow()
            if not begun:
                _drain(chance.choice([0, 1]), readers, drained, now)
        for _ in range(begun):
            _committed(numbered, sent)
    for n in (0, 1):
        _drain(n, readers, drained, now)
    by_reader = [[each.seq for each in sent if each.to == reader.agent.slug] for reader in readers]
    expected = [[each.seq for each in sent], *by_reader]
    assert [each.follow() for each in tails] == expected and list(drained) == by_reader
    assert expected[0] == sorted(set(expected[0]))


def _committed(numbered: SimpleQueue, sent: list[Held]) -> int:
    each = numbered.get(timeout=30)
    each.commit()
    sent.append(each)
    return 1


def _drain(n: int, readers: list[Reader], drained: tuple[list, list], now) -> None:
    reader = readers[n]
    while (given := reader.drain(now, 4))["messages"]:
        drained[n].extend(post.seqs(given))
        leases.ack(reader.at(now), post.seqs(given), given["lease"])


@pytest.mark.core
def test_a_walk_through_an_inbox_shows_each_message_once_while_others_arrive_F103(now):
    """500 messages, 300 of them of one moment, in pages of 100, both ways, with one more after each page."""
    sender, _ = make.agent("scribe", now)
    reader = Reader("echo", now)
    moments = [now] * 300 + [now.replace(second=n % 60) for n in range(1, 201)]
    seqs = [each.seq for each in sending.record([outgoing(sender, ["echo"], at) for at in moments])]

    def walk(**first) -> list[int]:
        seen, where = [], first
        while where:
            page = queries.peek(reader.agent, now, limit=100, **where)
            seen += [each.seq for each in page.headers]
            write(sender, ["echo"], now)
            where = {name: page.next for name in where} if page.next else None
        return seen

    forth = walk(after=0)
    assert forth[:500] == seqs and forth == sorted(set(forth))
    back = walk(before=10**9)
    assert back[-500:] == seqs[::-1] and back == sorted(set(back), reverse=True)


@pytest.mark.core
def test_ten_thousand_letters_to_one_inbox_are_stopped_and_cost_nobody_else_P27_F076(now):
    """In groups, each with a letter to somebody else among them: 1,000 are taken, then one for each that is acked."""
    sender, _ = make.agent("scribe", now)
    flooded, other = Reader("flooded", now), Reader("other", now)
    outcomes, others = [], []
    for _ in range(25):
        group = [outgoing(sender, ["flooded"], now) for _ in range(400)]
        *stored, last = sending.record([*group, outgoing(sender, ["other"], now)])
        outcomes += stored
        others.append(last.seq)
    assert [type(each) for each in outcomes] == [sending.Sent] * 1000 + [Full] * 9000
    assert {each.detail["pending"] for each in outcomes[1000:]} == {1000}
    assert post.seqs(other.drain(now)) == others
    given = flooded.drain(now, 3)
    leases.ack(flooded.at(now), post.seqs(given), given["lease"])
    again = sending.record([outgoing(sender, ["flooded"], now)] * 5)
    assert [type(each) for each in again] == [sending.Sent] * 3 + [Full] * 2
