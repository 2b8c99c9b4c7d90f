"""How often each sweep runs and over whom, from the settings; other rooms tell of theirs at start."""

from __future__ import annotations

from datetime import timedelta

from django.conf import settings
from django.db.models import Q

from . import states, tools
from .services import finishing, guard, hours, surge, sweeps

PERIODS = {
    sweeps.DORMANCY: timedelta(seconds=settings.DORMANCY_SWEEP),
    sweeps.EXPIRY: timedelta(seconds=settings.EXPIRY_SWEEP),
    hours.NAME: timedelta(seconds=settings.HOUR_COUNT),
    finishing.NAME: timedelta(seconds=settings.EMPLOYMENT_SWEEP),
    surge.NAME: timedelta(seconds=settings.SURGE_SWEEP),
    sweeps.WATCH: timedelta(seconds=settings.SWEEP_WATCH),
}
TASKS = {name: f"roster.tasks.{name}" for name in PERIODS}
DRAIN_LATE = settings.DRAIN_LATE
STEP_LIMIT = 2 * min(
    PERIODS[name] for name in (sweeps.DORMANCY, sweeps.EXPIRY)
)  # a wall clock that jumps further than this has stepped (design rule 9)

_EPHEMERAL = Q(liveness_mode=states.EPHEMERAL)
_EMPLOYED = ~Q(lifecycle=states.RETIRED)  # nobody waits for who has left
_ROWS = {  # a row of no known mode is the dormancy sweep's
    sweeps.DORMANCY: ~_EPHEMERAL & _EMPLOYED,
    sweeps.EXPIRY: _EPHEMERAL & _EMPLOYED,
}
TOOLS = tools.Usual(person=settings.PERSON_TOOLS, node=settings.NODE_TOOLS)
WARNING_AGE = settings.WARNING_AGE
_LIMITS = guard.Limits(settings.GUARD_SHARE, settings.GUARD_LEAST, settings.GUARD_HOLD)


def plan(name: str) -> sweeps.Plan:
    """The plan of the sweep ``name``."""
    return sweeps.Plan(name, _ROWS[name], PERIODS[name], settings.SWEEP_BATCH, _LIMITS)


def add(name: str, period: timedelta, task: str) -> None:
    """The sweep ``name`` of another room: run by the Celery task ``task``, and watched like the roster's own."""
    PERIODS[name], TASKS[name] = period, task
