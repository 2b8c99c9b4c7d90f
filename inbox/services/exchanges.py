"""Prompts and what comes of them. Each call locks the target's row, so a queue has one writer; the counts that the
roster shows are brought up to date by every one of them (``recount``)."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction
from django.db.models import F

from inbox import turns
from inbox.models import Exchange
from roster.models import Agent
from roster.services import journal
from roster.stamps import stamp


def settle(agent: Agent, now: datetime) -> int:
    """Writes down what time has brought: an exchange whose runner's lease lapsed has failed. Returns how many did; the
    caller recounts."""
    lapsed = Exchange.objects.filter(target=agent, state=turns.RUNNING, lease_until__lte=now)
    return lapsed.update(state=turns.FAILED, outcome="failed", note=turns.LAPSED, finished_at=F("lease_until"))


@transaction.atomic
def settle_queue(key: int, now: datetime) -> int:
    """Settles the queue of the agent with the primary key ``key``, so that its next prompt can start (R150)."""
    agent = Agent.objects.select_for_update(no_key=True).get(pk=key)
    lapsed = settle(agent, now)
    recount(agent)
    return lapsed


def answer_waiting(agent: Agent, now: datetime) -> int:
    """Answers every prompt that waits for ``agent``, which was disabled just now, with that; returns how many."""
    settle(agent, now)
    waiting = Exchange.objects.filter(target=agent, state=turns.QUEUED)
    count = waiting.update(
        state=turns.ANSWERED,
        outcome="disabled",
        note=said_disabled(agent),
        disabled=switched_off(agent),
        finished_at=now,
    )
    recount(agent)
    return count


def give_up(agent: Agent, now: datetime) -> None:
    """Ends what is open for ``agent``, which was retired just now."""
    settle(agent, now)
    note = f"{agent.slug} was retired: {agent.lifecycle_reason or 'no reason was given'}"
    open_ = Exchange.objects.filter(target=agent)
    open_.filter(state=turns.QUEUED).update(state=turns.REFUSED, outcome="retired", note=note, finished_at=now)
    open_.filter(state=turns.RUNNING).update(state=turns.FAILED, outcome="failed", note=note, finished_at=now)
    recount(agent)


def switched_off(agent: Agent) -> dict:
    """How the switch of a disabled agent stands, as an answer tells it."""
    return {"reason": agent.disabled_reason, "by": agent.disabled_by, "since": stamp(agent.disabled_at)}


def said_disabled(agent: Agent) -> str:
    """The answer of a disabled agent."""
    since = f"{agent.disabled_at:%Y-%m-%d %H:%M} UTC"
    return f"{agent.slug} is disabled by {agent.disabled_by} since {since}: {agent.disabled_reason}"


def recount(agent: Agent, told: bool = False) -> None:
    """Brings ``queued`` and ``running`` of ``agent``, whose row is locked, up to date. The only writer of these columns:
    counted anew each time, they cannot drift. What changed is news on the roster; so is, where it has to be ``told``,
    what came to an end without having waited."""
    open_ = list(Exchange.objects.filter(target=agent, state__in=turns.OPEN).values_list("state", flat=True))
    counts = open_.count(turns.QUEUED), open_.count(turns.RUNNING)
    if counts != (agent.queued, agent.running):
        agent.queued, agent.running = counts
        agent.save(update_fields=["queued", "running"])
    elif not told:
        return
    journal.write(changed=[agent.pk])
