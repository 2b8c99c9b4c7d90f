"""What somebody may do beyond their role."""

from __future__ import annotations

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import ValidationError

from roster import clock
from roster.errors import HubError
from roster.models import Grant
from roster.services import grants

from .base import KeptAdmin, OfOneAgent, caller
from .filters import ValidOrRevoked


class GrantForm(forms.ModelForm):
    def clean(self):
        told = super().clean()
        try:
            if told.get("agent") and told.get("permission"):
                grants.check(told["agent"], told["permission"])
        except HubError as why:
            raise ValidationError(why.message) from None
        return told


@admin.register(Grant)
class GrantAdmin(OfOneAgent, KeptAdmin):
    about = "Permissions that somebody has by name: an agent, or a person beyond their role."
    form = GrantForm
    fields = ("agent", "permission")
    autocomplete_fields = ("agent",)
    list_display = ("agent", "permission", "granted_by", "granted_at", "revoked_by", "revoked_at")
    list_filter = ("permission", ValidOrRevoked)
    list_select_related = ("agent",)
    ordering = ("-pk",)
    sortable_by = ()
    actions = ("revoke",)

    def has_change_permission(self, request, obj=None):
        return obj is None and super().has_change_permission(request)

    def save_model(self, request, grant, form, change):
        grant.pk = grants.give(caller(request), grant.agent.slug, grant.permission, clock.now()).pk

    @admin.action(description="Revoke: the next call that needs it is refused", permissions=["change"])
    def revoke(self, request, chosen):
        who, now = caller(request), clock.now()
        ended = sum(grants.revoke(who, each, now) for each in chosen)
        self.message_user(request, f"{ended} revoked.", messages.SUCCESS)
