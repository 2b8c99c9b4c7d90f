"""What a query finds in a state is what the rules say is in it: the rules are written twice, and held equal here."""

from __future__ import annotations

from datetime import timedelta
from itertools import product

import pytest

from inbox import queries, rules
from inbox.models import Delivery, Lease, Message
from tests import make

AROUND = (None, -60, -0.000001, 0, 0.000001, 60)  # seconds from the moment that is asked about
EVERY = [
    (state, attempts, ends, expires)
    for state, attempts, ends, expires in product(rules.STATES, range(rules.MOST_ATTEMPTS + 1), AROUND, AROUND)
    if not (state == rules.LEASED and ends is None)
    and not (state in rules.PENDING and attempts == rules.MOST_ATTEMPTS)  # what failed so often is dead at once
]


@pytest.mark.core
@pytest.mark.django_db
def test_a_query_finds_each_delivery_in_the_state_that_the_rules_give_it(now):
    """Every stored state with all attempts, and with ends of the lease and of the message on the moment and around it."""
    agent, _ = make.agent("echo", now)
    _store(agent, now)
    stored = Delivery.objects.select_related("lease")
    said = {each.message_id: rules.state(each.facts(), now) for each in stored}
    assert len(said) == len(EVERY) and set(said.values()) == set(rules.STATES)
    wanted = {state: (state,) for state in rules.STATES} | {queries.PENDING: rules.PENDING, queries.ALL: rules.STATES}
    for state, words in wanted.items():
        found = queries.peek(agent, now, state=state, limit=len(EVERY)).headers
        assert {each.seq for each in found} == {seq for seq, word in said.items() if word in words}, state
        assert {each.seq: each.state for each in found}.items() <= said.items()
    counts = {state: list(said.values()).count(state) for state in (rules.WAITING, rules.LEASED, rules.DEAD)}
    assert queries.counts(agent, now) == counts | {"unread": counts[rules.WAITING] + counts[rules.LEASED]}


def _store(agent, now) -> None:
    def at(offset):
        return None if offset is None else now + timedelta(seconds=offset)

    leases = {None: None} | {
        ends: Lease.objects.create(key=str(ends), agent=agent, began_at=now - timedelta(hours=1), until=at(ends))
        for ends in AROUND
        if ends is not None
    }
    Message.objects.bulk_create(
        Message(seq=seq, body="x", size=1, thread=seq, sent_at=now) for seq in range(1, len(EVERY) + 1)
    )
    Delivery.objects.bulk_create(
        Delivery(message_id=seq, recipient=agent, addressed_as="echo", state=state, attempts=attempts, size=1,
                 lease=leases[ends], expires_at=at(expires))
        for seq, (state, attempts, ends, expires) in enumerate(EVERY, 1)
    )  # fmt: skip
