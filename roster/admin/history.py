"""What happened and what is wrong: rows that the hub writes and people read."""

from __future__ import annotations

from django.contrib import admin, messages
from django.utils import timezone

from roster.models import Act, Agent, Anomaly, HubUptime, PresenceEdge, SweepRun
from roster.services import guard

from .base import ReadOnlyAdmin
from .filters import ActedBy, KindFilter, UntilDay


class EventAdmin(ReadOnlyAdmin):
    """Two million rows and more: whatever this list is asked ends in an index that has the ids in order."""

    list_display = ("when", "kind", "agent", "by", "before", "after", "reason")
    list_select_related = ("agent",)
    search_fields = ("agent__slug",)
    search_help_text = "Finds what happened to one agent: type its whole id."
    ordering = ("-pk",)
    sortable_by = ("when",)

    @admin.display(description="at", ordering="pk")
    def when(self, event):
        return event.at

    def get_search_results(self, request, events, term):
        if not term.strip():
            return events, False
        agent = Agent.objects.filter(slug=term.strip().lower()).values_list("pk", flat=True).first()
        return events.filter(agent_id=agent) if agent else events.none(), False


@admin.register(PresenceEdge)
class PresenceEdgeAdmin(EventAdmin):
    list_filter = (UntilDay,)

    def get_queryset(self, request):
        return super().get_queryset(request).filter(kind="presence")


@admin.register(Act)
class ActAdmin(EventAdmin):
    list_filter = (UntilDay, ActedBy, KindFilter)
    kinds_elsewhere = ("presence", "activity")

    def get_queryset(self, request):
        return super().get_queryset(request).filter(Act.IS_ONE)


@admin.register(Anomaly)
class AnomalyAdmin(ReadOnlyAdmin):
    list_display = ("kind", "subject", "opened_at", "closed_at", "evidence")
    list_filter = ("kind", ("closed_at", admin.EmptyFieldListFilter))
    sortable_by = ("opened_at", "closed_at")
    search_fields = ("subject",)
    search_help_text = "Finds any part of what it is about: an agent's id, or the name of a sweep."
    ordering = ("-pk",)
    actions = ("release",)

    @admin.action(description="Release held presence edges now")
    def release(self, request, chosen):
        released = guard.release(by=request.user.username, now=timezone.now())
        self.message_user(request, f"{released} holds released; the next sweep records the edges.", messages.SUCCESS)


@admin.register(SweepRun)
class SweepRunAdmin(ReadOnlyAdmin):
    list_display = ("name", "started_at", "outcome", "looked_at", "edges", "errors", "note")
    list_filter = ("name", "outcome")
    ordering = ("-pk",)


@admin.register(HubUptime)
class HubUptimeAdmin(ReadOnlyAdmin):
    list_display = ("up_at", "alive_at", "down_at", "moved")
    ordering = ("-pk",)
