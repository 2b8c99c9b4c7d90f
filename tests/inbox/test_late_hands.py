"""Whoever comes too late, or whose row is damaged, hears the same whatever a sweep has written down meanwhile."""

from __future__ import annotations

import pytest

from inbox.models import Delivery
from inbox.services import leases, settling, sweeping
from roster.errors import Conflict
from roster.models import Agent
from tests import make
from tests.inbox import post
from tests.inbox.crowd import Reader, write
from tests.roster.fleet import seconds

pytestmark = pytest.mark.django_db


@pytest.fixture
def reader(now) -> Reader:
    """With one message, which it took for ten seconds as ``reader.lease``."""
    sender, _ = make.agent("scribe", now)
    reader = Reader("echo", now)
    write(sender, ["echo"], now)
    reader.lease = reader.drain(now, 10, 10)["lease"]
    return reader


@pytest.mark.core
def test_a_lease_that_lapsed_counts_as_a_failed_delivery(now, reader):
    assert settling.settle_inbox(reader.agent.pk, now + seconds(10)) == 1
    assert Delivery.objects.values_list("state", "attempts", "lease").get() == ("waiting", 1, None)
    assert Agent.objects.get(slug="echo").waiting == 1


@pytest.mark.parametrize("swept", [False, True])
def test_an_ack_comes_too_late_also_where_another_session_holds_the_message_f028(now, reader, swept):
    late = now + seconds(10)
    if swept:
        settling.settle_inbox(reader.agent.pk, late)
    assert _refused(lambda: leases.ack(reader.at(late), [1], reader.lease)) == "lease_expired"
    second = reader.drain(late, 10, 30)["lease"]
    assert _refused(lambda: leases.ack(reader.at(late), [1], reader.lease)) == "lease_expired"
    assert _refused(lambda: leases.ack(reader.at(late), [1])) == "held"
    assert leases.ack(reader.at(late), [1], second)[0] == [(1, "acked")]


@pytest.mark.parametrize("swept", [False, True])
def test_a_lapsed_lease_cannot_be_given_back_and_one_given_back_can_be_again(now, reader, swept):
    late = now + seconds(10)
    if swept:
        settling.settle_inbox(reader.agent.pk, late)
    assert _refused(lambda: leases.release(reader.at(late), reader.lease)) == "lease_expired"
    second = reader.drain(late, 10, 30)["lease"]
    assert leases.release(reader.at(late), second)[0] == [(1, "released")]
    if swept:
        settling.settle_inbox(reader.agent.pk, late + seconds(60))
    assert leases.release(reader.at(late + seconds(60)), second)[0] == []


@pytest.mark.parametrize("swept", [False, True])
def test_an_ack_without_a_lease_forgets_no_delivery_that_lapsed(now, reader, swept):
    late = now + seconds(10)
    if swept:
        settling.settle_inbox(reader.agent.pk, late)
    assert leases.ack(reader.at(late), [1])[0] == [(1, "acked")]
    assert post.counts(post.peek("echo", late, "acked")) == [(1, 1)]


def test_what_was_acked_was_delivered(now, reader):
    """As often as it was handed over, for good (F022, F029)."""
    second = reader.drain(now + seconds(10), 10, 30)["lease"]
    leases.ack(reader.at(now + seconds(11)), [1], second)
    assert post.counts(post.peek("echo", now + seconds(12), "acked")) == [(1, 2)]
    sweeping.archive(now + seconds(11), now + seconds(60), 10)
    assert post.counts(post.peek("echo", now + seconds(60), "archived")) == [(1, 2)]


def _refused(act) -> str:
    with pytest.raises(Conflict) as refusal:
        act()
    return refusal.value.code


def test_a_letter_whose_sender_has_a_damaged_row_is_not_stored_behind_its_refusal(now):
    sender, _ = make.agent("scribe", now)
    Reader("echo", now)
    Agent.objects.filter(pk=sender.pk).update(heard={"one": "damaged", "two": "damaged"})
    with pytest.raises(TypeError):
        write(sender, ["echo"], now)
    assert not Delivery.objects.exists()
