"""When the sweeps run. Intervals in UTC seconds and nothing on disk: no time zone, no saved state, no missed runs to
make up for."""

from __future__ import annotations

from celery.beat import Scheduler

from roster.plans import PERIODS, TASKS

BEAT_SCHEDULE = {
    name: {
        "task": TASKS[name],
        "schedule": period,
        "options": {"expires": period.total_seconds()},  # a tick nobody took in time is not made up for
    }
    for name, period in PERIODS.items()
}


class InMemoryScheduler(Scheduler):
    """Celery's plain scheduler, with every sweep due at its start: a beat that is restarted often still sweeps."""

    def setup_schedule(self):
        super().setup_schedule()
        for entry in self.schedule.values():
            entry.last_run_at -= entry.schedule.run_every
