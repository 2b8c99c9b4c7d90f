"""What the admin's pages have in common."""

from __future__ import annotations

from django import forms
from django.contrib import admin
from django.core.exceptions import ValidationError

from roster import access
from roster.errors import HubError

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


def legal_new_id(slug: str) -> str:
    """``slug`` if it can be a new agent's id; the admin's kind of error otherwise."""
    try:
        return access.valid_slug(slug)
    except HubError as why:
        raise ValidationError(why.message) from None
