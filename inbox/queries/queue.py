"""The queue of an agent: what runs, what waits and in which place, whether its node can be reached."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Q

from inbox import turns
from inbox.models import Exchange
from roster import contact
from roster.models import Agent


@dataclass(frozen=True, slots=True)
class Line:
    """A prompt that runs or waits. ``position`` is the number of those ahead of it, what runs included, and one; 0 where
    it runs itself. ``until`` is when its runner's lease ends."""

    exchange: int
    caller: str
    subject: str
    prompt: str
    asked_at: datetime
    started_at: datetime | None
    until: datetime | None
    position: int


@dataclass(frozen=True, slots=True)
class Standing:
    """How the queue of an agent stands: what runs, of ``cap`` at most, and the first of what waits. ``since`` is since
    when its node is out of reach; None where it is not, or the agent has none."""

    running: tuple[Line, ...]
    queue: tuple[Line, ...]
    queued: int
    cap: int
    since: datetime | None

    @property
    def in_use(self) -> int:
        return len(self.running)

    @property
    def reachable(self) -> bool:
        return self.since is None


@dataclass(frozen=True, slots=True)
class Place:
    """Where one open exchange stands in its queue, as its caller is told."""

    position: int
    cap: int
    in_use: int
    since: datetime | None


def standing(agent: Agent, now: datetime, limit: int = 50) -> Standing:
    """How the queue of ``agent`` stands at ``now``, with ``limit`` of those that wait."""
    open_ = _open(agent, now).select_related("caller", "prompt").order_by("prompt")
    running = [_line(each, 0) for each in open_.filter(state=turns.RUNNING)]
    waiting = open_.filter(state=turns.QUEUED)
    queue = [_line(each, place) for place, each in enumerate(waiting[:limit], len(running) + 1)]
    queued = len(queue) if len(queue) < limit else waiting.count()
    return Standing(tuple(running), tuple(queue), queued, agent.max_sessions, unreachable_since(agent, now))


def place(exchange: Exchange, now: datetime) -> Place:
    """Where ``exchange``, which is open and read with its target and that one's node, stands at ``now``."""
    target = exchange.target
    ahead = Count("pk", filter=Q(prompt__lt=exchange.pk) | Q(state=turns.RUNNING))
    counts = _open(target, now).aggregate(ahead=ahead, in_use=Count("pk", filter=Q(state=turns.RUNNING)))
    position = 0 if exchange.state == turns.RUNNING else counts["ahead"] + 1
    return Place(position, target.max_sessions, counts["in_use"], unreachable_since(target, now))


def unreachable_since(agent: Agent, now: datetime) -> datetime | None:
    """Since when the home node of ``agent`` is out of reach; None where it is not, or there is none."""
    node = agent.home_node
    return node and contact.unreachable_since(node.contact_at, node.interval, now)


def ended(numbers: Collection[int], now: datetime) -> set[int]:
    """Which of the exchanges ``numbers`` have ended at ``now``."""
    over = ~Q(state__in=turns.OPEN) | Q(state=turns.RUNNING, lease_until__lte=now)
    return set(Exchange.objects.filter(over, pk__in=numbers).values_list("pk", flat=True)) if numbers else set()


def _open(agent: Agent, now: datetime):
    """What is open at ``now``: a lease that has lapsed holds no place."""
    return Exchange.objects.filter(
        Q(state=turns.QUEUED) | Q(state=turns.RUNNING, lease_until__gt=now), target=agent, state__in=turns.OPEN
    )


def _line(each: Exchange, position: int) -> Line:
    prompt = each.prompt
    return Line(
        each.pk,
        each.caller.slug,
        prompt.subject,
        prompt.body,
        each.asked_at,
        each.started_at,
        each.lease_until,
        position,
    )
