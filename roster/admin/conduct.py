"""Rules of conduct, what was reported, and what agents were warned of."""

from __future__ import annotations

from django import forms
from django.contrib import admin
from django.contrib.admin.widgets import AdminTextInputWidget

from roster import clock
from roster.models import Rule, Violation, Warning
from roster.plans import WARNING_AGE
from roster.services import conduct
from roster.services.switch import said
from roster.templatetags.agora import visible

from .base import KeptAdmin, OfOneAgent, OpenFormAdmin, ReadOnlyAdmin, caller, valid
from .filters import StateFilter


@admin.register(Rule)
class RuleAdmin(OpenFormAdmin):
    about = (
        "What an agent of this fleet does not do. Who breaks a rule is warned; again, and its dismissal is proposed."
    )
    fields = ("slug", *conduct.COLUMNS)
    list_display = ("slug", "text", "active")
    list_filter = ("active",)
    search_fields = ("slug", "text")
    search_help_text = "Finds any part of an id or a text."
    ordering = ("slug",)

    def get_readonly_fields(self, request, obj=None):
        return ("slug",) if obj else ()

    def save_model(self, request, rule, form, change):
        columns = form.changed_data if change else conduct.COLUMNS
        if columns:
            conduct.save_rule(rule, by=request.user.username, now=clock.now(), columns=columns)


@admin.register(Violation)
class ViolationAdmin(OfOneAgent, ReadOnlyAdmin):
    about = "What was reported with POST /api/violations; the same evidence counts once."
    list_display = ("at", "agent", "rule", "evidence_key", "reported_by")
    list_filter = ("rule",)
    list_select_related = ("agent", "rule")
    ordering = ("-pk",)
    sortable_by = ()


class WithdrawForm(forms.ModelForm):
    reason = forms.CharField(
        label="Withdraw, because",
        max_length=500,
        widget=AdminTextInputWidget,
        help_text="Saved, the warning counts no more, and the agent is told so.",
    )

    def clean_reason(self):
        return valid(said, self.cleaned_data["reason"])


class StandingOrWithdrawn(StateFilter):
    column, words = "withdrawn_at", ("standing", "withdrawn")


@admin.register(Warning)
class WarningAdmin(OfOneAgent, KeptAdmin):
    about = "What agents were warned of. Open one to withdraw it."
    form = WithdrawForm
    list_display = ("at", "agent", "rule", "withdrawn_at", "withdrawn_by")
    list_filter = ("rule", StandingOrWithdrawn)
    list_select_related = ("agent", "rule")
    ordering = ("-pk",)
    sortable_by = ()
    told = ("agent", "rule", "evidence", "message", "at")
    gone = ("withdrawn_at", "withdrawn_by", "withdrawn_reason")

    @admin.display(description="evidence")
    def evidence(self, warning):
        return visible(warning.violation.evidence)

    @admin.display(description="message")
    def message(self, warning):
        return f"#{warning.seq}" if warning.seq else "none"

    def get_fields(self, request, obj=None):
        return (*self.told, *self.gone) if obj and obj.withdrawn_at else (*self.told, "reason")

    def get_readonly_fields(self, request, obj=None):
        return (*self.told, *self.gone)

    def has_add_permission(self, request):
        return False

    def has_change_permission(self, request, obj=None):
        return (obj is None or obj.withdrawn_at is None) and super().has_change_permission(request, obj)

    def save_model(self, request, warning, form, change):
        reason = form.cleaned_data["reason"]
        conduct.withdraw(caller(request), warning.pk, reason, clock.now(), WARNING_AGE)
