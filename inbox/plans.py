"""How often the drain-ACK sweep runs and how much it takes, from the settings."""

from __future__ import annotations

from datetime import timedelta

from django.conf import settings

from .services import sweeping

PLAN = sweeping.Plan(timedelta(seconds=settings.DRAIN_ACK), settings.SWEEP_BATCH, settings.ARCHIVE_AFTER)
