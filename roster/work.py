"""What the roster has to ask of, and to tell, whoever hands out work. The inbox registers itself here at start; the
roster never imports it (design section 7). Every call runs inside the caller's transaction, the agent's row locked."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from .models import Agent


@dataclass(frozen=True, slots=True)
class Held:
    """What an agent has to do: prompts that wait and that run, messages taken under a lease, mail that waits."""

    queued: int = 0
    running: int = 0
    leased: int = 0
    waiting: int = 0

    @property
    def is_empty(self) -> bool:
        """Whether a draining agent is done: no prompt and no lease; mail may wait (design section 4)."""
        return not (self.queued or self.running or self.leased)

    @property
    def is_idle(self) -> bool:
        """Whether it may be moved: nothing is under way; what waits goes with it (D25)."""
        return not (self.running or self.leased)


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt that waits for an agent, or that runs since ``started_at``; it goes by the number of its ``exchange``."""

    exchange: int
    caller: str
    asked_at: datetime
    started_at: datetime | None = None


class Work(Protocol):
    def session_began(self, agent: Agent, session: str, now: datetime) -> None:
        """A new session of ``agent`` said hello: what an older one holds comes back. Brings ``agent.waiting`` up to
        date."""

    def held(self, agent: Agent, now: datetime) -> Held:
        """What ``agent`` has to do at ``now``; a lease that has lapsed holds nothing."""

    def prompts(self, agents: list[int], now: datetime) -> dict[int, list[Prompt]]:
        """The open prompts of ``agents`` (primary keys) in their order, for a look: nothing is locked."""

    def disabled(self, agent: Agent, now: datetime) -> int:
        """``agent`` was disabled just now: answers every prompt that waits for it with that, in order; returns how
        many. What runs goes on."""

    def retired(self, agent: Agent, now: datetime, *, by: str) -> None:
        """``agent`` is retired: what still waits or runs is given up, its mail is put away, and whoever sent it is
        told."""

    def notify(self, agent: Agent, kind: str, subject: str, body: str, now: datetime) -> int:
        """Puts a message of the hub's own (``kind`` "system" or "warning") into the inbox of ``agent``; returns its
        number."""


class NoWork:
    """The stand-in of a roster without an inbox."""

    def session_began(self, agent: Agent, session: str, now: datetime) -> None:
        """Nobody holds anything."""

    def held(self, agent: Agent, now: datetime) -> Held:
        return Held()

    def prompts(self, agents: list[int], now: datetime) -> dict[int, list[Prompt]]:
        return {}

    def disabled(self, agent: Agent, now: datetime) -> int:
        return 0

    def retired(self, agent: Agent, now: datetime, *, by: str) -> None:
        """Nothing waits."""

    def notify(self, agent: Agent, kind: str, subject: str, body: str, now: datetime) -> int:
        return 0


_registered: Work = NoWork()


def register(work: Work) -> None:
    global _registered
    _registered = work


def registered() -> Work:
    return _registered
