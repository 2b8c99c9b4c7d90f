"""How the queues of many agents stand, for a list of them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count

from inbox import turns
from inbox.models import Exchange


@dataclass(frozen=True, slots=True)
class Queue:
    """How many prompts wait for an agent, and whom it answers since when, if it answers anybody; of several the
    first."""

    waiting: int
    caller: str = ""
    since: datetime | None = None


def queues(keys: Collection[int], now: datetime) -> dict[int, Queue]:
    """The queues of the agents with the primary keys ``keys`` at ``now``."""
    runs = Exchange.objects.filter(target__in=keys, state=turns.RUNNING, lease_until__gt=now).order_by("-prompt")
    answers = {key: told for key, *told in runs.values_list("target", "caller__slug", "started_at")}
    queued = Exchange.objects.filter(target__in=keys, state=turns.QUEUED).values("target").annotate(n=Count("pk"))
    waiting = dict(queued.values_list("target", "n"))
    return {key: Queue(waiting.get(key, 0), *answers.get(key, ())) for key in keys}
