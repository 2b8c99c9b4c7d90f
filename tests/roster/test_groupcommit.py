"""Group commit: what arrives while a write runs is written together next, and each gets its own outcome."""

from __future__ import annotations

import asyncio
import threading

import pytest
from asgiref.sync import sync_to_async
from django.db import OperationalError, connections

from roster import access, beats, errors
from roster.groupcommit import LARGEST, GroupCommit
from roster.models import Agent
from roster.services import presence
from tests import make
from tests.services import wait_until

from .fleet import edges, seconds


class Gate:
    """A write that can be held, so that the next group gathers behind it."""

    def __init__(self):
        self.groups: list[list] = []
        self.open = threading.Event()

    def __call__(self, items: list) -> list:
        self.groups.append(items)
        assert self.open.wait(10)
        return [item * 2 for item in items]


@pytest.fixture
def gate():
    made = Gate()
    yield made
    made.open.set()


def held(gate) -> GroupCommit:
    """A group commit whose writer is at work on the item 0."""
    group = GroupCommit(gate, "test")
    group.submit(0)
    wait_until(lambda: gate.groups, what="the first write")
    return group


async def outcomes(*futures) -> list:
    return await asyncio.wait_for(asyncio.gather(*futures, return_exceptions=True), 10)


async def test_what_arrives_during_a_write_is_written_together_and_in_order(gate):
    group = held(gate)
    futures = [group.submit(i) for i in range(1, 50)]
    assert not any(future.done() for future in futures)  # nothing is answered before its write is through
    gate.open.set()
    assert await outcomes(*futures) == [i * 2 for i in range(1, 50)]
    assert gate.groups == [[0], list(range(1, 50))]


async def test_a_lone_item_does_not_wait_for_company(gate):
    gate.open.set()
    assert await outcomes(GroupCommit(gate, "test").submit(21)) == [42]


async def test_a_group_has_a_largest_size(gate):
    group = held(gate)
    futures = [group.submit(i) for i in range(LARGEST + 1)]
    gate.open.set()
    await outcomes(*futures)
    assert [len(each) for each in gate.groups] == [1, LARGEST, 1]


async def test_one_refused_item_costs_the_others_nothing():
    group = GroupCommit(lambda items: [errors.Unauthorized() if item == 2 else item for item in items], "test")
    zero, one, two, three = await outcomes(*(group.submit(i) for i in range(4)))
    assert (zero, one, three) == (0, 1, 3)
    assert isinstance(two, errors.Unauthorized)


async def test_a_cancelled_item_is_not_written(gate):
    """Whoever gave up waiting was told so: it must not happen behind its back."""
    group = held(gate)
    given_up, kept = group.submit(1), group.submit(2)
    assert given_up.cancel()
    gate.open.set()
    assert await outcomes(kept) == [4]
    assert gate.groups[1] == [2]
    assert given_up.cancelled()


async def test_a_group_of_none_but_cancelled_ones_is_no_write(gate):
    group = held(gate)
    assert group.submit(1).cancel()
    gate.open.set()
    assert await outcomes(group.submit(2)) == [4]
    assert not any(1 in each for each in gate.groups)


async def test_one_who_gives_up_during_its_write_disturbs_nobody(gate):
    group = GroupCommit(gate, "test")
    first = group.submit(1)
    wait_until(lambda: gate.groups, what="the write")
    first.cancel()
    gate.open.set()
    assert await outcomes(group.submit(2)) == [4]


async def test_where_the_write_fails_everybody_of_the_group_hears_it_and_the_next_group_is_written(gate):
    group = held(gate)

    def write(items):
        group._write = gate  # only this once
        raise OperationalError("database is locked")

    futures = [group.submit(i) for i in range(1, 4)]
    group._write = write
    gate.open.set()
    found = await outcomes(*futures)
    assert [type(each) for each in found] == [OperationalError] * 3
    assert await outcomes(group.submit(2)) == [4]


def test_callers_of_many_loops_get_each_their_own_outcome():
    group: GroupCommit[int] = GroupCommit(lambda items: [item * 2 for item in items], "test")
    found: dict[int, list[int]] = {}

    async def ask(first: int) -> None:
        found[first] = [(await outcomes(group.submit(first + i)))[0] for i in range(100)]

    threads = [threading.Thread(target=lambda first=first: asyncio.run(ask(first))) for first in range(0, 8000, 1000)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert found == {first: [(first + i) * 2 for i in range(100)] for first in range(0, 8000, 1000)}


def test_a_loop_that_ended_meanwhile_stops_nobody_else(gate):
    group = GroupCommit(gate, "test")

    async def leave() -> None:
        group.submit(1)
        wait_until(lambda: gate.groups, what="the write")

    asyncio.run(leave())
    gate.open.set()

    async def come() -> list:
        return await outcomes(group.submit(2))

    assert asyncio.run(come()) == [4]


# ---- with real heartbeats -------------------------------------------------------------------------------------------


def beat(token: str, at, slug=None, **said) -> presence.Beat:
    return presence.Beat(access.digest(token), slug, beats.Said(**said, given=frozenset(said)), at)


@pytest.mark.django_db
def test_a_group_of_heartbeats_gives_each_its_own_answer(now):
    _, one = make.agent("one", now, liveness_mode="async")
    _, two = make.agent("two", now, liveness_mode="async")
    later = now + seconds(5)
    group = [
        beat(one, later), beat("agora_a_wrong", later), beat(two, later, "one"), beat(two, later, status="busy"),
        beat(one, later, "nobody"), beat(one, later + seconds(1), status="working: notes"),
    ]  # fmt: skip
    found = presence.record(group)
    assert [type(each).__name__ for each in found] == [
        "Heard", "Unauthorized", "Forbidden", "Heard", "NotRegistered", "Heard",
    ]  # fmt: skip
    assert Agent.objects.get(slug="one").last_seen == later + seconds(1)
    assert Agent.objects.get(slug="one").task == "notes"
    assert Agent.objects.get(slug="two").status == "busy"


@pytest.mark.django_db
def test_two_heartbeats_of_one_agent_in_a_group_count_one_after_the_other(now):
    _, token = make.agent("one", now, liveness_mode="async", expected_interval=60)
    later = now + seconds(600)
    pair = [beat(token, later, status="error"), beat(token, later + seconds(1), status="idle")]
    first, second = presence.record(pair)
    assert (first.before.word, second.before.word) == ("dormant", "live")
    assert edges("one")[1:] == [("dormant", "live")]


@pytest.mark.django_db
def test_the_cost_of_a_group_does_not_grow_with_its_size(now, django_assert_max_num_queries):
    tokens = [make.agent(f"a-{i:03}", now, liveness_mode="async")[1] for i in range(60)]
    with django_assert_max_num_queries(6):
        presence.record([beat(token, now + seconds(5)) for token in tokens])
    assert set(Agent.objects.values_list("last_seen", flat=True)) == {now + seconds(5)}


@pytest.mark.django_db(transaction=True)
async def test_an_answered_heartbeat_is_committed_before_its_answer(now):
    """Design rule 5: another connection sees it at once."""

    def write(items):
        try:
            return presence.record(items)
        finally:
            connections.close_all()

    def last_seen():
        return Agent.objects.get().last_seen

    _, token = await sync_to_async(make.agent)("one", now, liveness_mode="async")
    group: GroupCommit[presence.Beat] = GroupCommit(write, "test")
    for i in range(1, 20):
        await outcomes(group.submit(beat(token, now + seconds(i))))
        assert await sync_to_async(last_seen)() == now + seconds(i)
