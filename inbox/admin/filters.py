"""Filters of the lists of mail. Each ends in an index that has the messages' numbers in order."""

from __future__ import annotations

from django.contrib import admin
from django.contrib.admin.options import IncorrectLookupParameters

from inbox import rules
from inbox.models import IS_UNDONE, Delivery
from inbox.services import looks
from roster import clock
from roster.admin.filters import TypedFilter
from roster.models import Agent

HUB = "hub"  # as a sender: the notices of the hub itself, which have none


class OfOneAgent(TypedFilter):
    """Of the agent whose whole id is typed in; a subclass says in which way. Who asks looks into that agent's mail."""

    note = "A whole id."

    def queryset(self, request, rows):
        if not self.value:
            return rows
        agent = Agent.objects.filter(slug=self.value.lower()).first()
        if agent is None:
            return rows.none()
        if agent.user_id != request.user.pk:
            looks.audit(request.user.username, agent, clock.now())
        return self.of(agent, rows)


class SentBy(OfOneAgent):
    title, parameter = "sender", "from"
    note = f"A whole id; {HUB} for notices of the hub itself."

    def queryset(self, request, rows):
        return rows.filter(sender=None) if self.value == HUB else super().queryset(request, rows)

    def of(self, agent, rows):
        return rows.filter(sender=agent)


class SentTo(OfOneAgent):
    title, parameter = "recipient", "to"

    def of(self, agent, rows):
        return rows.filter(pk__in=Delivery.objects.filter(recipient=agent).values("message"))


class InboxOf(OfOneAgent):
    title, parameter = "recipient", "of"

    def of(self, agent, rows):
        return rows.filter(recipient=agent)


class Numbered(TypedFilter):
    note = "Its number."

    def narrow(self, rows):
        return rows.filter(**{self.parameter: number(self.value)})


class OfThread(Numbered):
    title = parameter = "thread"


class OfMessage(Numbered):
    title = parameter = "message"


class StateFilter(admin.SimpleListFilter):
    """What is done with fills the table: it is looked for in one inbox at a time."""

    title = parameter_name = "state"
    template = "admin/noted_filter.html"

    def __init__(self, request, params, model, model_admin):
        self.in_one_inbox = bool(request.GET.get(InboxOf.parameter))
        self.note = "" if self.in_one_inbox else "Acked and archived: for one recipient, who is typed in above."
        super().__init__(request, params, model, model_admin)

    def lookups(self, request, model_admin):
        return [(word, word) for word in (rules.STATES if self.in_one_inbox else rules.UNDONE)]

    def queryset(self, request, rows):
        if self.value() is None:
            return rows
        if self.value() not in dict(self.lookup_choices):
            raise IncorrectLookupParameters
        return rows.filter(state=self.value()) if self.in_one_inbox else rows.filter(IS_UNDONE, state=self.value())


def number(typed: str) -> int:
    """The number of a message as somebody types it."""
    digits = typed.removeprefix("#")
    if not (digits.isascii() and digits.isdecimal()):
        raise IncorrectLookupParameters
    return min(int(digits[:19]), 2**63 - 1)
