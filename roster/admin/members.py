"""The fleet's members: agents, nodes and profiles."""

from __future__ import annotations

from django import forms
from django.contrib import admin
from django.contrib.admin.widgets import AdminTextareaWidget
from django.core.exceptions import ValidationError
from django.db.models import OuterRef, Subquery
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import mark_safe

from roster import clock, plans, states, tools
from roster.models import Agent, Node, Profile
from roster.queries import employment
from roster.services import engrams, hiring, profiles, registry

from . import actions
from .base import OpenFormAdmin, ReadOnlyAdmin, ToolsField, caller, legal_new_id, valid


class EmployeeForm(forms.ModelForm):
    """The entry of an AI that is not retired: with its cap and tools, and the text that it is told to be."""

    tool_scope = ToolsField()
    engram = forms.CharField(
        required=False,
        strip=False,
        widget=AdminTextareaWidget(attrs={"rows": 16}),
        help_text="The system prompt. The next prompt that it runs begins with it.",
    )
    revision = forms.IntegerField(required=False, widget=forms.HiddenInput)

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.newest = employment.engram(self.instance)
        self.initial |= {"engram": self.newest.text, "revision": self.newest.revision}
        if self.instance.kind == "node":
            self.fields["tool_scope"].explain(plans.TOOLS.node)

    def clean_max_sessions(self):
        cap = self.cleaned_data["max_sessions"]
        if self.instance.kind == "node" and cap != 1:
            raise ValidationError("A node's own agent does one thing at a time.")
        return cap

    def clean_tool_scope(self):
        agent = self.instance
        scope = self.cleaned_data["tool_scope"]
        return valid(tools.checked, scope, plans.TOOLS, kind=agent.kind, template=agent.template)

    def clean_engram(self):
        text = self.cleaned_data["engram"].replace("\r\n", "\n")  # as forms send the end of a line
        return valid(engrams.checked, text)

    def clean(self):
        told = super().clean()
        if "engram" in self.changed_data and told.get("revision") not in (None, self.newest.revision):
            self.add_error("engram", engrams.stale(self.newest).message)
        return told


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
    employed = ("lifecycle", "lifecycle_since", "lifecycle_reason", "successor", "template", "expires_at", "enabled",
                "disabled_by", "disabled_at", "disabled_reason", "home_node", "workspace_state", "workspace",
                "workspace_error", "queued", "running", "waiting")  # fmt: skip
    computed = ("presence", "why", "kind", "modality", "status", "task", "meta", "heard", "last_seen",
                "last_seen_source", "evidence_at", "deadline", "signed_off_at", "created_at")  # fmt: skip
    terms = ("max_sessions", "tool_scope")
    action_form = actions.DrainForm
    actions = (actions.drain,)

    def get_fieldsets(self, request, obj=None):
        entry = (None, {"fields": ("slug", *registry.EDITABLE)})
        if obj is None:
            return (entry,)
        told = "The verbs of employment are on the agent's own page."
        shown = (
            ("Employment", {"fields": self.employed, "description": told}),
            ("Seen and computed, never edited", {"fields": self.computed}),
        )
        if not _has_terms(obj):
            return (entry, *shown)
        own = ("Terms", {"fields": (*self.terms, "engram", "revision", "revisions")})
        return (entry, own, *shown)

    def get_readonly_fields(self, request, obj=None):
        return ("slug", "revisions", *self.employed, *self.computed) if obj else ()

    def get_form(self, request, obj=None, change=False, **kwargs):
        if obj and _has_terms(obj):
            kwargs["form"] = EmployeeForm
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
        if not change:
            agent.pk = registry.enrolled_by_hand(agent.slug, wanted, by=by, now=now).pk
            return
        changed = form.changed_data
        registry.edit(agent, {name: wanted[name] for name in wanted if name in changed}, by=by, now=now)
        if terms := {name: form.cleaned_data[name] for name in self.terms if name in changed}:
            hiring.change_terms(caller(request), agent.slug, terms, plans.TOOLS, now)
        if "engram" in changed:
            told = form.cleaned_data
            engrams.edit(caller(request), agent.slug, told["engram"], now, told["revision"])

    @admin.display(description="revisions")
    def revisions(self, agent):
        """The newest ones, and the way to all of them."""
        lines = ((each.revision, each.author, f"{each.at:%Y-%m-%d %H:%M}") for each in employment.revisions(agent, 10))
        shown = format_html_join(mark_safe("<br>"), "{}: {}, {} UTC", lines) or "none so far"
        address = reverse("admin:roster_engramrevision_changelist")
        return format_html('{}<br><a href="{}?q={}">all revisions</a>', shown, address, agent.slug)


def _has_terms(agent: Agent) -> bool:
    """Whether it has a cap, tools and an engram that can be edited: an AI that is not retired."""
    return agent.modality == "ai" and agent.lifecycle != states.RETIRED


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
