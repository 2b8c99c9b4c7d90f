"""Engrams and memory: to read. An engram is edited on the page of its agent."""

from __future__ import annotations

from django.contrib import admin
from django.utils.html import format_html

from roster import clock
from roster.models import EngramRevision, MemoryEntry
from roster.services import memory
from roster.templatetags.agora import visible

from .base import OfOneAgent, ReadOnlyAdmin


class TextAdmin(OfOneAgent, ReadOnlyAdmin):
    """Rows with a text that is read on their own page and in no list."""

    list_select_related = ("agent",)
    ordering = ("-pk",)
    sortable_by = ()

    def get_queryset(self, request):
        return super().get_queryset(request).defer("text")

    @admin.display(description="text")
    def whole(self, row):
        lines = "\n".join(visible(line.expandtabs(4)) for line in row.text.splitlines())
        return format_html('<pre class="letter"><bdi>{}</bdi></pre>', lines)


@admin.register(EngramRevision)
class EngramRevisionAdmin(TextAdmin):
    about = "Every text that an agent was told to be; the highest number is the one that its next turn begins with."
    list_display = ("agent", "number", "author", "at")
    fields = ("agent", "number", "author", "at", "whole")


@admin.register(MemoryEntry)
class MemoryEntryAdmin(TextAdmin):
    about = "What agents wrote down for themselves. Who opens an entry here is named in the journal."
    list_display = ("id", "agent", "kind", "at")
    fields = ("agent", "kind", "at", "whole")

    def get_object(self, request, object_id, from_field=None):
        entry = super().get_object(request, object_id, from_field)
        if entry:
            memory.looked_at(request.user.username, entry.agent, clock.now())
        return entry
