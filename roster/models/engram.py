"""What an agent is told to be, and what it remembers: both only grow."""

from django.db import models

from .agent import Agent
from .base import KeptModel, KeptQuerySet, NothingIsDeleted


class GrowingQuerySet(KeptQuerySet):
    def update(self, **kwargs):
        raise NothingIsDeleted(f"{self.model.__name__} rows never change; a newer one follows.")


class GrowingModel(KeptModel):
    """Rows that are added and never changed."""

    objects = GrowingQuerySet.as_manager()

    class Meta:
        abstract = True

    def save(self, *args, **kwargs):
        if self.pk:
            raise NothingIsDeleted(f"{type(self).__name__} rows never change; a newer one follows.")
        super().save(*args, **kwargs)


class EngramRevision(GrowingModel):
    """One text of an agent's system prompt; the highest ``number`` is the one that its next turn uses."""

    agent = models.ForeignKey(Agent, on_delete=models.PROTECT, related_name="engrams")
    number = models.PositiveIntegerField()
    text = models.TextField(blank=True)
    author = models.CharField(max_length=80)
    at = models.DateTimeField()

    class Meta:
        verbose_name = "engram"
        constraints = [models.UniqueConstraint(fields=["agent", "number"], name="one_engram_per_number")]

    def __str__(self):
        return f"{self.agent} engram {self.number}"


class MemoryEntry(GrowingModel):
    """Something that an agent wrote down for itself; shown to no other agent."""

    agent = models.ForeignKey(Agent, on_delete=models.PROTECT, related_name="memory")
    kind = models.CharField(max_length=64)
    text = models.TextField()
    at = models.DateTimeField()

    class Meta:
        verbose_name_plural = "memory entries"
        indexes = [models.Index(fields=["agent", "-id"])]

    def __str__(self):
        return f"{self.agent} {self.kind}"
