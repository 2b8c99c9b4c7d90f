"""What the hub knows about itself: when it swept, when it was there to hear heartbeats, and how the fleet stood."""

from django.db import models

from .base import KeptModel


class SweepRun(models.Model):
    """One run of one sweep. Old runs are pruned: they are the hub's own pulse, not the fleet's history."""

    name = models.CharField(max_length=32)
    started_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True)
    outcome = models.CharField(max_length=16, default="running")  # running, ok, partial, held, failed
    looked_at = models.PositiveIntegerField(default=0)
    edges = models.PositiveIntegerField(default=0)
    errors = models.PositiveIntegerField(default=0)
    note = models.CharField(max_length=500, blank=True)

    class Meta:
        indexes = [models.Index(fields=["name", "-started_at"])]

    def __str__(self):
        return f"{self.name} {self.started_at:%Y-%m-%d %H:%M:%S}"


class HubUptime(models.Model):
    """One stretch in which the hub could hear heartbeats: from ``up_at`` to ``alive_at``, its last mark.

    ``down_at`` is where the stretch before it ended: between the two the hub was down (design rule 8).
    """

    up_at = models.DateTimeField()
    alive_at = models.DateTimeField()
    down_at = models.DateTimeField(null=True)
    moved = models.PositiveIntegerField(default=0)
    stepped_at = models.DateTimeField(null=True)

    def __str__(self):
        return f"up {self.up_at:%Y-%m-%d %H:%M:%S}"


class PresenceHour(KeptModel):
    """How many listed agents there were of each word when the hour ``hour`` (its begin) was last counted.

    An hour without a row was not counted: the hub was away, or not there yet. Rows are kept: 24 a day.
    """

    hour = models.DateTimeField(unique=True)
    counted_at = models.DateTimeField()
    live = models.PositiveIntegerField()
    silent = models.PositiveIntegerField()
    dormant = models.PositiveIntegerField()
    unknown = models.PositiveIntegerField()
    disabled = models.PositiveIntegerField()

    def __str__(self):
        return f"{self.hour:%Y-%m-%d %H:00}"
