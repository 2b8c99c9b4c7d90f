"""Small words for what the tests of mail do again and again: write, take, be done, look, let the sweep pass.

Everything takes the moment at which it happens; a refusal is raised.
"""

from __future__ import annotations

from datetime import datetime

from inbox import letters, plans, queries, schemas
from inbox.models import Delivery, Message
from inbox.services import leases, sending, sweeping
from roster import access
from roster.models import Agent, SweepRun


def send(token: str, to, at: datetime, body: str = "hello", *, key: str | None = None, as_slug: str | None = None,
         **more) -> sending.Sent:  # fmt: skip
    """One send, written like every other."""
    names, many = letters.addressed(to)
    letter = letters.Letter(names, body, many=many, **more)
    outcome = sending.record([sending.Outgoing(letter, at, access.digest(token), as_slug, key=key)])[0]
    if isinstance(outcome, Exception):
        raise outcome
    return outcome


def line(sent: sending.Sent) -> dict:
    """What the sender was told of its one recipient."""
    (only,) = sent.deliveries
    return only


def hand(token: str, slug: str, at: datetime) -> leases.Hand:
    return leases.Hand(access.caller(access.digest(token)), slug, at)


def drain(token: str, slug: str, at: datetime, limit: int = 50, seconds: int = 120, session: str = "") -> dict:
    """What a drain hands over, as the API gives it."""
    return schemas.drained(leases.drain(hand(token, slug, at), limit, seconds, session))


def ack(token: str, slug: str, at: datetime, seqs: list[int], lease: str | None = None) -> list[str]:
    """What became of each of ``seqs``."""
    return [result for _, result in leases.ack(hand(token, slug, at), seqs, lease)[0]]


def extend(token: str, slug: str, at: datetime, lease: str, seconds: int = 120) -> datetime:
    """When the lease ends now."""
    return leases.extend(hand(token, slug, at), lease, seconds).until


def release(token: str, slug: str, at: datetime, lease: str, seqs: list[int] | None = None) -> list[str]:
    return [result for _, result in leases.release(hand(token, slug, at), lease, seqs)[0]]


def peek(slug: str, at: datetime, state: str = queries.PENDING) -> dict:
    """An inbox as its owner sees it."""
    agent = Agent.objects.get(slug=slug)
    return schemas.peek(queries.peek(agent, at, state=state, limit=500), own=True)


def seqs(told: dict) -> list[int]:
    """The numbers of the messages of a peek or a drain."""
    return [each["seq"] for each in told["messages"]]


def counts(told: dict) -> list[tuple[int, int]]:
    """(number, delivery count) of the messages of a peek or a drain."""
    return [(each["seq"], each["delivery_count"]) for each in told["messages"]]


def sweep(at: datetime) -> SweepRun:
    run = sweeping.run(plans.PLAN, at)
    assert run is not None and run.errors == 0, "another run is under way, or this one failed"
    return run


def states(slug: str) -> dict[int, str]:
    """The stored state of each message in an inbox, by number."""
    return dict(Delivery.objects.filter(recipient__slug=slug).values_list("message", "state"))


def notices(slug: str) -> list[Message]:
    """The system notices that an agent got."""
    return list(Message.objects.filter(kind="system", deliveries__recipient__slug=slug).order_by("pk"))
