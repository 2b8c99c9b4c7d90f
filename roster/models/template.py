"""Blueprints of agents, and the rules by which a growing queue makes one of them a real agent."""

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q
from django.utils import timezone

from roster import employment, states

from .agent import CAP_BOUNDS, Agent, Node, choices, slug_rule
from .base import KeptModel

LIFE_BOUNDS = [MinValueValidator(employment.SHORTEST_LIFE), MaxValueValidator(employment.LONGEST_LIFE)]


class AgentTemplate(KeptModel):
    """A blueprint and no agent: it has no presence, no inbox and no queue, and nobody can write to it."""

    slug = models.CharField("id", max_length=48, unique=True, validators=[slug_rule])
    display_name = models.CharField(max_length=200, blank=True)
    engram = models.TextField(blank=True, help_text="The system prompt that each clone begins with.")
    tool_scope = models.JSONField(
        null=True, blank=True, help_text="The most that a clone may use; empty for the usual ones."
    )
    max_sessions = models.PositiveSmallIntegerField(default=1, validators=CAP_BOUNDS)
    node = models.ForeignKey(
        Node, null=True, blank=True, on_delete=models.PROTECT, related_name="templates",
        help_text="Where clones live unless a clone is asked for elsewhere.",
    )  # fmt: skip
    liveness_mode = models.CharField(max_length=10, choices=choices(*states.MODES), default=states.ASYNC)
    lifetime = models.PositiveIntegerField(
        default=24 * 3600, validators=LIFE_BOUNDS, help_text="Seconds after which a clone is drained."
    )
    archived_at = models.DateTimeField(null=True, blank=True, editable=False)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    created_by = models.CharField(max_length=80, blank=True, editable=False)

    class Meta:
        verbose_name = "template"
        constraints = [
            models.CheckConstraint(
                condition=Q(lifetime__gte=employment.SHORTEST_LIFE, lifetime__lte=employment.LONGEST_LIFE),
                name="template_lifetime_in_bounds",
            ),
            models.CheckConstraint(
                condition=Q(max_sessions__gte=employment.FEWEST_SESSIONS, max_sessions__lte=employment.MOST_SESSIONS),
                name="template_cap_in_bounds",
            ),
        ]

    def __str__(self):
        return self.slug


class SurgeRule(KeptModel):
    """When the queue of ``agent`` has grown for so many looks in a row, a clone of ``template`` is hired."""

    template = models.ForeignKey(AgentTemplate, on_delete=models.PROTECT, related_name="rules")
    agent = models.ForeignKey(Agent, on_delete=models.PROTECT, related_name="surge_rules", help_text="Whose queue.")
    above = models.PositiveIntegerField(default=3, help_text="Prompts that wait; more than these are too many.")
    samples = models.PositiveSmallIntegerField(
        default=3, validators=[MinValueValidator(2), MaxValueValidator(60)], help_text="Looks in a row, a minute apart."
    )
    cooldown = models.PositiveIntegerField(default=600, help_text="Seconds between two clones.")
    most = models.PositiveSmallIntegerField(default=2, help_text="Clones of this rule that may live at once.")
    active = models.BooleanField(default=True)
    seen = models.JSONField(default=list, editable=False)  # the last lengths, oldest first
    cloned_at = models.DateTimeField(null=True, editable=False)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["template", "agent"], name="one_surge_rule_per_queue")]

    def __str__(self):
        return f"{self.template} for {self.agent}"
