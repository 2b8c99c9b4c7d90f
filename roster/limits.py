"""How often one caller may call: token buckets in the memory of each web process."""

from __future__ import annotations

import threading
import time
from math import ceil

from .errors import TooMany

KEPT = 20_000  # callers remembered; the least recent are forgotten, which only ever lets somebody in


class Buckets:
    """A bucket a caller: ``burst`` calls at once, refilled by ``rate`` a second."""

    def __init__(self, rate: float, burst: int):
        self.rate, self.burst = rate, burst
        self._left: dict[str, tuple[float, float]] = {}
        self._lock = threading.Lock()

    def take(self, caller: str, now: float | None = None) -> None:
        """Takes one call of ``caller`` at ``now`` (seconds of a steady clock). Raises TooMany when none is left."""
        now = time.monotonic() if now is None else now
        with self._lock:
            left, at = self._left.pop(caller, (float(self.burst), now))
            left = min(self.burst, left + (now - at) * self.rate)
            allowed = left >= 1
            self._left[caller] = (left - 1 if allowed else left, now)
            if len(self._left) > KEPT:
                del self._left[next(iter(self._left))]
        if not allowed:
            raise TooMany(ceil((1 - left) / self.rate))

    def forget(self, caller: str) -> None:
        """Gives ``caller`` its whole burst again."""
        with self._lock:
            self._left.pop(caller, None)
