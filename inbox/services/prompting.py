"""Asking an agent: a prompt joins its queue, or is answered at once with why it does not."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from inbox import rules, turns
from inbox.letters import Letter
from inbox.models import Exchange, Message, SendKey
from inbox.queries import record
from roster import access, states
from roster.employment import DISABLED, admission
from roster.errors import Conflict, Expired, Full, HubError, Invalid
from roster.models import Agent
from roster.services import journal, presence, registry
from roster.services.rows import insert
from roster.stamps import stamp

from . import addressing
from .exchanges import recount, said_disabled, settle, switched_off


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt as received at ``at``: the primary key of its direct caller (R152), the id of whom it asks, which is a
    node where ``of_node`` is set, and its Idempotency-Key, if it has one."""

    caller: int
    to: str
    body: str
    at: datetime
    subject: str = ""
    key: str | None = None
    of_node: bool = False

    def digest(self) -> str:
        """What tells it from any other prompt, and from any letter, that comes under the same Idempotency-Key."""
        letter = Letter((self.to,), self.body, self.subject)
        return hashlib.sha256(f"prompt {letter.digest()}".encode()).hexdigest()


def ask(prompt: Prompt) -> record.Entry:
    """Records ``prompt`` and returns its exchange: it waits, or it was answered at once by the switch of a disabled
    agent, with nobody asked. One that is refused since its target drains or is retired is recorded as well (R151).

    Raises NotFound, Expired, Invalid, Full, and Conflict or Retired where it was refused.
    """
    with transaction.atomic():
        exchange = _Asking(prompt).exchange()
    refusal = _refusal(exchange)
    if refusal:
        raise refusal
    return record.of(exchange, prompt.at)


class _Asking:
    """One prompt on its way. Both sides are locked, in the order of their keys, before anything is decided."""

    def __init__(self, prompt: Prompt):
        self.prompt = prompt
        key, self.entered = addressing.asked(prompt.to, prompt.at, of_node=prompt.of_node)
        rows = Agent.objects.select_related("home_node").select_for_update(of=("self",), no_key=True)
        both = {agent.pk: agent for agent in rows.filter(pk__in={key, prompt.caller}).order_by("pk")}
        self.caller, self.target = both[prompt.caller], both[key]

    def exchange(self) -> Exchange:
        """The exchange that the prompt began, now or when it came under the same key before."""
        access.refuse_retired(self.caller)
        return self._repeated() or self._begun()

    def _repeated(self) -> Exchange | None:
        if self.prompt.key is None:
            return None
        known = SendKey.objects.filter(sender=self.caller, key=self.prompt.key).first()
        if known is None:
            return None
        if known.digest != self.prompt.digest():
            problem = "came with something else before; a key stands for one prompt or letter"
            raise Invalid("Idempotency-Key", problem, code="key_reused")
        return Exchange.objects.whole().get(pk=known.message_id)

    def _begun(self) -> Exchange:
        target, at = self.target, self.prompt.at
        self._refuse()
        settle(target, at)
        exchange = self._stored(**self._fate())
        recount(target)
        if self.entered:
            registry.tell_entered(target, by=self.caller.slug, now=at)
        heard = presence.Work()
        presence.called(self.caller, at, heard)
        heard.write()
        return exchange

    def _refuse(self) -> None:
        """Raises what keeps the prompt from being one at all: these are not recorded."""
        target, at = self.target, self.prompt.at
        if target.modality == "human":
            said = f"{target.slug} is a person, for whom nobody runs prompts. Write mail instead: POST /api/messages."
            raise Conflict(said, state=target.lifecycle, allowed=[], code="person")
        if access.presence_of(target, at).word == states.EXPIRED and target.lifecycle != states.RETIRED:
            seen = stamp(target.last_seen)
            said = f"The ephemeral agent '{target.slug}' went silent and left the roster; it was last seen {seen}."
            raise Expired(said, last_seen=seen)
        if target.queued >= turns.MOST_QUEUED:
            said = f"{target.queued:,} prompts wait for {target.slug} already, as many as may."
            raise Full(said, code="queue_full", queued=target.queued, most=turns.MOST_QUEUED)

    def _fate(self) -> dict:
        """What becomes of it, by the one rule that every path asks, under the lock that the switch takes too."""
        target, at = self.target, self.prompt.at
        word = admission(target).word
        if word == DISABLED:
            fate = {"state": turns.ANSWERED, "note": said_disabled(target), "disabled": switched_off(target)}
        elif word in (states.DRAINING, states.RETIRED):
            fate = {"state": turns.REFUSED, "note": f"{target.slug} is {word} since {stamp(target.lifecycle_since)}"}
        else:
            return {"state": turns.QUEUED}
        return fate | {"outcome": word, "finished_at": at}

    def _stored(self, **fate) -> Exchange:
        prompt, seq = self.prompt, journal.next_version("mail")
        message = Message(
            seq=seq, kind=rules.PROMPT, sender=self.caller, subject=prompt.subject, body=prompt.body,
            size=len(prompt.body.encode()), thread=seq, sent_at=prompt.at,
        )  # fmt: skip
        insert([message])
        exchange = Exchange(
            prompt=message, target=self.target, caller=self.caller, of_node=self.target.kind == "node",
            asked_at=prompt.at, **fate,
        )  # fmt: skip
        insert([exchange])
        if prompt.key:
            receipt = {"seq": seq, "thread": seq, "deliveries": []}
            digest = prompt.digest()
            insert([SendKey(sender=self.caller, key=prompt.key, digest=digest, message=message, receipt=receipt)])
        return exchange


def _refusal(exchange: Exchange) -> HubError | None:
    """Why the prompt of ``exchange`` was not taken, where it was refused, as its target stands now."""
    if exchange.state != turns.REFUSED:
        return None
    target = exchange.target
    if target.lifecycle == states.RETIRED:
        refusal = access.retired(target)
        refusal.detail["exchange"] = exchange.pk
        return refusal
    said = (
        f"{target.slug} is draining since {stamp(target.lifecycle_since)}: it finishes its work and takes no prompts."
    )
    follows = access.successor(target)
    return Conflict(
        said, state=states.DRAINING, allowed=[], code="draining", since=stamp(target.lifecycle_since),
        reason=target.lifecycle_reason, successor=follows, exchange=exchange.pk,
    )  # fmt: skip
