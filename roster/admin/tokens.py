"""Credentials of callers of the API: issued, rotated and revoked here, shown once."""

from __future__ import annotations

from django.contrib import admin, messages
from django.db.models import Q
from django.template.response import TemplateResponse
from django.urls import path

from roster import access, clock
from roster.models import Agent, Node, Token
from roster.services import tokens

from . import shown_once
from .base import KeptAdmin
from .filters import ValidOrRevoked

SHOWN = "admin:roster_token_shown"
OWNERS = "A token of an agent or a person needs the agent, one of a node the node; an enrolment token is nobody's."


@admin.register(Token)
class TokenAdmin(KeptAdmin):
    """Issue, rotate and revoke. A new token is shown on the page that follows, once, and stored nowhere raw."""

    about = (
        "What callers of the API prove themselves with. An agent gets its token when it registers with an enrolment "
        "token; others are added here. A lost one is rotated."
    )
    list_display = ("prefix", "kind", "owner", "state", "label", "created_at")
    list_filter = ("kind", ValidOrRevoked)
    list_select_related = ("agent", "node")
    search_fields = ("prefix", "agent__slug", "node__slug")
    search_help_text = "Finds a token by its prefix, or all tokens of one agent, person or node by the whole id."
    ordering = ("-pk",)
    sortable_by = ("prefix", "created_at")
    actions = ("revoke", "rotate")
    fields = ("kind", "agent", "node", "label")
    autocomplete_fields = ("agent", "node")

    def get_search_results(self, request, found, term):
        """Owners are looked up first: an OR over joined tables would read them all."""
        if not (term := term.strip()):
            return found, False
        owners = [list(each.objects.filter(slug=term.lower()).values_list("pk", flat=True)) for each in (Agent, Node)]
        return found.filter(Q(prefix=term) | Q(agent_id__in=owners[0]) | Q(node_id__in=owners[1])), False

    def get_fieldsets(self, request, obj=None):
        if obj is None:
            return [(None, {"fields": self.fields, "description": OWNERS})]
        return [(None, {"fields": (*self.list_display, "created_by", "revoked_at", "revoked_by")})]

    def render_change_form(self, request, context, *args, **kwargs):
        context |= {"show_save_and_add_another": False, "show_save_and_continue": False}  # the token is shown next
        return super().render_change_form(request, context, *args, **kwargs)

    @admin.display(description="state")
    def state(self, token):
        return f"revoked by {token.revoked_by}" if token.revoked_at else "valid"

    def has_change_permission(self, request, obj=None):
        return obj is None and super().has_change_permission(request)

    @admin.display(description="for")
    def owner(self, token):
        return token.agent or token.node or "new agents"

    def save_model(self, request, token, form, change):
        by, now = request.user.username, clock.now()
        owner = {"agent": token.agent, "node": token.node}
        request.raw_token = tokens.issue(token.kind, by=by, now=now, label=token.label, **owner)
        token.pk = Token.objects.get(digest=access.digest(request.raw_token)).pk

    def log_addition(self, request, obj, message):
        """The journal has it already, with more."""

    def response_add(self, request, token, post_url_continue=None):
        return shown_once.redirect(request, SHOWN, [request.raw_token])

    def get_urls(self):
        shown = self.admin_site.admin_view(self.shown)
        return [path("new/<key>/", shown, name=SHOWN.partition(":")[2]), *super().get_urls()]

    def shown(self, request, key):
        """The page of new tokens, with the secrets when it is opened first and without them ever after."""
        raws = {access.digest(raw): raw for raw in shown_once.take(request, key)}
        rows = self.get_queryset(request).select_related("agent", "node").filter(digest__in=raws)
        new = [(token, self.owner(token), raws[token.digest]) for token in rows]
        context = {**self.admin_site.each_context(request), "title": "New token", "new": new, "opts": self.opts}
        return TemplateResponse(request, "admin/roster/token/shown.html", context)

    @admin.action(description="Revoke: the next call with it is refused", permissions=["change"])
    def revoke(self, request, chosen):
        ended = sum(tokens.revoke(each, by=request.user.username, now=clock.now()) for each in chosen)
        self.message_user(request, f"{ended} revoked.", messages.SUCCESS)

    @admin.action(description="Rotate: revoke and issue another for the same owner", permissions=["change"])
    def rotate(self, request, chosen):
        by, now = request.user.username, clock.now()
        valid = [each for each in chosen if each.revoked_at is None]
        if not valid:
            return self.message_user(request, "These were revoked before: nothing was rotated.", messages.WARNING)
        return shown_once.redirect(request, SHOWN, [tokens.rotate(each, by=by, now=now) for each in valid])
