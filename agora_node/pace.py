"""How long to wait before the next beat. Pure: told what happened, it answers in seconds."""

import random

SHORTEST, LONGEST = 1.0, 30 * 86400.0
UNTOLD = 300.0
FIRST_RETRY, SLOWEST_RETRY = 2.0, 60.0
LONGEST_PAUSE_ASKED = 3600.0


class Pace:
    """`period` in seconds, or None for what the hub suggests; `between(low, high)` draws the jitter."""

    def __init__(self, period=None, between=random.uniform):
        self.period = period
        self._between = between
        self._failures = 0

    def after_success(self, suggested=None):
        """Seconds until the next beat; `suggested` is the hub's `next_heartbeat_in` as received."""
        self._failures = 0
        if self.period is not None:
            return self.period
        usable = isinstance(suggested, (int, float)) and suggested > 0
        return min(max(float(suggested), SHORTEST), LONGEST) if usable else UNTOLD

    def after_failure(self, retry_after=None):
        """Seconds until the next try: doubling up to a minute, never before `retry_after`, spread by chance.

        The spread keeps a fleet that lost its hub in one moment from returning in one moment.
        """
        longest = min(SLOWEST_RETRY, FIRST_RETRY * 2 ** min(self._failures, 10))
        self._failures += 1
        asked = min(retry_after or 0.0, LONGEST_PAUSE_ASKED)
        return max(self._between(longest / 2, longest), asked * self._between(1.0, 1.2))
