"""A runner's part: it claims the next prompt under a lease, holds on to it while it works, and hands in what came of it.

Each call locks the agent's row, so of two runners who want the same prompt one gets it (R91, R148).
"""

from __future__ import annotations

import secrets
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction

from inbox import access, rules, turns
from inbox.models import Exchange, Message
from inbox.queries import record
from roster.access import Caller, refuse_retired
from roster.employment import admission
from roster.errors import Conflict
from roster.models import Agent
from roster.queries.employment import engram
from roster.services import journal, presence
from roster.services.rows import insert
from roster.stamps import stamp

from .exchanges import answer_waiting, recount, settle
from .leases import Hand


@dataclass(frozen=True, slots=True)
class Turn:
    """A prompt that was handed out: what its runner needs. ``history`` is what the agent was asked before and what it
    answered, whoever asked, oldest first (R136)."""

    exchange: Exchange
    engram: str
    history: list[record.Entry]


@dataclass(frozen=True, slots=True)
class Claim:
    """What a claim found: the agent as it is now, the word of its admission, and its turn where it has one."""

    agent: Agent
    word: str
    turn: Turn | None = None


@dataclass(frozen=True, slots=True)
class Word:
    """A runner's word about the exchange with a number: whose it is, under which lease, and when it came."""

    who: Caller
    number: int
    lease: str
    now: datetime
    as_slug: str | None = None


@transaction.atomic
def claim(hand: Hand, seconds: int = turns.LEASE, session: str = "") -> Claim:
    """Hands out the prompt that waits longest, for ``seconds``, if the agent may run one now. It counts as the agent's
    own call, whether or not there is one. Raises NotFound, Retired."""
    agent = access.runner(hand.who, hand.slug, hand.as_slug)
    settle(agent, hand.now)
    running = Exchange.objects.filter(target=agent, state=turns.RUNNING).count()
    admitted = admission(agent, running)
    exchange = _next(agent) if admitted.runs else None
    if exchange:
        _begin(exchange, hand.now, seconds, session)
    _seen(agent, hand.now)
    turn = Turn(exchange, engram(agent).text, _history(exchange, hand.now)) if exchange else None
    return Claim(agent, admission(agent, agent.running).word, turn)


@transaction.atomic
def give_back(turn: Turn, now: datetime) -> None:
    """Lets a prompt wait again, in its place, whose runner had left before it was told of it: nothing has run. Where the
    agent was disabled meanwhile it is answered with that, like all that wait."""
    agent = Agent.objects.select_for_update(no_key=True).get(pk=turn.exchange.target_id)
    held = Exchange.objects.filter(pk=turn.exchange.pk, state=turns.RUNNING, lease_key=turn.exchange.lease_key)
    held.update(state=turns.QUEUED, started_at=None, model_invoked=False, lease_key="", lease_until=None, session="")
    if agent.enabled:
        recount(agent)
    else:
        answer_waiting(agent, now)


def able(keys: Collection[int]) -> set[int]:
    """Which of the agents ``keys`` would be given a prompt now, by the numbers that the roster shows: for those who wait
    to claim. The claim itself decides."""
    found = Agent.objects.filter(queued__gt=0).in_bulk(list(keys))
    return {key for key, agent in found.items() if admission(agent, agent.running).runs}


def _next(agent: Agent) -> Exchange | None:
    # the list of states is that of the index, which SQLite does not find by one of them alone
    waiting = Exchange.objects.whole().filter(target=agent, state=turns.QUEUED, state__in=turns.OPEN)
    return waiting.order_by("prompt").first()


def _begin(exchange: Exchange, now: datetime, seconds: int, session: str) -> None:
    """From here on a model may have seen it."""
    exchange.state, exchange.started_at, exchange.model_invoked = turns.RUNNING, now, True
    exchange.lease_key, exchange.lease_until = secrets.token_urlsafe(18), now + timedelta(seconds=seconds)
    exchange.session = session
    exchange.save(update_fields=["state", "started_at", "model_invoked", "lease_key", "lease_until", "session"])


def _history(exchange: Exchange, now: datetime) -> list[record.Entry]:
    """What ran before ``exchange`` and has ended, as much of it as a runner is told."""
    ended = Exchange.objects.filter(target=exchange.target_id, prompt__lt=exchange.pk, started_at__isnull=False)
    ended = ended.exclude(state=turns.RUNNING).order_by("-prompt")
    sizes = [asked + (said or 0) for asked, said in ended.values_list("prompt__size", "answer__size")[: turns.HISTORY]]
    told = Exchange.objects.whole().filter(pk__in=ended.values_list("pk", flat=True)[: turns.remembered(sizes)])
    return [record.of(each, now) for each in told.order_by("prompt")]


def _seen(agent: Agent, now: datetime) -> None:
    """The end of every call here: the roster hears what waits and runs, and that the agent was heard (design rule 3).
    The session is not told: several of an agent may each run a prompt, and none of them takes over from another."""
    recount(agent)
    heard = presence.Work()
    presence.called(agent, now, heard)
    heard.write()


def answer(word: Word, body: str) -> record.Entry:
    """Hands in the answer. The same one once more is the same success; whoever comes too late, or holds another lease,
    is refused and changes nothing. Raises NotFound, Retired, Conflict."""
    return _end(word, turns.ANSWERED, body)


def fail(word: Word, error: str) -> record.Entry:
    """Ends the exchange without an answer, and says why. Raises as ``answer``."""
    return _end(word, turns.FAILED, error[: turns.LONGEST_NOTE])


@transaction.atomic
def _end(word: Word, state: str, text: str) -> record.Entry:
    exchange = access.running(word.who, word.number, word.as_slug)
    if _met(exchange, word) == "finished":
        return _repeated(exchange, state, text, word.now)
    refuse_retired(exchange.target)
    exchange.state = exchange.outcome = state
    exchange.finished_at = word.now
    if state == turns.ANSWERED:
        exchange.answer = _message(exchange, text, word.now)
    else:
        exchange.note = text
    exchange.save(update_fields=["state", "outcome", "answer", "note", "finished_at"])
    _seen(exchange.target, word.now)
    return record.of(exchange, word.now)


def _repeated(exchange: Exchange, state: str, text: str, now: datetime) -> record.Entry:
    said = exchange.answer.body if exchange.answer else exchange.note
    if (exchange.state, said) != (state, text):
        refuse_retired(exchange.target)
        told = f"Exchange {exchange.pk} has {exchange.state} already. Nothing was changed."
        raise Conflict(told, state=exchange.state, allowed=[], code="finished")
    return record.of(exchange, now)


def _message(exchange: Exchange, body: str, now: datetime) -> Message:
    """The answer as a message, in the thread of its prompt."""
    prompt = exchange.prompt
    said = Message(
        seq=journal.next_version("mail"), kind=rules.ANSWER, sender=exchange.target, subject=prompt.subject, body=body,
        size=len(body.encode()), thread=prompt.thread, in_reply_to=prompt, sent_at=now,
    )  # fmt: skip
    insert([said])
    return said


@transaction.atomic
def extend(word: Word, seconds: int = turns.LEASE) -> record.Entry:
    """Holds the lease for ``seconds`` from now, never shorter than it has. Raises NotFound, Retired, Conflict."""
    exchange = access.running(word.who, word.number, word.as_slug)
    refuse_retired(exchange.target)
    if _met(exchange, word) == "finished":
        told = f"Exchange {exchange.pk} has {exchange.state} already."
        raise Conflict(told, state=exchange.state, allowed=[], code="finished")
    exchange.lease_until = max(exchange.lease_until, word.now + timedelta(seconds=seconds))
    exchange.save(update_fields=["lease_until"])
    _seen(exchange.target, word.now)
    return record.of(exchange, word.now)


def _met(exchange: Exchange, word: Word) -> str:
    """Whether the exchange is ``running`` or ``finished`` under the lease of ``word``. Raises Conflict on any other."""
    met, state = turns.hand_in(exchange.facts(), word.lease, word.now), turns.state(exchange.facts(), word.now)
    if met == "foreign_lease":
        refuse_retired(exchange.target)
        said = f"This lease is not the one that exchange {exchange.pk} runs under. Nothing was changed."
        raise Conflict(said, state=state, allowed=[], code=met)
    if met == "lease_expired":
        refuse_retired(exchange.target)
        until = stamp(exchange.lease_until)
        said = f"The lease ended at {until}, and exchange {exchange.pk} has failed by that. Nothing was changed."
        raise Conflict(said, state=state, allowed=[], code=met, until=until)
    return met
