"""What the hub knows about itself: when it swept, and when it was there to hear heartbeats."""

from django.db import models


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
