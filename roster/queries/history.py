"""What happened."""

from __future__ import annotations

from datetime import datetime

from django.db import connection

from roster.models import Event

# from one kind to the next in the index; DISTINCT would read all of it
KINDS = """
    WITH RECURSIVE found(kind) AS (
        SELECT MIN(kind) FROM {0} UNION ALL
        SELECT (SELECT MIN(kind) FROM {0} WHERE kind > found.kind) FROM found WHERE found.kind IS NOT NULL
    ) SELECT kind FROM found WHERE kind IS NOT NULL
""".format(Event._meta.db_table)


def events_of(slug: str, limit: int = 50) -> list[Event]:
    return list(Event.objects.filter(agent__slug=slug).select_related("agent").order_by("-id")[:limit])


def event_kinds() -> list[str]:
    """The kinds of events that have happened so far."""
    with connection.cursor() as cursor:
        cursor.execute(KINDS)
        return [kind for (kind,) in cursor.fetchall()]


def last_event_before(moment: datetime) -> int:
    """The id of the last event before ``moment``; 0 where there is none."""
    earlier = Event.objects.filter(at__lt=moment).order_by("-at", "-pk")
    return earlier.values_list("pk", flat=True).first() or 0
