"""One thread that waits for descriptors, timers and signals. asyncio would cost the supervisor half its memory."""

import os
import selectors
import signal
import time
from typing import Callable

from .errors import Stopped

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Loop:
    """Waits; `stops` counts the stop signals received so far. One per process: it owns the signal handlers."""

    def __init__(self):
        self.stops = 0
        self.on_child_exit: Callable[[], None] = lambda: None
        self._selector = selectors.DefaultSelector()
        self._timers: list[tuple[float, Callable[[], None]]] = []
        self._bell, self._ringer = os.pipe()
        os.set_blocking(self._bell, False)
        os.set_blocking(self._ringer, False)
        self.watch(self._bell, self._hear)
        signal.set_wakeup_fd(self._ringer, warn_on_full_buffer=False)
        for number in STOP_SIGNALS:
            # nohup leaves SIGHUP ignored, and it stays so. A shell ignores SIGINT for what it starts in the
            # background; whoever sends it there on purpose still means it.
            if number != signal.SIGHUP or signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self._count_stop)
        signal.signal(signal.SIGCHLD, lambda number, frame: None)

    def watch(self, descriptor: int, ready: Callable[[], None]) -> None:
        """Call `ready` whenever `descriptor` can be read."""
        self._selector.register(descriptor, selectors.EVENT_READ, ready)

    def unwatch(self, descriptor: int) -> None:
        self._selector.unregister(descriptor)

    def after(self, seconds: float, action: Callable[[], None]) -> None:
        """Call `action` once, `seconds` from now."""
        self._timers.append((time.monotonic() + seconds, action))
        self._timers.sort(key=lambda timer: timer[0])

    def until(self, done: Callable[[], bool], seconds: float | None = None, heed_stops: bool = True) -> bool:
        """Run until `done()`; False when `seconds` passed first (None: wait for ever).

        Raises Stopped when a stop signal has come, unless `heed_stops` is off (as while stopping).
        """
        deadline = None if seconds is None else time.monotonic() + seconds
        while not done():
            if heed_stops and self.stops:
                raise Stopped
            left = None if deadline is None else deadline - time.monotonic()
            if left is not None and left <= 0:
                return False
            self._turn(left)
        return True

    def _turn(self, limit: float | None) -> None:
        for key, _ in self._selector.select(self._patience(limit)):
            # An earlier callback of this turn may have ended the watch.
            if key.fd in self._selector.get_map():
                key.data()
        now = time.monotonic()
        while self._timers and self._timers[0][0] <= now:
            self._timers.pop(0)[1]()

    def _patience(self, limit: float | None) -> float | None:
        waits = [] if limit is None else [limit]
        if self._timers:
            waits.append(self._timers[0][0] - time.monotonic())
        return max(0.0, min(waits)) if waits else None

    def _hear(self) -> None:
        try:
            os.read(self._bell, 512)
        except BlockingIOError:
            pass
        self.on_child_exit()

    def _count_stop(self, number, frame) -> None:
        self.stops += 1
