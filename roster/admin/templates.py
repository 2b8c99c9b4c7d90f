"""Templates, and the rules by which a growing queue makes a clone of one."""

from __future__ import annotations

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import ValidationError

from roster import clock, plans, tools
from roster.models import Agent, AgentTemplate, Node, SurgeRule
from roster.services import engrams, surge, templates

from .base import IdField, OpenFormAdmin, ToolsField, caller, valid
from .filters import StateFilter


class TemplateForm(forms.ModelForm):
    tool_scope = ToolsField()
    node = IdField(Node, required=False, help_text="Its id: where clones live unless one is asked for elsewhere.")

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.initial["node"] = self.instance.node

    def clean_slug(self):
        return valid(templates.free, self.cleaned_data["slug"])

    def clean_engram(self):
        return valid(engrams.checked, self.cleaned_data["engram"].replace("\r\n", "\n"))

    def clean_tool_scope(self):
        return valid(tools.checked, self.cleaned_data["tool_scope"], plans.TOOLS)


class InUseOrPutAway(StateFilter):
    column, words = "archived_at", ("in use", "put away")


@admin.register(AgentTemplate)
class TemplateAdmin(OpenFormAdmin):
    about = "Blueprints and no agents: nobody can write to one. A clone is a real agent that drains when its life ends."
    form = TemplateForm
    fields = ("slug", *templates.COLUMNS)
    list_display = ("slug", "display_name", "node", "max_sessions", "lifetime", "archived_at")
    list_filter = (InUseOrPutAway,)
    list_select_related = ("node",)
    search_fields = ("slug", "display_name")
    search_help_text = "Finds any part of an id or a name."
    ordering = ("slug",)
    actions = ("put_away", "take_out")

    def get_readonly_fields(self, request, obj=None):
        return ("slug", "archived_at", "created_at", "created_by") if obj else ()

    def get_fields(self, request, obj=None):
        return (*self.fields, "archived_at", "created_at", "created_by") if obj else self.fields

    def save_model(self, request, template, form, change):
        columns = form.changed_data if change else templates.COLUMNS
        templates.save(caller(request), template, plans.TOOLS, clock.now(), columns)

    @admin.action(description="Put away: nothing is cloned from it any more", permissions=["change"])
    def put_away(self, request, chosen):
        self._archive(request, chosen, True, "put away")

    @admin.action(description="Take out again", permissions=["change"])
    def take_out(self, request, chosen):
        self._archive(request, chosen, False, "in use again")

    def _archive(self, request, chosen, archived: bool, told: str):
        who, now = caller(request), clock.now()
        done = sum(templates.archive(who, each.slug, now, archived) for each in chosen)
        self.message_user(request, f"{done} {told}.", messages.SUCCESS)


class SurgeForm(forms.ModelForm):
    template = IdField(AgentTemplate, help_text="The id of the template that is cloned.")
    agent = IdField(Agent, help_text="The id of the agent whose queue is watched.")

    def clean_agent(self):
        agent = self.cleaned_data["agent"]
        if agent.modality == "human":
            raise ValidationError("A person has no queue.")
        return agent


@admin.register(SurgeRule)
class SurgeRuleAdmin(OpenFormAdmin):
    about = (
        "When the queue of an agent has grown for so many looks, a minute apart, a clone of a template is hired. It has a"
        " queue of its own: nobody's work is given to another."
    )
    form = SurgeForm
    fields = ("template", "agent", *surge.COLUMNS)
    list_display = ("template", "agent", *surge.COLUMNS, "lengths", "cloned_at")
    list_filter = ("active",)
    list_select_related = ("template", "agent")
    search_fields = ("template__slug", "agent__slug")
    search_help_text = "Finds any part of the id of a template or an agent."
    ordering = ("pk",)
    sortable_by = ()

    @admin.display(description="last lengths")
    def lengths(self, rule):
        return ", ".join(map(str, rule.seen)) or "none"

    def get_readonly_fields(self, request, obj=None):
        return ("template", "agent", "lengths", "cloned_at") if obj else ()

    def get_fields(self, request, obj=None):
        return (*self.fields, "lengths", "cloned_at") if obj else self.fields

    def get_form(self, request, obj=None, change=False, **kwargs):
        if obj is not None:
            kwargs["form"] = forms.ModelForm  # which agent and which template stay as they are
        return super().get_form(request, obj, change=change, **kwargs)

    def save_model(self, request, rule, form, change):
        columns = form.changed_data if change else surge.COLUMNS
        if columns:
            surge.save_rule(caller(request), rule, clock.now(), columns)
