"""What happened (append-only) and what is wrong (open until it is right again)."""

from django.db import models
from django.db.models import Q

from .agent import Agent
from .base import KeptModel, KeptQuerySet, NothingIsDeleted

# written as two comparisons, since SQLite does not see that a query's list of kinds is that of an index
IS_ACT = ~Q(kind="presence") & ~Q(kind="activity")


class AppendOnlyQuerySet(KeptQuerySet):
    def update(self, **kwargs):
        raise NothingIsDeleted("Events are append-only.")


class Event(KeptModel):
    """One thing that happened: a presence edge, a change of activity, or somebody's act.

    Presence edges and acts share one table because one cursor runs over both (``GET /api/events``). Rows are inserted
    under the roster counter's lock, so ids come in commit order. ``by`` names who acted, ``agent`` whom it is about.
    ``before_since`` is when the state ``before`` began, where that is known: an edge may be recorded later than it was.
    """

    at = models.DateTimeField()
    kind = models.CharField(max_length=32)
    agent = models.ForeignKey(Agent, null=True, on_delete=models.PROTECT, related_name="events")
    by = models.CharField(max_length=80)
    before = models.JSONField(null=True)
    before_since = models.DateTimeField(null=True)
    after = models.JSONField(null=True)
    reason = models.CharField(max_length=500, blank=True)

    objects = AppendOnlyQuerySet.as_manager()

    class Meta:
        indexes = [
            models.Index(fields=["agent", "-id"]),
            models.Index(fields=["kind", "-id"]),
            models.Index(fields=["at", "id"]),
            models.Index(fields=["-id"], condition=IS_ACT, name="roster_event_acts"),
            models.Index(fields=["by", "-id"], condition=IS_ACT, name="roster_event_acts_by"),
        ]

    def __str__(self):
        return f"{self.kind} {self.at:%Y-%m-%d %H:%M:%S}"

    def save(self, *args, **kwargs):
        if self.pk:
            raise NothingIsDeleted("Events are append-only.")
        super().save(*args, **kwargs)


class PresenceEdge(Event):
    """The presence edges among the events, for the admin."""

    class Meta:
        proxy = True
        verbose_name = "presence event"


class Act(Event):
    """The events that somebody or something did on purpose, for the admin."""

    IS_ONE = IS_ACT

    class Meta:
        proxy = True
        verbose_name = "audit event"


class Anomaly(KeptModel):
    """Something a person should know about. At most one is open per kind and subject (R10)."""

    kind = models.CharField(max_length=32)
    subject = models.CharField(max_length=64)
    agent = models.ForeignKey(Agent, null=True, on_delete=models.PROTECT, related_name="anomalies")
    opened_at = models.DateTimeField()
    closed_at = models.DateTimeField(null=True)
    evidence = models.JSONField(default=dict)

    class Meta:
        verbose_name_plural = "anomalies"
        constraints = [
            models.UniqueConstraint(
                fields=["kind", "subject"], condition=Q(closed_at__isnull=True), name="one_open_anomaly_per_subject"
            )
        ]

    def __str__(self):
        return f"{self.kind} {self.subject}"
