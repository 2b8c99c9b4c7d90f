"""The record of prompts in the admin: to read, since it only grows."""

from __future__ import annotations

from django.contrib import admin

from inbox import turns
from inbox.models import Exchange
from inbox.queries import record
from roster import clock
from roster.admin.filters import TypedFilter
from roster.models import Agent
from roster.templatetags.agora import plain

from .mail import NONE, SUBJECT, MailAdmin, in_words, link_to, preformatted


class OfSide(TypedFilter):
    """Of the agent whose whole id is typed in, on one of the two sides. Every person may read every record."""

    note = "A whole id."

    def narrow(self, rows):
        agent = Agent.objects.filter(slug=self.value.lower()).first()
        return rows.filter(**{self.parameter: agent}) if agent else rows.none()


class Asked(OfSide):
    title = parameter = "target"


class AskedBy(OfSide):
    title = parameter = "caller"


class OpenFilter(admin.SimpleListFilter):
    """What has ended fills the table; what is open is few."""

    title = parameter_name = "state"

    def lookups(self, request, model_admin):
        return [(word, word) for word in turns.OPEN]

    def queryset(self, request, rows):
        return rows.filter(state=self.value(), state__in=turns.OPEN) if self.value() in turns.OPEN else rows


@admin.register(Exchange)
class ExchangeAdmin(MailAdmin):
    about = "What each agent was asked, by whom, and what came of it. It only grows; a node's page shows it as a conversation."
    list_display = ("number", "asked_at", "caller", "target", "titled", "state_now", "outcome")
    list_filter = (Asked, AskedBy, OpenFilter)
    list_select_related = ("prompt", "caller", "target")
    ordering = ("-prompt",)
    fields = ("message", "caller", "target", "titled", "asked", "state_now", "outcome", "answered", "why", "model_invoked",
              "asked_at", "started_at", "finished_at", "lease_until", "session")  # fmt: skip

    def outside(self, exchanges):
        return exchanges.defer("prompt__body")

    @admin.display(description="exchange")
    def number(self, exchange):
        return f"#{exchange.pk}"

    @admin.display(description="prompt")
    def message(self, exchange):
        return link_to(exchange.pk)

    @admin.display(description="subject")
    def titled(self, exchange):
        return plain(exchange.prompt.subject or "no subject", SUBJECT)

    @admin.display(description="state")
    def state_now(self, exchange):
        return turns.state(exchange.facts(), clock.now())

    @admin.display(description="asked")
    def asked(self, exchange):
        return preformatted(exchange.prompt.body)

    @admin.display(description="answer")
    def answered(self, exchange):
        said = record.of(exchange, clock.now()).answer
        return NONE if said is None else preformatted(said)

    @admin.display(description="error")
    def why(self, exchange):
        return in_words(record.of(exchange, clock.now()).error)
