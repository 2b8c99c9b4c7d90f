"""What the roster has to ask of, and to tell, whoever hands out work. The inbox registers itself here at start; the
roster never imports it (design section 7)."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from .models import Agent


class Work(Protocol):
    def session_began(self, agent: Agent, session: str, now: datetime) -> None:
        """A new session of ``agent``, whose row is locked, said hello: what an older one holds comes back. Brings
        ``agent.waiting`` up to date. Runs inside the transaction of the hello."""


class NoWork:
    """The stand-in of a roster without an inbox."""

    def session_began(self, agent: Agent, session: str, now: datetime) -> None:
        """Nobody holds anything."""


_registered: Work = NoWork()


def register(work: Work) -> None:
    global _registered
    _registered = work


def registered() -> Work:
    return _registered
