"""What happened, and what is wrong."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db import connection
from django.db.models import Min, QuerySet

from roster import rows
from roster.models import Act, Agent, Anomaly, Event

ACTS = "acts"  # stands for every kind of thing that is done on purpose
MANY = 100  # newer rows are counted up to here
NEAR = 100  # events after a moment among which the one with the lowest id is looked for
BEYOND = 2**63 - 1  # an id that no event has

# from one kind to the next in the index; DISTINCT would read all of it
KINDS = """
    WITH RECURSIVE found(kind) AS (
        SELECT MIN(kind) FROM {0} UNION ALL
        SELECT (SELECT MIN(kind) FROM {0} WHERE kind > found.kind) FROM found WHERE found.kind IS NOT NULL
    ) SELECT kind FROM found WHERE kind IS NOT NULL
""".format(Event._meta.db_table)


def events_of(row: rows.Row, limit: int) -> list[Event]:
    """The newest events of the member ``row``, newest first, each with the id of whom it is about at hand."""
    if not row.registered:
        return []
    return list(Agent(pk=row.pk, slug=row.id).events.order_by("-id")[:limit])


def event_kinds() -> list[str]:
    """The kinds of events that have happened so far."""
    with connection.cursor() as cursor:
        cursor.execute(KINDS)
        return [kind for (kind,) in cursor.fetchall()]


def last_event_before(moment: datetime) -> int:
    """The id of the last event before ``moment``; 0 where there is none."""
    earlier = Event.objects.filter(at__lt=moment).order_by("-at", "-pk")
    return earlier.values_list("pk", flat=True).first() or 0


@dataclass(frozen=True, slots=True)
class EventSelection:
    """Which events are asked for: about the agent of this whole id, of this kind (``acts`` for all that is done on
    purpose), done by this name, written down between two moments. Empty strings and None mean any."""

    agent: str = ""
    kind: str = ""
    by: str = ""
    begin: datetime | None = None
    end: datetime | None = None

    def events(self, lowest: int = 0, highest: int | None = None) -> QuerySet[Event]:
        """The events of this selection with ids from ``lowest`` to ``highest``. Whatever is asked ends in an index that
        has the ids in order; ``by`` finds acts only, since an index over what millions of heartbeats changed would
        cost each of them."""
        found = Event.objects.select_related("agent")
        if self.agent:
            found = found.filter(agent_id=agent_key(self.agent))
        if self.kind and self.kind != ACTS:
            found = found.filter(kind=self.kind)
        if self.kind == ACTS or self.by:
            found = found.filter(Act.IS_ONE)
        if self.by:
            found = found.filter(by=self.by)
        return self._between(found, lowest, highest)

    def _between(self, found: QuerySet[Event], lowest: int, highest: int | None) -> QuerySet[Event]:
        """One bound on either side: of two SQLite may take the wider one, and read what lies between them."""
        if self.begin:
            lowest = max(lowest, first_event_since(self.begin))
        if self.end:
            end = first_event_since(self.end) - 1
            highest = end if highest is None else min(highest, end)
        found = found.filter(pk__gte=lowest) if lowest else found
        return found if highest is None else found.filter(pk__lte=highest)


@dataclass(frozen=True, slots=True)
class EventPage:
    """Events, newest first. ``next`` is the id that the following page begins with, ``newest`` that of the newest
    event of all that the page may know."""

    events: list[Event]
    next: int | None
    newest: int


def events(selection: EventSelection, at: int | None, limit: int) -> EventPage:
    """The newest ``limit`` events of ``selection``, from the id ``at`` downwards where it is given."""
    newest = Event.objects.order_by("-pk").values_list("pk", flat=True).first() or 0
    rows = list(selection.events(highest=at).order_by("-pk")[: limit + 1])
    newest = max(newest, rows[0].pk if rows else 0)  # one may have come between the two questions
    return EventPage(rows[:limit], rows[limit].pk if len(rows) > limit else None, newest)


def newer_events(selection: EventSelection, after: int) -> int:
    """How many events of ``selection`` came after the id ``after``; no more than MANY are counted."""
    return selection.events(lowest=after + 1).order_by("pk")[:MANY].count()


def agent_key(slug: str) -> int:
    """The primary key of the agent ``slug``; 0, which nobody has, where there is none."""
    return Agent.objects.filter(slug=slug).values_list("pk", flat=True).first() or 0


def first_event_since(moment: datetime) -> int:
    """The lowest id of what happened at ``moment`` or later: everything that happened before and was known by then
    has a lower one. An edge that a sweep found late stands where it was found."""
    later = Event.objects.filter(at__gte=moment).order_by("at", "pk").values("pk")[:NEAR]
    return later.aggregate(first=Min("pk"))["first"] or BEYOND


@dataclass(frozen=True, slots=True)
class AnomalySelection:
    """Which anomalies are asked for: of this kind, about this whole subject. Empty strings mean any."""

    kind: str = ""
    subject: str = ""

    def anomalies(self, *, is_open: bool, at: int | None = None) -> QuerySet[Anomaly]:
        """The open or the closed ones of this selection, newest first, from the id ``at`` downwards where given."""
        found = Anomaly.objects.select_related("agent").filter(closed_at__isnull=is_open).order_by("-pk")
        found = found.filter(kind=self.kind) if self.kind else found
        found = found if at is None else found.filter(pk__lte=at)
        if not self.subject:
            return found
        # an agent's are found by its key, which is indexed; the others, about the hub itself, are few
        agent = agent_key(self.subject)
        return found.filter(agent_id=agent) if agent else found.filter(agent=None, subject=self.subject)


@dataclass(frozen=True, slots=True)
class Standing:
    """How the anomalies stand: the id of the newest, and how many are open. One that opens or closes moves either."""

    newest: int
    n_open: int


def standing() -> Standing:
    newest = Anomaly.objects.order_by("-pk").values_list("pk", flat=True).first() or 0
    return Standing(newest, Anomaly.objects.filter(closed_at=None).count())
