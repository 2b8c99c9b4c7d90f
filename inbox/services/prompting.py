"""Asking an agent: a prompt joins its queue, or is answered at once with why it does not. One transaction a group of
prompts, since those who ask one node at once would only wait for each other.

A refused prompt costs the others of its group nothing.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from inbox import access as doors
from inbox import rules, turns
from inbox.letters import Letter
from inbox.models import Exchange, Message, SendKey
from inbox.queries import record
from roster import access, states
from roster.employment import DISABLED, admission
from roster.errors import Conflict, Expired, Full, HubError, Invalid
from roster.groupcommit import GroupCommit
from roster.models import Agent
from roster.services import journal, presence, registry
from roster.services.rows import insert
from roster.stamps import stamp

from . import addressing
from .exchanges import recount, said_disabled, settle, switched_off


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt as received at ``at``: the primary key of its direct caller (R152), where a page knows it, else the digest
    of the ``token`` it came with and whom a node ``named``; the id of whom it asks, which is a node where ``of_node`` is
    set; and its Idempotency-Key, if it has one."""

    caller: int | None
    to: str
    body: str
    at: datetime
    subject: str = ""
    key: str | None = None
    of_node: bool = False
    token: str = ""
    named: str | None = None

    def digest(self) -> str:
        """What tells it from any other prompt, and from any letter, that comes under the same Idempotency-Key."""
        letter = Letter((self.to,), self.body, self.subject)
        return hashlib.sha256(f"prompt {letter.digest()}".encode()).hexdigest()


def ask(prompt: Prompt) -> record.Entry:
    """Records ``prompt`` and returns its exchange: it waits, or it was answered at once by the switch of a disabled
    agent, with nobody asked. One that is refused since its target drains or is retired is recorded as well (R151).

    Raises Unauthorized, Forbidden, NotFound, Expired, Invalid, Full, and Conflict or Retired where it was refused.
    """
    (outcome,) = record_all([prompt])
    if isinstance(outcome, Exception):
        raise outcome
    return record.of(outcome, prompt.at)


def record_all(group: list[Prompt]) -> list[Exchange | Exception]:
    """Records a group of prompts in one transaction and returns one outcome each, in order."""
    with transaction.atomic():
        desk = _Desk(group)
        outcomes = [desk.take(prompt, caller) for prompt, caller in zip(group, desk.callers, strict=True)]
        desk.write()
    return [(_refusal(each) or each) if isinstance(each, Exchange) else each for each in outcomes]


class _Desk:
    """A group of prompts on its way. Both sides of all are locked, in the order of their keys, before anything is
    decided; nothing is written before all is, but for what time has brought."""

    def __init__(self, group: list[Prompt]):
        self.callers = _callers(group)
        self.known, self.entered = addressing.targets({(each.to, each.of_node) for each in group}, group[0].at)
        keys = {each for each in self.callers if isinstance(each, int)} | set(self.known.values())
        rows = Agent.objects.select_related("home_node").select_for_update(of=("self",), no_key=True)
        self.agents = {agent.pk: agent for agent in rows.filter(pk__in=keys).order_by("pk")}
        self.repeated = _known_keys(group, self.callers)
        self.waiting: Counter[int] = Counter()  # by target: what this group adds to its queue
        self.settled: set[int] = set()
        self.drafts: list[tuple[Prompt, Exchange]] = []
        self.seen = presence.Work()

    def take(self, prompt: Prompt, caller: int | HubError) -> Exchange | HubError:
        """What becomes of one prompt: the exchange that it begins, or began when it came under the same key before, or a
        refusal."""
        try:
            if isinstance(caller, HubError):
                raise caller
            access.refuse_retired(self.agents[caller])
            return self._repeated(prompt, caller) or self._begun(prompt, self.agents[caller])
        except HubError as refusal:
            return refusal

    def _repeated(self, prompt: Prompt, caller: int) -> Exchange | None:
        if (caller, prompt.key) not in self.repeated:
            return None
        digest, exchange = self.repeated[caller, prompt.key]
        if digest != prompt.digest():
            problem = "came with something else before; a key stands for one prompt or letter"
            raise Invalid("Idempotency-Key", problem, code="key_reused")
        return exchange

    def _begun(self, prompt: Prompt, caller: Agent) -> Exchange:
        target = self.agents.get(self.known.get((prompt.to, prompt.of_node)))
        if target is None:
            raise addressing.nobody(prompt.to, of_node=prompt.of_node)
        if target.pk not in self.settled:
            settle(target, prompt.at)
            self.settled.add(target.pk)
        _refuse(target, self.waiting[target.pk], prompt.at)
        exchange = _drafted(prompt, caller, target)
        self.waiting[target.pk] += exchange.state == turns.QUEUED
        self.drafts.append((prompt, exchange))
        if prompt.key:
            self.repeated[caller.pk, prompt.key] = prompt.digest(), exchange
        presence.called(caller, prompt.at, self.seen)
        return exchange

    def write(self) -> None:
        """Numbers what was accepted, in order, and stores it all."""
        if self.drafts:
            first = journal.next_version("mail", len(self.drafts)) - len(self.drafts) + 1
            for seq, (_, exchange) in enumerate(self.drafts, first):
                message = exchange.prompt
                message.seq = message.thread = seq
                exchange.prompt = message  # once more, with its number
            insert([exchange.prompt for _, exchange in self.drafts])
            insert([exchange for _, exchange in self.drafts])
            insert([_send_key(*draft) for draft in self.drafts if draft[0].key])
        ended = {exchange.target_id for _, exchange in self.drafts if exchange.state != turns.QUEUED}
        for key in sorted(self.settled):
            recount(self.agents[key], told=key in ended)
        self._tell_entered()
        self.seen.write()

    def _tell_entered(self) -> None:
        first = {exchange.target_id: exchange for _, exchange in reversed(self.drafts)}
        for key in sorted(self.entered & first.keys()):
            by, at = first[key].caller.slug, first[key].asked_at
            registry.tell_entered(self.agents[key], by=by, now=at)


def _callers(group: list[Prompt]) -> list[int | HubError]:
    by_token = [each for each in group if each.caller is None]
    found = doors.senders([(each.token, each.named) for each in by_token], nodes_too=True) if by_token else []
    known = dict(zip(map(id, by_token), found, strict=True))
    return [known.get(id(each), each.caller) for each in group]


def _known_keys(group: list[Prompt], callers: list) -> dict[tuple[int, str], tuple[str, Exchange | None]]:
    """By caller and Idempotency-Key what came with it before: its digest, and the exchange that it began. A letter began
    none, and has a digest that no prompt has."""
    keys = [each.key for each in group if each.key]
    if not keys:
        return {}
    found = SendKey.objects.filter(sender__in=[each for each in callers if isinstance(each, int)], key__in=keys)
    begun = Exchange.objects.whole().in_bulk(list(found.values_list("message", flat=True)))
    return {(each.sender_id, each.key): (each.digest, begun.get(each.message_id)) for each in found}


def _refuse(target: Agent, more: int, at: datetime) -> None:
    """Raises what keeps a prompt to ``target``, which ``more`` wait for than its row says, from being one at all: these
    are not recorded."""
    if target.modality == "human":
        said = f"{target.slug} is a person, for whom nobody runs prompts. Write mail instead: POST /api/messages."
        raise Conflict(said, state=target.lifecycle, allowed=[], code="person")
    if target.lifecycle != states.RETIRED and access.presence_of(target, at).word == states.EXPIRED:
        seen = stamp(target.last_seen)
        said = f"The ephemeral agent '{target.slug}' went silent and left the roster; it was last seen {seen}."
        raise Expired(said, last_seen=seen)
    if (queued := target.queued + more) >= turns.MOST_QUEUED:
        said = f"{queued:,} prompts wait for {target.slug} already, as many as may."
        raise Full(said, code="queue_full", queued=queued, most=turns.MOST_QUEUED)


def _drafted(prompt: Prompt, caller: Agent, target: Agent) -> Exchange:
    """The exchange that ``prompt`` begins, and its message, without a number."""
    message = Message(
        kind=rules.PROMPT, sender=caller, subject=prompt.subject, body=prompt.body, size=len(prompt.body.encode()),
        sent_at=prompt.at,
    )  # fmt: skip
    return Exchange(
        prompt=message, target=target, caller=caller, of_node=target.kind == "node", asked_at=prompt.at,
        **_fate(target, prompt.at),
    )  # fmt: skip


def _fate(target: Agent, at: datetime) -> dict:
    """What becomes of a prompt, by the one rule that every path asks, under the lock that the switch takes too."""
    word = admission(target).word
    if word == DISABLED:
        fate = {"state": turns.ANSWERED, "note": said_disabled(target), "disabled": switched_off(target)}
    elif word in (states.DRAINING, states.RETIRED):
        fate = {"state": turns.REFUSED, "note": f"{target.slug} is {word} since {stamp(target.lifecycle_since)}"}
    else:
        return {"state": turns.QUEUED}
    return fate | {"outcome": word, "finished_at": at}


def _send_key(prompt: Prompt, exchange: Exchange) -> SendKey:
    seq = exchange.prompt_id
    receipt = {"seq": seq, "thread": seq, "deliveries": []}  # as of a letter: whoever reads one by its key reads this
    return SendKey(
        sender=exchange.caller, key=prompt.key, digest=prompt.digest(), message=exchange.prompt, receipt=receipt
    )


def _refusal(exchange: Exchange) -> HubError | None:
    """Why the prompt of ``exchange`` was not taken, where it was refused, as its target stands now."""
    if exchange.state != turns.REFUSED:
        return None
    target, since = exchange.target, stamp(exchange.target.lifecycle_since)
    if target.lifecycle == states.RETIRED:
        refusal = access.retired(target)
        refusal.detail["exchange"] = exchange.pk
        return refusal
    return Conflict(
        f"{target.slug} is draining since {since}: it finishes its work and takes no prompts.", state=states.DRAINING,
        allowed=[], code="draining", since=since, reason=target.lifecycle_reason, successor=access.successor(target),
        exchange=exchange.pk,
    )  # fmt: skip


prompts: GroupCommit[Prompt] = GroupCommit(record_all, "prompts")
