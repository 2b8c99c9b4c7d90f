"""What is done to many agents at once."""

from __future__ import annotations

from django import forms
from django.contrib import admin, messages

from roster import clock
from roster.errors import HubError, Invalid
from roster.services import lifecycle, switch

from .base import caller
from .paging import OnePageActionForm


class DrainForm(OnePageActionForm):
    note = (
        "Drain is for good: an agent finishes its work and is retired then. It needs a reason. All who are ticked are"
        " drained, or nobody is."
    )
    reason = forms.CharField(label="Reason:", required=False, max_length=switch.LONGEST_REASON)


@admin.action(description="Drain")
def drain(modeladmin, request, chosen):
    """Drains whoever is ticked; where one of them cannot be had, nobody is drained, and that one is named."""
    try:
        reason = switch.said(request.POST.get("reason", ""))
        n = lifecycle.drain_all(caller(request), list(chosen.values_list("slug", flat=True)), reason, clock.now())
    except HubError as why:
        told = f"the reason: {why.problem}." if isinstance(why, Invalid) else why.message
        modeladmin.message_user(request, f"Nobody was drained: {told}", messages.ERROR)
    else:
        modeladmin.message_user(request, f"Draining from now on: {n}. Each finishes its work, and is retired then.")
