"""Time for waiting: a clock that never steps and that goes on while the machine sleeps."""

import time

# Waiting itself stands still during a suspend, so a long wait is cut into pieces this long (seconds), each of them
# followed by a look at the clock: that is how late a beat can be after a laptop wakes.
PIECE = 10.0


def _clock_id():
    # Linux stops CLOCK_MONOTONIC in a suspend and offers CLOCK_BOOTTIME; macOS lets CLOCK_MONOTONIC run on.
    return getattr(time, "CLOCK_BOOTTIME", None) or getattr(time, "CLOCK_MONOTONIC", None)


def elapsed(clock_id=_clock_id()):
    """Seconds since some fixed moment, time asleep included."""
    return time.monotonic() if clock_id is None else time.clock_gettime(clock_id)


def wait(seconds):
    """Wait until `seconds` have gone by, time asleep included; a signal handler that raises ends it at once."""
    due = elapsed() + seconds
    while (left := due - elapsed()) > 0:
        time.sleep(min(left, PIECE))
