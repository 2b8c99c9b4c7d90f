"""What happened and what is wrong: rows that the hub writes and people read."""

from __future__ import annotations

import json

from django.contrib import admin, messages
from django.utils.text import Truncator

from roster import clock
from roster.models import Act, Anomaly, HubUptime, PresenceEdge, SweepRun
from roster.services import guard

from .base import OfOneAgent, ReadOnlyAdmin
from .filters import ActedBy, KindFilter, OpenOrClosed, UntilDay


def difference(before, after) -> str:
    """What an event changed, on one line: the two values, or each named value that it had or got."""
    sides = [each for each in (before, after) if each is not None]
    if not all(isinstance(each, dict) for each in sides):
        return " → ".join(str(each) or "none" for each in sides)
    names = dict.fromkeys(name for side in sides for name in side)
    return ", ".join(f"{name}: {_values(name, sides)}" for name in names)


def _values(name: str, sides: list[dict]) -> str:
    return " → ".join(json.dumps(side[name], ensure_ascii=False) for side in sides if name in side)


class EventAdmin(OfOneAgent, ReadOnlyAdmin):
    """Two million rows and more: whatever this list is asked ends in an index that has the ids in order."""

    list_display = ("when", "kind", "agent", "by", "change", "reason")
    list_select_related = ("agent",)
    search_help_text = "Finds what happened to one agent: type its whole id."
    ordering = ("-pk",)
    sortable_by = ("when",)

    @admin.display(description="at", ordering="pk")
    def when(self, event):
        return event.at

    @admin.display(description="what changed")
    def change(self, event):
        return Truncator(difference(event.before, event.after)).chars(160)


@admin.register(PresenceEdge)
class PresenceEdgeAdmin(EventAdmin):
    about = "Each change of an agent's presence, as a sweep or the agent's own call recorded it."
    list_filter = (UntilDay,)

    def get_queryset(self, request):
        return super().get_queryset(request).filter(kind="presence")


@admin.register(Act)
class ActAdmin(EventAdmin):
    about = "What people, agents and the hub itself did on purpose, for good."
    list_filter = (UntilDay, ActedBy, KindFilter)
    kinds_elsewhere = ("presence", "activity")

    def get_queryset(self, request):
        return super().get_queryset(request).filter(Act.IS_ONE)


@admin.register(Anomaly)
class AnomalyAdmin(ReadOnlyAdmin):
    about = "What a person should know about. An anomaly closes by itself when it is right again."
    list_display = ("kind", "subject", "opened_at", "closed_at", "evidence")
    list_filter = ("kind", OpenOrClosed)
    sortable_by = ("opened_at", "closed_at")
    search_fields = ("subject",)
    search_help_text = "Finds any part of what it is about: an agent's id, or the name of a sweep."
    ordering = ("-pk",)
    actions = ("release",)

    @admin.action(description="Release held presence edges now")
    def release(self, request, chosen):
        released = guard.release(by=request.user.username, now=clock.now())
        self.message_user(request, f"{released} holds released; the next sweep records the edges.", messages.SUCCESS)


@admin.register(SweepRun)
class SweepRunAdmin(ReadOnlyAdmin):
    about = "Each look of the hub at agents whose time had come, and what it recorded. Old runs are pruned."
    list_display = ("name", "started_at", "outcome", "looked_at", "edges", "errors", "note")
    list_filter = ("name", "outcome")
    ordering = ("-pk",)


@admin.register(HubUptime)
class HubUptimeAdmin(ReadOnlyAdmin):
    about = "The stretches in which the hub could hear heartbeats; a deadline within a gap was moved to after it."
    list_display = ("up_at", "alive_at", "down_at", "moved")
    ordering = ("-pk",)
