"""The sweeps as Celery tasks: each takes the time, runs one service, and tells in one line what came of it."""

from __future__ import annotations

import logging
import time
from datetime import datetime

from celery import shared_task

from . import clock
from .plans import DRAIN_LATE, PERIODS, STEP_LIMIT, WARNING_AGE, plan
from .services import conduct, finishing, hours, people, sweeps, uptime
from .services import surge as queues

log = logging.getLogger("agora.sweeps")
_clock = uptime.StepWatch()


def _now() -> datetime:
    """A worker rests between its tasks: it sets its clock before each."""
    clock.hub.follow()
    return clock.now()


def _sweep(name: str) -> None:
    now = _now()
    step = _clock.look(now, time.monotonic())
    stepped = abs(step) > STEP_LIMIT
    if stepped:
        uptime.clock_stepped(step, now)
    run = sweeps.run(plan(name), now, stepped=stepped)
    if run is not None and (run.edges or run.outcome != "ok"):
        log.info("%s: %s, %d looked at, %d edges, %d errors", name, run.outcome, run.looked_at, run.edges, run.errors)


@shared_task
def dormancy_and_silence():
    _sweep(sweeps.DORMANCY)


@shared_task
def expire_ephemeral():
    _sweep(sweeps.EXPIRY)


@shared_task
def employment():
    run = finishing.run(PERIODS[finishing.NAME], DRAIN_LATE, _now())
    if run is not None and (run.edges or run.errors):
        log.info("%s: %d looked at, %d changed, %d errors", run.name, run.looked_at, run.edges, run.errors)


@shared_task
def surge():
    run = queues.run(PERIODS[queues.NAME], _now())
    if run is not None and (run.edges or run.errors):
        log.info("%s: %d looked at, %d cloned, %d errors", run.name, run.looked_at, run.edges, run.errors)


@shared_task
def presence_hours():
    hours.count(PERIODS[hours.NAME], _now())


@shared_task
def sweep_watch():
    now = _now()
    sweeps.watch(PERIODS, now)
    people.forget_ended(now)
    conduct.review_all(now, WARNING_AGE)
