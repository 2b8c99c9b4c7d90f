"""What happened."""

from __future__ import annotations

from roster.models import Event


def events_of(slug: str, limit: int = 50) -> list[Event]:
    return list(Event.objects.filter(agent__slug=slug).select_related("agent").order_by("-id")[:limit])
