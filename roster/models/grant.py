"""What somebody may do beyond their role."""

from django.db import models
from django.db.models import Q

from .agent import Agent, choices
from .base import KeptModel


class Grant(KeptModel):
    """A permission that an admin gave to one agent or person by name (R103)."""

    PERMISSIONS = ("hire", "reassign", "retire", "force_retire", "dismiss", "disable")

    agent = models.ForeignKey(Agent, on_delete=models.PROTECT, related_name="grants", help_text="An agent or a person.")
    permission = models.CharField(max_length=16, choices=choices(*PERMISSIONS))
    granted_by = models.CharField(max_length=80, editable=False)
    granted_at = models.DateTimeField(editable=False)
    revoked_by = models.CharField(max_length=80, blank=True, editable=False)
    revoked_at = models.DateTimeField(null=True, blank=True, editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["agent", "permission"], condition=Q(revoked_at__isnull=True), name="granted_once"
            )
        ]

    def __str__(self):
        return f"{self.agent} may {self.permission.replace('_', '-')}"
