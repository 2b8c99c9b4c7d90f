"""Who an agent is, apart from whether it can be reached."""

from django.db import models
from django.utils import timezone

from roster import states

from .agent import BOUNDS, choices, slug_rule
from .base import KeptModel


class Profile(KeptModel):
    """A member's page, ``kb/agents/<slug>.md``: membership rests on it, with or without a registry entry (R36)."""

    slug = models.CharField("id", max_length=64, unique=True, validators=[slug_rule])
    title = models.CharField(max_length=200, blank=True)
    role = models.CharField(max_length=200, blank=True)
    capabilities = models.JSONField(default=list, blank=True, help_text='A list of words, e.g. ["review", "release"].')
    contact = models.CharField(max_length=200, blank=True)
    public = models.BooleanField(default=False)
    liveness_mode = models.CharField(
        max_length=10,
        choices=choices(*states.MODES),
        null=True,
        blank=True,
        help_text="Declared mode. With 'async' or 'always-on' the agent is listed before it was ever heard.",
    )
    expected_interval = models.PositiveIntegerField(null=True, blank=True, validators=BOUNDS, help_text="Seconds.")
    body = models.TextField(blank=True, help_text="Markdown.")
    parse_error = models.CharField(max_length=500, blank=True, editable=False)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    updated_at = models.DateTimeField(default=timezone.now, editable=False)
    updated_by = models.CharField(max_length=80, blank=True, editable=False)

    def __str__(self):
        return self.slug

    @property
    def path(self) -> str:
        return f"kb/agents/{self.slug}.md"
