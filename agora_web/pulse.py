"""A web process's pulse: before its first answer and every few seconds it marks that the hub can hear (design rule 8),
and it notices a wall clock that jumped."""

from __future__ import annotations

import gc
import logging
import threading
import time
from datetime import datetime

from django.conf import settings
from django.db import close_old_connections

from roster import clock
from roster.plans import STEP_LIMIT
from roster.services import uptime

from .database import write_back

log = logging.getLogger("agora.pulse")


def start_pulse() -> None:
    """Begins this process's stretch of uptime, and keeps marking it on a thread of its own: a server may load the
    application inside its event loop, where Django refuses the database."""
    begun = threading.Event()
    threading.Thread(target=_keep_beating, args=(begun,), name="pulse", daemon=True).start()
    begun.wait()
    gc.collect()
    gc.freeze()  # what start-up made lives for good; leaving it out of each collection steadies the slowest answers


def _keep_beating(begun: threading.Event) -> None:
    try:
        _beat()
    finally:
        begun.set()  # whatever came of it: the server waits
    rest = threading.Event()
    while not rest.wait(settings.UPTIME_MARK):
        _beat()
        _try(write_back)


def _beat() -> None:
    _try(clock.hub.follow)
    pulse.beat(clock.now(), time.monotonic())


class Pulse:
    """What one process knows of its own stretch of uptime: whether it has begun, and when it was last marked, which is
    when the database was last known to answer (``marked``)."""

    def __init__(self):
        self._watch, self._marked_at = uptime.StepWatch(), None
        self.marked: datetime | None = None

    def beat(self, now: datetime, steady: float) -> None:
        """Marks ``now`` (``steady`` on a clock that never steps). Where no mark came for longer than the guard holds
        edges back, since the database was away or the process stood still, that was an outage like any other; a
        shorter one moves no deadline, the guard bridges it (F019)."""
        step = self._watch.look(now, steady)
        if self._marked_at is None or steady - self._marked_at > settings.GUARD_HOLD.total_seconds():
            marked = _try(uptime.begin, now, settings.UPTIME_MARK)
        elif abs(step) > STEP_LIMIT:
            marked = _try(uptime.clock_stepped, step, now)
        else:
            marked = _try(uptime.mark, now)
        if marked:
            self._marked_at, self.marked = steady, now


pulse = Pulse()  # this process's


def _try(work, *args) -> bool:
    """Runs ``work``; False where the database was away. The next beat tries again."""
    try:
        work(*args)
        return True
    except Exception as error:
        log.warning("the pulse skipped %s: %s", work.__name__, type(error).__name__)
        return False
    finally:
        close_old_connections()
