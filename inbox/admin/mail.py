"""Messages and their deliveries: what the hub stored, to read and to put away."""

from __future__ import annotations

from functools import partial

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.utils import display_for_value
from django.db.models import OuterRef, Subquery
from django.urls import reverse
from django.utils.html import format_html, format_html_join

from inbox import access, phrases, rules
from inbox.models import Delivery, Message
from inbox.queries import wordindex
from inbox.queries.search import BEYOND
from inbox.services import archiving, looks
from roster import clock
from roster.admin.base import ReadOnlyAdmin
from roster.admin.paging import KeyList, OnePageActionForm
from roster.errors import Invalid
from roster.services.batch import among
from roster.templatetags.agora import plain, visible

from .filters import InboxOf, Numbered, OfMessage, OfThread, SentBy, SentTo, StateFilter, number

NAMED = 20  # deliveries that the page of a message names
FOUND = 1000  # messages that a search finds
NONE = "-"
SUBJECT = 80  # characters of it in a list
HELD = "held by who drained them until acked, or until the lease ends"
ALREADY = "in the archive already"


in_words = partial(display_for_value, empty_value_display=NONE)


def link_to(seq: int) -> str:
    return format_html('<a href="{}">#{}</a>', reverse("admin:inbox_message_change", args=[seq]), seq)


def link_to_list(what: str, model: str, asked: type[Numbered], seq: int) -> str:
    address = reverse(f"admin:inbox_{model}_changelist")
    return format_html('<a href="{}?{}={}">{}</a>', address, asked.parameter, seq, what)


def preformatted(body: str) -> str:
    lines = "\n".join(visible(line.expandtabs(4)) for line in body.splitlines())
    return format_html('<pre class="letter"><bdi>{}</bdi></pre>', lines)


class MailList(KeyList):
    """The newest first, in no other order, and without what is inside."""

    def get_queryset(self, request, exclude_parameters=None):
        return self.model_admin.outside(super().get_queryset(request, exclude_parameters))


class MailAdmin(ReadOnlyAdmin):
    sortable_by = ()

    def get_changelist(self, request, **kwargs):
        return MailList

    def lookup_allowed(self, lookup, value, request):
        """Nothing but the filters: by any other column an address could ask what somebody has read, or for words of a
        body with no row in the journal."""
        return lookup in {getattr(each, "parameter", None) or each.parameter_name for each in self.list_filter}


@admin.register(Message)
class MessageAdmin(MailAdmin):
    about = "What was written, for good. Who looks into the mail of others here is named in the journal."
    list_display = ("seq", "sent_at", "sent_by", "to", "titled", "kind", "importance", "size")
    list_filter = (SentBy, SentTo, OfThread)
    search_fields = ("words",)  # says that there is a search, which is not Django's
    search_help_text = (
        f"Finds the newest {FOUND:,} messages that have all the words, the last one as far as it is typed; #12 finds that"
        " message. A search is named in the journal, its words are not."
    )
    ordering = ("-seq",)
    fields = ("sent_by", "deliveries", "whole_subject", "text", "sent_at", "answers", "others", "kind", "importance",
              "expires_at", "size")  # fmt: skip

    def outside(self, messages):
        """With two of the names that each was sent to: in no order, since asking for one could lead a database through
        everybody's deliveries."""
        named = Delivery.objects.filter(message=OuterRef("pk")).order_by().values("addressed_as")
        return messages.defer("body").annotate(one=Subquery(named[:1]), other=Subquery(named[1:2]))

    def get_queryset(self, request):
        return super().get_queryset(request).select_related("sender")

    def get_object(self, request, object_id, from_field=None):
        """The message whose page is opened; that of others is looked at with a row in the journal."""
        message, me = super().get_object(request, object_id, from_field), getattr(request.user, "agent", None)
        if message and not (me and access.own_view(me.pk).messages.filter(pk=message.pk).exists()):
            looks.audit_message(request.user.username, message.pk, clock.now())
        return message

    def get_search_results(self, request, messages, term):
        if not (term := term.strip()):
            return messages, False
        if term.startswith("#"):
            return messages.filter(pk=number(term)), False
        try:
            words = phrases.asked(term)
        except Invalid as why:
            self.message_user(request, why.message, "warning")
            return messages.none(), False
        looks.audit_search(request.user.username, clock.now())
        return messages.filter(pk__in=among(wordindex.proposed(words, BEYOND, FOUND), "bigint")), False

    @admin.display(description="from")
    def sent_by(self, message):
        return message.sender or "the hub"

    @admin.display(description="to")
    def to(self, message):
        return message.one if message.other in (None, message.one) else f"{message.one} and more"

    @admin.display(description="subject")
    def titled(self, message):
        return plain(message.subject or "no subject", SUBJECT)

    @admin.display(description="subject")
    def whole_subject(self, message):
        return plain(message.subject or "no subject")

    @admin.display(description="to")
    def deliveries(self, message):
        now, found = clock.now(), message.deliveries.select_related("recipient", "lease")[:NAMED]
        names = format_html_join(", ", "{} ({})", ((each.recipient, rules.state(each.facts(), now)) for each in found))
        return format_html("{} · {}", names, link_to_list("all deliveries", "delivery", OfMessage, message.pk))

    @admin.display(description="answer to")
    def answers(self, message):
        return link_to(message.in_reply_to_id) if message.in_reply_to_id else NONE

    @admin.display(description="thread")
    def others(self, message):
        return link_to_list(f"#{message.thread} and its answers", "message", OfThread, message.thread)

    @admin.display(description="body")
    def text(self, message):
        return preformatted(message.body)


class PutAwayForm(OnePageActionForm):
    note = (
        "Archive puts away for good: it can be read, but waits for nobody any more. The sender of what was not acked is"
        " told so with the reason, which it needs."
    )
    reason = forms.CharField(label="Reason:", required=False, max_length=200)


@admin.register(Delivery)
class DeliveryAdmin(MailAdmin):
    """Mail in somebody's inbox. When its recipient read it is theirs to know and is left out."""

    about = "Each message in each inbox it came to, and what became of it there. When it was read is not told."
    list_display = ("message", "recipient", "state_now", "sent_at", "sent_by", "titled", "attempts")
    list_filter = (InboxOf, StateFilter, OfMessage)
    list_select_related = ("message__sender", "recipient", "lease")
    ordering = ("-message_id", "-recipient_id")  # unique together, so that no key is added, which no index would have
    fields = ("letter", "recipient", "addressed_as", "state_now", "sent_at", "sent_by", "titled", "size", "attempts",
              "held_until", "expires_at", "acked_at", "dead_at", "dead_reason", "archived_at")  # fmt: skip
    action_form = PutAwayForm
    actions = ("put_away",)

    def outside(self, deliveries):
        return deliveries.defer("message__body")

    @admin.display(description="state")
    def state_now(self, delivery):
        return rules.state(delivery.facts(), clock.now())

    @admin.display(description="message")
    def letter(self, delivery):
        return link_to(delivery.message_id)

    @admin.display(description="sent at")
    def sent_at(self, delivery):
        return in_words(delivery.message.sent_at)

    @admin.display(description="from")
    def sent_by(self, delivery):
        return delivery.message.sender or "the hub"

    @admin.display(description="subject")
    def titled(self, delivery):
        return plain(delivery.message.subject or "no subject", SUBJECT)

    @admin.display(description="held until")
    def held_until(self, delivery):
        return in_words(delivery.lease.until if self.state_now(delivery) == rules.LEASED else None)

    @admin.action(description="Archive")
    def put_away(self, request, chosen):
        keys, by = chosen.values_list("pk", flat=True), request.user.username
        reason = request.POST.get("reason", "").strip()
        try:
            told = archiving.put_away(list(keys), by=by, now=clock.now(), reason=reason)
        except Invalid as why:
            return self.message_user(request, f"Nothing was archived: {why.problem}.", messages.ERROR)
        left = [f"{count} left: {why}." for count, why in ((told.held, HELD), (told.already, ALREADY)) if count]
        if told.done:
            self.message_user(request, f"{told.done} archived.", messages.SUCCESS)
        for line in left if told.done else [f"0 archived. {' '.join(left)}"]:
            self.message_user(request, line, messages.WARNING)
