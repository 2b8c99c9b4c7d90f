"""The fleet's members: agents, nodes and profiles."""

from __future__ import annotations

from django import forms
from django.contrib import admin
from django.db.models import OuterRef, Subquery
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse

from roster import clock, states
from roster.models import Agent, Node, Profile
from roster.services import profiles, registry

from .base import OpenFormAdmin, ReadOnlyAdmin, legal_new_id


@admin.register(Agent)
class AgentAdmin(OpenFormAdmin):
    """An edit changes what is declared, never what was seen; its presence is the same computed word as everywhere."""

    about = (
        "Everybody in the registry: AIs, people and nodes. An agent enters by its first heartbeat, or is added here."
    )
    list_display = ("slug", "presence", "liveness_mode", "lifecycle", "kind", "modality", "home_node", "last_seen")
    list_filter = ("liveness_mode", "lifecycle", "kind", "modality", "enabled", "trust_posture")
    list_select_related = ("home_node",)
    search_fields = ("slug", "display_name")
    search_help_text = "Finds any part of an id or a name."
    ordering = ("slug",)
    sortable_by = ("slug", "last_seen")
    computed = ("presence", "why", "lifecycle", "lifecycle_since", "kind", "modality", "home_node", "enabled", "status",
                "task", "meta", "heard", "last_seen", "last_seen_source", "evidence_at", "deadline", "signed_off_at",
                "created_at")  # fmt: skip
    fieldsets = (
        (None, {"fields": ("slug", *registry.EDITABLE)}),
        ("Seen and computed, never edited", {"fields": computed}),
    )

    def get_fieldsets(self, request, obj=None):
        return self.fieldsets if obj else self.fieldsets[:1]

    def get_readonly_fields(self, request, obj=None):
        return ("slug", *self.computed) if obj else ()

    def get_form(self, request, obj=None, change=False, **kwargs):
        form = super().get_form(request, obj, change=change, **kwargs)
        if "slug" in form.base_fields:
            form.clean_slug = lambda self: legal_new_id(self.cleaned_data["slug"])
        return form

    def get_queryset(self, request):
        """Agents with the mode that their profile declares, which their presence depends on: one query for a page."""
        declared = Profile.objects.filter(slug=OuterRef("slug")).values("liveness_mode")
        return super().get_queryset(request).annotate(declared_mode=Subquery(declared))

    @admin.display(description="presence")
    def presence(self, agent):
        return self._presence(agent).word

    @admin.display(description="because")
    def why(self, agent):
        return self._presence(agent).reason

    def _presence(self, agent) -> states.Presence:
        return states.presence(agent.facts(agent.declared_mode), clock.now())

    def view_on_site(self, agent):
        return reverse("agent", args=[agent.slug])

    def history_view(self, request, object_id, extra_context=None):
        """The journal knows more about an agent than the admin's own log of its forms."""
        agent = get_object_or_404(Agent, pk=object_id)
        return redirect(f"{reverse('admin:roster_act_changelist')}?q={agent.slug}")

    def save_model(self, request, agent, form, change):
        wanted = {name: getattr(agent, name) for name in registry.EDITABLE}
        by, now = request.user.username, clock.now()
        if change:
            registry.edit(agent, {name: wanted[name] for name in wanted if name in form.changed_data}, by=by, now=now)
        else:
            agent.pk = registry.enrolled_by_hand(agent.slug, wanted, by=by, now=now).pk


@admin.register(Node)
class NodeAdmin(ReadOnlyAdmin):
    about = "The machines of the fleet. One is enrolled with POST /api/nodes and a manager's token."
    list_display = ("slug", "name", "lifecycle", "enrolled_at")
    search_fields = ("slug", "name")
    search_help_text = "Finds any part of an id or a name."
    ordering = ("slug",)


class ProfileForm(forms.ModelForm):
    capabilities = forms.CharField(required=False, help_text="Words, separated by commas.")

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.initial["capabilities"] = ", ".join(map(str, self.instance.capabilities))

    def clean_capabilities(self):
        return [word.strip() for word in self.cleaned_data["capabilities"].split(",") if word.strip()]


@admin.register(Profile)
class ProfileAdmin(OpenFormAdmin):
    about = "Who an agent is, whether it was ever heard or not. With a lasting mode it is listed before its first beat."
    form = ProfileForm
    list_display = ("slug", "title", "role", "liveness_mode", "public", "updated_at", "updated_by")
    list_filter = ("liveness_mode", "public")
    search_fields = ("slug", "title", "role")
    search_help_text = "Finds any part of an id, a title or a role."
    ordering = ("slug",)
    readonly_fields = ("updated_at", "updated_by", "parse_error")

    def get_readonly_fields(self, request, obj=None):
        return ("slug", *self.readonly_fields) if obj else self.readonly_fields

    def save_model(self, request, profile, form, change):
        columns = form.changed_data if change else profiles.COLUMNS
        profiles.save(profile, by=request.user.username, now=clock.now(), columns=columns)
