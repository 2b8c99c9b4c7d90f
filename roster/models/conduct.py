"""Rules of conduct, what was done against them, and what the agent was told of it."""

from django.db import models
from django.utils import timezone

from .agent import Agent, slug_rule
from .base import KeptModel


class Rule(KeptModel):
    """Something an agent of this fleet does not do."""

    slug = models.CharField("id", max_length=64, unique=True, validators=[slug_rule])
    text = models.TextField(help_text="What is asked of an agent, as the warning tells it.")
    active = models.BooleanField(default=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    def __str__(self):
        return self.slug


class Violation(KeptModel):
    """One act against a rule, with its evidence; the same evidence counts once. Its subject is the agent, whichever of
    its sessions did it."""

    agent = models.ForeignKey(Agent, on_delete=models.PROTECT, related_name="violations")
    rule = models.ForeignKey(Rule, on_delete=models.PROTECT, related_name="violations")
    evidence = models.TextField()
    evidence_key = models.CharField(max_length=200)
    reported_by = models.CharField(max_length=80)
    at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["agent", "rule", "evidence_key"], name="evidence_counts_once"),
        ]

    def __str__(self):
        return f"{self.agent}: {self.rule}"


class Warning(KeptModel):
    """What the agent was told about a violation, in its inbox. It counts until it is withdrawn or too old."""

    agent = models.ForeignKey(Agent, on_delete=models.PROTECT, related_name="warnings")
    rule = models.ForeignKey(Rule, on_delete=models.PROTECT, related_name="warnings")
    violation = models.OneToOneField(Violation, on_delete=models.PROTECT, related_name="warning")
    seq = models.PositiveBigIntegerField(null=True)  # of the message in its inbox
    at = models.DateTimeField()
    withdrawn_at = models.DateTimeField(null=True)
    withdrawn_by = models.CharField(max_length=80, blank=True)
    withdrawn_reason = models.CharField(max_length=500, blank=True)

    def __str__(self):
        return f"{self.agent}: {self.rule}"
