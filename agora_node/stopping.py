"""SIGTERM and Ctrl-C for a process that finishes what it has begun: the first asks for an end, the second forces it."""

import signal

from agora_node import clock

STEP = 0.2


class Stopping:
    """`asked` counts the signals. `on_signal()` is called inside the handler, so it may neither print nor lock."""

    def __init__(self, on_signal):
        self.asked = 0
        self._on_signal = on_signal

    def listen(self):
        """Take over both signals."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._heard)

    def _heard(self, number, frame):
        self.asked += 1
        if self.asked > 1:
            self.let_go()
        self._on_signal()

    def let_go(self):
        """From here on a signal ends the process."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, signal.SIG_DFL)

    def wait(self, seconds):
        """Wait until `seconds` have gone by, time asleep included, or a signal comes; returns whether none came."""
        before, due = self.asked, clock.elapsed() + seconds
        while self.asked == before and (left := due - clock.elapsed()) > 0:
            clock.wait(min(left, STEP))
        return self.asked == before
