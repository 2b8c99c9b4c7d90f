"""What a person's pages say of new mail, wherever that person is on the site."""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db.models import Count, Max, OuterRef, Subquery
from django.db.models.functions import Coalesce

from inbox import rules
from inbox.models import Delivery
from roster.models import Agent


@dataclass(frozen=True, slots=True)
class Mailbox:
    """The inbox of a person in numbers: what is unread, what waits, and the newest message there ever was."""

    agent: int
    slug: str
    waiting: int
    unread: int
    newest: int


@dataclass(frozen=True, slots=True)
class Arrivals:
    """What came behind a number: how many messages, and of the newest its number, sender and subject."""

    count: int
    seq: int = 0
    sender: str | None = None
    subject: str = ""


def mailbox(user: User) -> Mailbox | None:
    """The mailbox of a person; None for a user who is no agent. One query: every page asks it."""
    mine = Delivery.objects.filter(recipient=OuterRef("pk")).order_by().values("recipient")
    unread = mine.filter(state__in=rules.PENDING, read_at=None).annotate(n=Count("pk")).values("n")
    newest = mine.annotate(n=Max("message")).values("n")
    counted = {"unread": Coalesce(Subquery(unread), 0), "newest": Coalesce(Subquery(newest), 0)}
    found = Agent.objects.filter(user=user).annotate(**counted).values_list("pk", "slug", "waiting", *counted).first()
    return Mailbox(*found) if found else None


def arrivals(agent: int, after: int) -> Arrivals:
    """What others sent to ``agent`` behind number ``after`` and nobody is done with yet."""
    came = Delivery.objects.filter(recipient=agent, message__gt=after, state__in=rules.PENDING)
    came = came.exclude(message__sender=agent)
    last = came.select_related("message__sender").defer("message__body").order_by("-message").first()
    if last is None:
        return Arrivals(0)
    sender = last.message.sender
    return Arrivals(came.count(), last.message_id, sender.slug if sender else None, last.message.subject)
