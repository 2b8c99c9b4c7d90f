"""What the admin's pages have in common."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.widgets import AdminTextInputWidget
from django.core.exceptions import ValidationError
from django.db import models
from django.http import HttpRequest
from django.shortcuts import redirect

from roster import access, plans
from roster.errors import HubError, Invalid
from roster.models import Agent

from .paging import KeyList, KeyPaginator, OnePageActionForm

# Django's own, without those that make one field out of another: no form here does, and they weigh half the page.
SCRIPTS = ("vendor/jquery/jquery.min.js", "jquery.init.js", "core.js", "admin/RelatedObjectLookups.js", "actions.js")


class KeptAdmin(admin.ModelAdmin):
    """Rows that nobody can delete, one by one or in bulk. ``about`` tells above the list what it holds."""

    about: str
    paginator = KeyPaginator
    action_form = OnePageActionForm
    list_per_page = 50
    list_max_show_all = 0
    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER  # they count the whole table once for each choice of each filter

    @property
    def media(self):
        return forms.Media(js=[f"admin/js/{name}" for name in SCRIPTS])

    def get_changelist(self, request, **kwargs):
        return KeyList

    def has_delete_permission(self, request, obj=None):
        return False

    def changeform_view(self, request, object_id=None, form_url="", extra_context=None):
        """What a form could not foresee, since somebody was faster, is told instead of breaking the page."""
        try:
            return super().changeform_view(request, object_id, form_url, extra_context)
        except HubError as why:
            self.message_user(request, f"Nothing was saved: {why.message}", messages.ERROR)
            return redirect(request.get_full_path())


class ReadOnlyAdmin(KeptAdmin):
    """Rows that the hub writes and people only read."""

    def has_add_permission(self, request):
        return False

    def has_change_permission(self, request, obj=None):
        return False


class OpenFormAdmin(KeptAdmin):
    """Rows that others may write while a form lies open: the form carries what it showed, so that its
    ``changed_data`` is what the person changed and not what changed meanwhile."""

    def get_form(self, request, obj=None, change=False, **kwargs):
        form = super().get_form(request, obj, change=change, **kwargs)
        for field in form.base_fields.values():
            field.show_hidden_initial = change
        return form


class OfOneAgent:
    """A list that is searched by the whole id of the agent that its rows are about."""

    search_fields = ("agent__slug",)  # says that there is a search, which is not Django's
    search_help_text = "Finds what is about one agent: type its whole id."

    def get_search_results(self, request, rows, term):
        if not term.strip():
            return rows, False
        agent = Agent.objects.filter(slug=term.strip().lower()).values_list("pk", flat=True).first()
        return rows.filter(agent_id=agent) if agent else rows.none(), False


class ToolsField(forms.CharField):
    """A list of tools as text: names with commas between them, nothing for the usual ones, "none" for no tool at all."""

    def __init__(self, **kwargs):
        super().__init__(required=False, label="Tools", widget=AdminTextInputWidget, **kwargs)
        self.explain(plans.TOOLS.person)

    def explain(self, usual: tuple[str, ...]) -> None:
        names = ", ".join(usual)
        self.help_text = f"Names, separated by commas. Empty for the usual ones ({names}); none for no tool at all."

    def prepare_value(self, value):
        return value if isinstance(value, str) else "" if value is None else ", ".join(value) or "none"

    def to_python(self, value):
        words = [word.strip() for word in self.prepare_value(value).split(",") if word.strip()]
        return [] if words == ["none"] else words or None

    def has_changed(self, initial, data):
        return self.to_python(initial) != self.to_python(data)


class IdField(forms.ModelChoiceField):
    """One of the rows of a ``model``, typed as its id: a fleet is too long to choose from."""

    def __init__(self, model: type[models.Model], **kwargs):
        told = {"invalid_choice": "Nobody has this id." if model is Agent else "There is none of this id."}
        super().__init__(
            model.objects.all(), to_field_name="slug", widget=AdminTextInputWidget, error_messages=told, **kwargs
        )


def caller(request: HttpRequest) -> access.Caller:
    """Who acts on a page of the admin."""
    agent = Agent.objects.filter(user=request.user).values_list("pk", flat=True).first()
    return access.Caller("person", request.user.username, agent, role=access.role_of(request.user))


def valid(check: Callable[..., Any], *args, **kwargs) -> Any:
    """What ``check`` returns; the admin's kind of error where it refuses."""
    try:
        return check(*args, **kwargs)
    except HubError as why:
        told = f"{why.problem[:1].upper()}{why.problem[1:]}." if isinstance(why, Invalid) else why.message
        raise ValidationError(told) from None


def legal_new_id(slug: str) -> str:
    """``slug`` if it can be a new agent's id; the admin's kind of error otherwise."""
    try:
        return access.valid_slug(slug)
    except HubError as why:
        raise ValidationError(why.message) from None
