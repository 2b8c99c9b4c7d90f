"""Many hands in one inbox at the same time: nothing is handed out twice, nothing is counted twice (P19, P71)."""

from __future__ import annotations

from contextlib import suppress
from functools import partial

import pytest

from inbox import rules
from inbox.models import Delivery, Lease, Message
from inbox.services import leases, sending, settling
from roster.errors import Conflict
from roster.models import Agent, Event
from tests import make
from tests.inbox import post
from tests.inbox.crowd import Reader, outgoing, write
from tests.roster.fleet import minutes, seconds
from tests.together import at_once

pytestmark = pytest.mark.django_db(transaction=True)


def _filled(now, count: int, slug: str = "echo") -> Reader:
    """A reader with ``count`` messages waiting."""
    sender, _ = make.agent(f"to-{slug}", now)
    reader = Reader(slug, now)
    outcomes = sending.record([outgoing(sender, [slug], now, f"letter {n}") for n in range(count)])
    assert {type(each) for each in outcomes} == {sending.Sent}
    return reader


@pytest.mark.core
def test_eight_drains_at_once_share_out_an_inbox_P19_F022(now, soak):
    """One token, 500 messages, 50 a drain, until nobody gets any more: 20 rounds with --soak, 2 otherwise."""
    for turn in range(20 if soak else 2):
        reader = _filled(now, 500, f"echo-{turn}")

        def drains(reader=reader) -> list:
            return list(iter(lambda: post.counts(reader.drain(now, 50, 60)), []))

        handed = [each for mine in at_once(*[drains] * 8) for drain in mine for each in drain]
        assert len(handed) == len(dict(handed)) == 500
        assert {count for _, count in handed} == {1}
        stored = Delivery.objects.filter(recipient=reader.agent).values_list("state", "attempts", "lease")
        assert {(state, attempts) for state, attempts, _ in stored} == {("leased", 0)}
        assert len({lease for *_, lease in stored}) == 10
        assert Agent.objects.get(pk=reader.agent.pk).waiting == 0


@pytest.mark.core
def test_after_the_switch_commits_no_drain_hands_out_anything_P71(now, soak):
    """Six drains and the switch begin together. Whoever was given something was given it before the switch."""
    for turn in range(200 if soak else 10):
        reader = _filled(now, 6, f"echo-{turn}")

        def switch(reader=reader) -> int:
            """What was handed out by the moment it commits."""
            Agent.objects.filter(pk=reader.agent.pk).update(enabled=False)
            return Lease.objects.filter(agent=reader.agent).count()

        def drain(reader=reader) -> bool:
            return reader.drain(now, 1, 60)["lease"] is not None

        before, *given = at_once(switch, *[drain] * 6)
        assert sum(given) == before == Lease.objects.filter(agent=reader.agent).count()
        assert Delivery.objects.filter(recipient=reader.agent, state=rules.WAITING).count() == 6 - before


@pytest.mark.core
def test_of_two_who_ack_and_one_who_gives_back_one_wins_P71(now, soak):
    for turn in range(100 if soak else 5):
        reader = _filled(now, 1, f"echo-{turn}")
        lease = reader.drain(now, 1, 60)["lease"]
        seq = Delivery.objects.get(recipient=reader.agent).message_id

        def ack(reader=reader, lease=lease, seq=seq) -> str:
            try:
                return leases.ack(reader.at(now), [seq], lease)[0][0][1]
            except Conflict as refusal:
                return refusal.code

        def release(reader=reader, lease=lease, seq=seq) -> str:
            return leases.release(reader.at(now), lease, [seq])[0][0][1]

        said = tuple(sorted(at_once(ack, ack, release)))
        assert said in {("acked", "already_acked", "already_acked"), ("lease_expired", "lease_expired", "released")}
        assert Delivery.objects.get(message=seq).state == ("acked" if "acked" in said else "waiting")


@pytest.mark.core
def test_two_sweeps_at_once_count_each_lapse_once_and_tell_each_sender_once(now, soak):
    """Past the lock that keeps them apart, on the same leases at the same instant, until all is given up."""
    senders = [make.agent(f"scribe-{n}", now)[0] for n in range(8)]
    readers = [Reader(f"echo-{n}", now, liveness_mode="async") for n in range(8)]
    for sender in senders:
        write(sender, [reader.agent.slug for reader in readers], now)
    for turn in range(rules.MOST_ATTEMPTS):
        at = now + minutes(turn)
        for reader in readers:
            reader.drain(at, 50, 1)

        def sweep(at=at + seconds(1)) -> int:
            return sum(settling.settle_inbox(reader.agent.pk, at) for reader in readers)

        assert sum(at_once(sweep, sweep)) == 64
        assert set(Delivery.objects.values_list("attempts", flat=True)) == {turn + 1}
    untold = list(Message.objects.filter(kind="mail").values_list("pk", flat=True))

    def tell() -> int:
        return sum(settling.tell_sender(seq, now + minutes(9)) for seq in untold)

    assert sum(at_once(tell, tell)) == 8
    notices = Delivery.objects.filter(message__kind="system").values_list("recipient__slug", flat=True)
    assert sorted(notices) == [sender.slug for sender in senders]
    assert Event.objects.filter(kind="mail_dead").count() == 8


@pytest.mark.core
def test_sends_to_many_drains_sweeps_and_heartbeats_never_wait_for_each_other(now):
    """Letters to the same twenty in opposite orders, while the twenty drain, ack, beat and are swept: without one order
    of locking PostgreSQL ends one of any two that wait for each other."""
    readers = [Reader(f"echo-{n:02}", now) for n in range(20)]
    slugs = [reader.agent.slug for reader in readers]

    def sends(turn, order):
        sender = readers[turn % 20].agent
        for outcome in sending.record([outgoing(sender, order, now), outgoing(sender, order[:3], now)]):
            assert isinstance(outcome, sending.Sent), outcome

    def drains(turn):
        for reader in readers[turn % 4 :: 4]:
            at = now + minutes(turn)
            given = reader.drain(at, 3, 30)
            if given["lease"] and turn % 2:
                with suppress(Conflict):  # a sweep that plays a later minute has ended the lease already
                    leases.ack(reader.at(at), post.seqs(given)[:1], given["lease"])

    def sweeps(turn):
        for reader in reversed(readers):
            settling.settle_inbox(reader.agent.pk, now + minutes(turn))

    def beats(turn):
        for reader in readers[turn % 3 :: 3]:
            make.beat(reader.token, now + minutes(turn), session=f"session-{turn % 5}", status=f"working: {turn}")

    acts = (partial(sends, order=slugs), partial(sends, order=slugs[::-1]), drains, sweeps, beats)
    at_once(*(partial(_many_times, act) for act in acts))
    assert Delivery.objects.count() == 2 * 10 * 23
    for reader in readers:
        waiting = Delivery.objects.filter(recipient=reader.agent, state=rules.WAITING).count()
        assert Agent.objects.get(pk=reader.agent.pk).waiting == waiting


def _many_times(act) -> None:
    for turn in range(10):
        act(turn)
