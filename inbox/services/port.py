"""What the roster asks of the inbox, and tells it (``roster.work``). Each runs inside the roster's transaction, the
agent's row locked."""

from __future__ import annotations

from datetime import datetime

from inbox import rules, turns
from inbox.models import Delivery, Exchange, Lease
from roster.models import Agent
from roster.work import Held, Prompt

from . import archiving, exchanges, notices, settling


class Port:
    def session_began(self, agent: Agent, session: str, now: datetime) -> None:
        settling.session_began(agent, session, now)

    def held(self, agent: Agent, now: datetime) -> Held:
        open_ = Exchange.objects.filter(target=agent, state__in=turns.OPEN)
        words = [turns.state(each.facts(), now) for each in open_]
        leased = Delivery.objects.filter(recipient=agent, state=rules.LEASED, lease__until__gt=now).count()
        waiting = Delivery.objects.filter(recipient=agent, state__in=rules.PENDING).count() - leased
        return Held(words.count(turns.QUEUED), words.count(turns.RUNNING), leased, waiting)

    def prompts(self, agents: list[int], now: datetime) -> dict[int, list[Prompt]]:
        open_ = Exchange.objects.filter(target__in=agents, state__in=turns.OPEN).select_related("caller")
        found: dict[int, list[Prompt]] = {}
        for each in open_.order_by("prompt"):
            if turns.state(each.facts(), now) in turns.OPEN:
                told = Prompt(each.pk, each.caller.slug, each.asked_at, each.started_at)
                found.setdefault(each.target_id, []).append(told)
        return found

    def disabled(self, agent: Agent, now: datetime) -> int:
        return exchanges.answer_waiting(agent, now)

    def retired(self, agent: Agent, now: datetime, *, by: str) -> None:
        exchanges.give_up(agent, now)
        Lease.objects.filter(agent=agent, closed_at=None).update(until=now, closed_at=now)
        archiving.clear(agent, by=by, now=now)

    def notify(self, agent: Agent, kind: str, subject: str, body: str, now: datetime) -> int:
        return notices.send(agent, kind=kind, subject=subject, body=body, now=now)
