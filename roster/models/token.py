"""Credentials: only digests are stored, a raw token is shown once."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from .agent import Agent, Node, choices
from .base import KeptModel


class Token(KeptModel):
    """What a caller of the API proves itself with. ``digest`` is the SHA-256 of the whole token."""

    KINDS = ("agent", "node", "enrolment", "person")

    kind = models.CharField(max_length=10, choices=choices(*KINDS))
    agent = models.ForeignKey(Agent, null=True, blank=True, on_delete=models.PROTECT, related_name="tokens")
    node = models.ForeignKey(Node, null=True, blank=True, on_delete=models.PROTECT, related_name="tokens")
    prefix = models.CharField(max_length=16, unique=True)
    digest = models.CharField(max_length=64, unique=True)
    label = models.CharField(max_length=80, blank=True)
    created_at = models.DateTimeField()
    created_by = models.CharField(max_length=80)
    revoked_at = models.DateTimeField(null=True)
    revoked_by = models.CharField(max_length=80, blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(kind="enrolment", agent=None, node=None)
                | Q(kind="node", agent=None, node__isnull=False)
                | Q(kind__in=["agent", "person"], agent__isnull=False, node=None),
                name="token_has_its_owner",
                violation_error_message="Choose whose token it is: an agent or a person under agent, a node under node, "
                "nobody for an enrolment token.",
            )
        ]

    def __str__(self):
        return f"{self.prefix}…"


class SignInLink(models.Model):
    """A one-time way in for a person, printed on the terminal of somebody who already runs the hub."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT)
    digest = models.CharField(max_length=64, unique=True)
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True)

    def __str__(self):
        return f"sign-in link of {self.user}"
