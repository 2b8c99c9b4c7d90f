"""What somebody may do beyond their role."""

from __future__ import annotations

from django import forms
from django.contrib import admin, messages

from roster import clock
from roster.models import Agent, Grant
from roster.services import grants

from .base import IdField, KeptAdmin, OfOneAgent, caller, valid
from .filters import ValidOrRevoked


class GrantForm(forms.ModelForm):
    agent = IdField(Agent, help_text="The id of an agent or a person.")

    def clean(self):
        told = super().clean()
        if told.get("agent") and told.get("permission"):
            valid(grants.check, told["agent"], told["permission"])
        return told


@admin.register(Grant)
class GrantAdmin(OfOneAgent, KeptAdmin):
    about = "Permissions that somebody has by name: an agent, or a person beyond their role."
    form = GrantForm
    fields = ("agent", "permission")
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
