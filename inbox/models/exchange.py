"""A prompt and what came of it: the record of who asked whom what."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from inbox import turns
from roster.models import Agent
from roster.models.agent import choices
from roster.models.base import KeptModel, KeptQuerySet

from .mail import Message


class ExchangeQuerySet(KeptQuerySet):
    def whole(self) -> ExchangeQuerySet:
        """With all that is told of an exchange: both sides, what was asked and what was answered."""
        return self.select_related("target__home_node", "caller", "prompt", "answer")


class Exchange(KeptModel):
    """One prompt to one agent. It goes by the number of its prompt, so the queue is in the order of the commits.

    It holds the direct caller and nobody behind them (R152). ``lease_key`` and ``lease_until`` are the runner's;
    ``of_node`` is kept here so that the database itself lets a node's agent run one thing at a time. ``disabled`` is how
    the switch stood when it was answered by the switch; ``note`` says why it failed or was not run.
    """

    prompt = models.OneToOneField(Message, primary_key=True, on_delete=models.PROTECT, related_name="exchange")
    target = models.ForeignKey(Agent, on_delete=models.PROTECT, related_name="exchanges", db_index=False)
    caller = models.ForeignKey(Agent, on_delete=models.PROTECT, related_name="prompts", db_index=False)
    of_node = models.BooleanField()
    state = models.CharField(max_length=8, choices=choices(*turns.STATES), default=turns.QUEUED)
    outcome = models.CharField(max_length=8, blank=True, choices=choices("", *turns.OUTCOMES))
    answer = models.OneToOneField(Message, null=True, on_delete=models.PROTECT, related_name="answered")
    note = models.CharField(max_length=turns.LONGEST_NOTE, blank=True)
    disabled = models.JSONField(null=True)
    model_invoked = models.BooleanField(default=False)
    asked_at = models.DateTimeField()
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    lease_key = models.CharField(max_length=32, blank=True, db_index=True)
    lease_until = models.DateTimeField(null=True)
    session = models.CharField(max_length=200, blank=True)

    objects = ExchangeQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["target"], condition=Q(state=turns.RUNNING, of_node=True), name="node_agent_runs_one"
            ),
            models.CheckConstraint(condition=Q(state__in=turns.STATES), name="exchange_state_known"),
            models.CheckConstraint(
                condition=~Q(state=turns.RUNNING) | Q(lease_until__isnull=False), name="exchange_running_has_lease"
            ),
        ]
        indexes = [
            models.Index(fields=["target", "-prompt"], name="exchange_record"),
            models.Index(fields=["caller", "-prompt"], name="exchange_asked"),
            models.Index(
                fields=["target", "state", "prompt"], condition=Q(state__in=turns.OPEN), name="exchange_queue"
            ),
            models.Index(fields=["lease_until"], condition=Q(state=turns.RUNNING), name="exchange_lease"),
        ]

    def __str__(self):
        return f"#{self.prompt_id} {self.state}"

    def facts(self) -> turns.Facts:
        """What its state depends on."""
        return turns.Facts(self.state, self.lease_key, self.lease_until, self.finished_at)
