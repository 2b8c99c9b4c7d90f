"""The drain-ACK sweep as a Celery task."""

from __future__ import annotations

import logging

from celery import shared_task

from roster import clock

from .plans import PLAN
from .services import sweeping

log = logging.getLogger("agora.sweeps")


@shared_task
def drain_ack():
    clock.hub.follow()  # a worker rests between its tasks
    run = sweeping.run(PLAN, clock.now())
    if run is not None and (run.edges or run.outcome != "ok"):
        log.info(
            "%s: %s, %d looked at, %d changed, %d errors", run.name, run.outcome, run.looked_at, run.edges, run.errors
        )
