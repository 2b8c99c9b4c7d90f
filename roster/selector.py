"""The one way from agent rows to a list that somebody sees.

A list that picks its own columns forgets the newest of them, and the fault shows at the first agent that differs (R104).
So every list comes through ``select``, and a start-up check sees to it (``agora_web.fleet_check``).
"""

from __future__ import annotations

from datetime import datetime

from django.db.models import QuerySet

from . import directory, rows
from .models import Agent


def select(agents: QuerySet[Agent], now: datetime, profiles: directory.Directory | None = None) -> list[rows.Row]:
    """The rows of ``agents`` as they are at ``now``, in their order; ``profiles`` are those of the present, where the
    caller has them already."""
    if profiles is None:
        profiles = directory.at(directory.versions()[1])
    return [rows.of_agent(agent, now, profiles.by_slug.get(agent.slug)) for agent in rows.stored(agents)]
