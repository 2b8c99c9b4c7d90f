"""The only place that sends into the channel layer. A push is a hint, the table is the truth (design rule 6)."""

from __future__ import annotations

import asyncio
import atexit
import logging
import queue
import threading

from channels.layers import get_channel_layer

log = logging.getLogger(__name__)
GROUP = "roster"
LAST_WORDS = 2  # seconds a process waits at its end for its last nudge to leave


def nudge(version: int) -> None:
    """Tells every web process, soon, that the roster has a newer version.

    Never waits and never fails: the send runs on a thread of its own, many nudges become one, and where the broker is
    away the open pages catch up by themselves within seconds.
    """
    _nudger.tell(version)


class _Nudger:
    """One thread and one event loop a process, so that the layer keeps its connection."""

    def __init__(self):
        self._versions: queue.SimpleQueue = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def tell(self, version: int) -> None:
        self._versions.put(version)
        if self._thread is None:
            with self._lock:
                if self._thread is None:
                    self._thread = threading.Thread(target=self._run, name="nudge", daemon=True)
                    self._thread.start()
                    atexit.register(self._finish)

    def _finish(self) -> None:
        """Lets a short command send its last nudge before the interpreter takes the thread away."""
        self._versions.put(None)
        self._thread.join(LAST_WORDS)

    def _run(self) -> None:
        loop = asyncio.new_event_loop()
        while (version := self._latest()) is not None:
            try:
                loop.run_until_complete(get_channel_layer().group_send(GROUP, {"type": "nudge", "version": version}))
            except Exception as error:
                log.warning("a nudge was not sent, pages catch up by themselves: %s", type(error).__name__)

    def _latest(self) -> int | None:
        """The newest version told; None once the process ends and nothing is left to say."""
        version = self._versions.get()
        while version is not None and not self._versions.empty():
            newer = self._versions.get()
            if newer is None:
                self._versions.put(None)
                return version
            version = max(version, newer)
        return version


_nudger = _Nudger()
