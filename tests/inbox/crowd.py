"""Many letters and many hands at once, written by the services that the calls use."""

from __future__ import annotations

from datetime import datetime

from inbox import letters
from inbox.services import leases, sending
from roster import access
from roster.models import Agent
from tests import make
from tests.inbox import post


class Reader:
    """An agent that reads its mail."""

    def __init__(self, slug: str, now: datetime, **said):
        self.agent, self.token = make.agent(slug, now, **said)
        self.who = access.caller(access.digest(self.token))

    def at(self, now: datetime) -> leases.Hand:
        """Its hand in its own inbox at ``now``."""
        return leases.Hand(self.who, self.agent.slug, now)

    def drain(self, now: datetime, limit: int = 50, seconds: int = 120, session: str = "") -> dict:
        """What a drain hands over, as the API gives it."""
        return post.drain(self.token, self.agent.slug, now, limit, seconds, session)


def outgoing(sender: Agent, to: list[str], at: datetime, body: str = "hello", key: str | None = None, **more):
    return sending.Outgoing(letters.Letter(tuple(to), body, **more), at, sender=sender.pk, key=key)


def write(sender: Agent, to: list[str], at: datetime, body: str = "hello", **more) -> sending.Sent:
    """One send, in a transaction of its own; raises its refusal."""
    (outcome,) = sending.record([outgoing(sender, to, at, body, **more)])
    if isinstance(outcome, Exception):
        raise outcome
    return outcome
