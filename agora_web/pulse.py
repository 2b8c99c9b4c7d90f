"""A web process's pulse: before its first answer and every few seconds it marks that the hub can hear (design rule 8),
and it notices a wall clock that jumped."""

from __future__ import annotations

import gc
import logging
import threading
import time

from django.conf import settings
from django.db import close_old_connections
from django.utils import timezone

from roster.plans import STEP_LIMIT
from roster.services import uptime

log = logging.getLogger("agora.pulse")


def start_pulse() -> None:
    """Begins this process's stretch of uptime and keeps marking it on a thread of its own."""
    begun = _try(uptime.begin, timezone.now(), settings.UPTIME_MARK)
    gc.collect()
    gc.freeze()  # what start-up made lives for good; leaving it out of each collection steadies the slowest answers
    threading.Thread(target=_beat, args=(begun,), name="pulse", daemon=True).start()


def _beat(begun: bool) -> None:
    watch, rest = uptime.StepWatch(), threading.Event()
    while not rest.wait(settings.UPTIME_MARK):
        now = timezone.now()
        step = watch.look(now, time.monotonic())
        if not begun:
            begun = _try(uptime.begin, now, settings.UPTIME_MARK)
        elif abs(step) > STEP_LIMIT:
            _try(uptime.clock_stepped, step, now)
        else:
            _try(uptime.mark, now)


def _try(work, *args) -> bool:
    """Runs ``work``; False where the database was away. The next beat tries again."""
    try:
        work(*args)
        return True
    except Exception as error:
        log.warning("uptime not marked: %s", type(error).__name__)
        return False
    finally:
        close_old_connections()
