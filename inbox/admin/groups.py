"""Groups: who gets what is sent to ``group:NAME``."""

from __future__ import annotations

from django import forms
from django.contrib import admin
from django.core.exceptions import ValidationError
from django.db.models import Count

from inbox.models import MailGroup
from inbox.services import groups
from roster import clock, states
from roster.admin.base import OpenFormAdmin
from roster.errors import Invalid


class GroupForm(forms.ModelForm):
    """Members are typed as ids: a fleet is too long to choose from, and a list of ids is easily brought along."""

    ids = forms.CharField(
        label="Members",
        required=False,
        widget=forms.Textarea,
        help_text="Ids of agents and people, separated by commas, spaces or lines.",
    )

    class Meta:
        help_texts = {"name": "It is written to as group:NAME, and stays as it is."}
        error_messages = {"name": {"invalid": f"A name has {states.SLUG_RULE}."}}

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        if self.instance.pk:
            self.initial["ids"] = ", ".join(self.instance.members.order_by("slug").values_list("slug", flat=True))

    def clean_ids(self) -> set[str]:
        typed = ids_in(self.cleaned_data["ids"])
        try:
            groups.keys_of(typed)
        except Invalid as why:
            problem = why.problem
            raise ValidationError(f"{problem[:1].upper()}{problem[1:]}.") from None
        return typed

    def shown(self) -> set[str]:
        """The members as the form showed them when it was opened, which its hidden copy tells."""
        return ids_in(self.data.get(self.add_initial_prefix("ids")) or "")


def ids_in(text: str) -> set[str]:
    return set(text.lower().replace(",", " ").split())


@admin.register(MailGroup)
class GroupAdmin(OpenFormAdmin):
    about = "Who gets what is sent to group:NAME. A group that is not needed any more is emptied; its name stays."
    form = GroupForm
    fields = ("name", "ids")
    list_display = ("name", "size")
    search_fields = ("name",)
    search_help_text = "Finds any part of a name."
    ordering = ("name",)

    def get_queryset(self, request):
        return super().get_queryset(request).annotate(size=Count("members"))

    @admin.display(description="members")
    def size(self, group):
        return group.size

    def get_readonly_fields(self, request, obj=None):
        return ("name",) if obj else ()

    def save_model(self, request, group, form, change):
        now_in, shown = form.cleaned_data["ids"], form.shown()
        by, now = request.user.username, clock.now()
        groups.save(group, joined=now_in - shown, left=shown - now_in, by=by, now=now)
