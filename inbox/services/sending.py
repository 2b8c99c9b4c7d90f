"""Sends: who writes, to whom, may it be; store it. One transaction a group of sends.

A refused send costs the others of its group nothing, and leaves nothing behind itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from inbox import receipts, refusals, rules
from inbox.letters import Letter
from inbox.models import Delivery, Message, SendKey
from roster import access
from roster.errors import HubError, Invalid
from roster.groupcommit import GroupCommit
from roster.models import Agent
from roster.services import journal, presence, registry
from roster.services.batch import among
from roster.services.rows import insert

from .addressing import Aim, aims
from .boxes import holdings, recount


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A send as received at ``at``: the letter; whose token it came with and, for a node, in whose name (or the
    ``sender``'s primary key, where a page knows it); and its Idempotency-Key, if it has one."""

    letter: Letter
    at: datetime
    digest: str = ""
    slug: str | None = None
    sender: int | None = None
    key: str | None = None


@dataclass(frozen=True, slots=True)
class Sent:
    """The outcome of a send, after its commit: its number, its thread, and one line for each recipient."""

    seq: int
    thread: int
    deliveries: list[dict]


@dataclass(frozen=True, slots=True)
class Draft:
    """An accepted letter that has no number yet, and what its sender will be told."""

    outgoing: Outgoing
    message: Message
    recipients: dict[int, str]
    lines: list[dict]

    def receipt(self) -> dict:
        return {"seq": self.message.seq, "thread": self.message.thread, "deliveries": self.lines}


def record(group: list[Outgoing]) -> list[Sent | Exception]:
    """Stores a group of sends in one transaction and returns one outcome each, in order."""
    with transaction.atomic():
        aimed = aims(group)
        post = Post(list(zip(group, aimed, strict=True)))
        outcomes = [aim if isinstance(aim, HubError) else post.take(each, aim) for each, aim in post.group]
        post.write()
    return [Sent(**each.receipt()) if isinstance(each, Draft) else each for each in outcomes]


class Post:
    """A group of sends on its way. Everybody concerned is locked, in the order of their keys, before anything is
    decided; nothing is written before all is."""

    def __init__(self, group: list[tuple[Outgoing, Aim | HubError]]):
        self.group = group
        aimed = [(each, aim) for each, aim in group if isinstance(aim, Aim)]
        keys = {aim.sender for _, aim in aimed}.union(*(aim.recipients for _, aim in aimed))
        locked = Agent.objects.select_for_update(no_key=True).filter(pk__in=among(list(keys), "bigint")).order_by("pk")
        self.agents = {agent.pk: agent for agent in locked}
        self.holdings = holdings(list(set().union(*(aim.recipients for _, aim in aimed))))
        self.known = _known_keys(aimed)
        self.threads = _threads(aimed)
        self.drafts: list[Draft] = []
        self.seen = presence.Work()

    def take(self, outgoing: Outgoing, aim: Aim) -> Draft | Sent | Exception:
        """What becomes of one send: a draft, a refusal, or, before anything is asked, the answer that its key got."""
        try:
            if known := self._repeated(outgoing, aim):
                return known
            draft = self._draft(outgoing, aim)
            presence.called(self.agents[aim.sender], outgoing.at, self.seen)
        except (HubError, KeyError, TypeError, ValueError) as refusal:  # or a row that somebody damaged
            return refusal
        self._keep(draft)
        return draft

    def _keep(self, draft: Draft) -> None:
        """Accepts it: from now on it fills inboxes, and answers for its key."""
        letter = draft.outgoing.letter
        for pk in draft.recipients:
            self.holdings[pk].add(letter.size, draft.outgoing.at)
        if draft.outgoing.key:
            self.known[draft.message.sender_id, draft.outgoing.key] = letter.digest(), draft
        self.drafts.append(draft)

    def _repeated(self, outgoing: Outgoing, aim: Aim) -> Draft | Sent | None:
        known = self.known.get((aim.sender, outgoing.key))
        if known is None:
            return None
        digest, answer = known
        if digest != outgoing.letter.digest():
            raise Invalid(
                "Idempotency-Key", "came with another letter before; a key stands for one letter", code="key_reused"
            )
        return answer

    def _draft(self, outgoing: Outgoing, aim: Aim) -> Draft:
        letter, at = outgoing.letter, outgoing.at
        access.refuse_retired(self.agents[aim.sender])
        if aim.refusal:
            raise aim.refusal
        if letter.expires_at is not None and letter.expires_at <= at:
            raise Invalid("expires_at", "has passed already")
        message = Message(
            sender_id=aim.sender, subject=letter.subject, body=letter.body, size=letter.size, sent_at=at,
            thread=self._thread(outgoing, aim), in_reply_to_id=letter.in_reply_to, importance=letter.importance,
            expires_at=letter.expires_at,
        )  # fmt: skip
        return Draft(outgoing, message, *self._lines(letter, aim, at))

    def _thread(self, outgoing: Outgoing, aim: Aim) -> int | None:
        parent = outgoing.letter.in_reply_to
        if parent is None:
            return None
        if (aim.sender, parent) not in self.threads:
            raise Invalid("in_reply_to", f"there is no message {parent} that you may answer")
        thread = self.threads[aim.sender, parent]
        if thread is None:
            raise Invalid("in_reply_to", f"message {parent} is a notice of the hub, which takes no answers")
        return thread

    def _lines(self, letter: Letter, aim: Aim, at: datetime) -> tuple[dict[int, str], list[dict]]:
        """Who gets the letter, and what the sender is told of each. One who cannot take it refuses the whole letter,
        unless it is to many."""
        reached, lines, cannot = {}, [], []
        for pk, addressed_as in aim.recipients.items():
            agent, held = self.agents[pk], self.holdings[pk]
            found = access.presence_of(agent, at)
            refusal = refusals.of(agent, found, held, letter.size)
            if refusal is None:
                reached[pk] = addressed_as
                lines.append(receipts.told(agent, addressed_as, found, held.pending + 1, held.oldest or at))
            else:
                cannot.append(refusal)
                lines.append(receipts.refused(agent, addressed_as, found, refusal))
        if cannot and not letter.many:
            raise refusals.whole(cannot[0], [line for line in lines if line["state"] == receipts.REFUSED])
        if not reached:
            raise refusals.nobody(letter, lines)
        return reached, lines

    def write(self) -> None:
        """Numbers what was accepted, in order, and stores it all."""
        if self.drafts:
            first = journal.next_version("mail", len(self.drafts)) - len(self.drafts) + 1
            for seq, draft in enumerate(self.drafts, first):
                draft.message.seq, draft.message.thread = seq, draft.message.thread or seq
            insert([draft.message for draft in self.drafts])
            insert([each for draft in self.drafts for each in _deliveries(draft)])
            insert([_send_key(draft) for draft in self.drafts if draft.outgoing.key])
            recount(set().union(*(draft.recipients for draft in self.drafts)))
        self._tell_entered()
        self.seen.write()

    def _tell_entered(self) -> None:
        """Those who were entered for a letter stay entered where it was refused for another reason."""
        first = {pk: (each, aim) for each, aim in reversed(self.group) if isinstance(aim, Aim) for pk in aim.entered}
        for pk, (each, aim) in first.items():
            registry.tell_entered(self.agents[pk], by=self.agents[aim.sender].slug, now=each.at)


def _known_keys(aimed: list[tuple[Outgoing, Aim]]) -> dict[tuple[int, str], tuple[str, Sent | Draft]]:
    """By sender and Idempotency-Key: the digest of the letter that came with it, and what was answered."""
    keys = [each.key for each, _ in aimed if each.key]
    if not keys:
        return {}
    rows = SendKey.objects.filter(sender__in={aim.sender for _, aim in aimed}, key__in=keys)
    return {(row.sender_id, row.key): (row.digest, Sent(**row.receipt)) for row in rows}


def _threads(aimed: list[tuple[Outgoing, Aim]]) -> dict[tuple[int, int], int | None]:
    """By sender and the message it answers: the thread, where the sender may read that message; prompts and answers are
    no mail. Nobody answers a notice, whose thread is None here: behind it is only the hub, and a chain of answers has to end (P30). A missing message costs what a foreign one
    does (P61)."""
    parents = {each.letter.in_reply_to for each, _ in aimed if each.letter.in_reply_to is not None}
    if not parents:
        return {}
    letters = Message.objects.filter(pk__in=parents).exclude(kind__in=(rules.PROMPT, rules.ANSWER))
    found = letters.values_list("pk", "thread", "kind")
    threads = {seq: thread if kind == rules.MAIL else None for seq, thread, kind in found}
    wrote = letters.values_list("sender", "pk")
    got = Delivery.objects.filter(message__in=parents, recipient__in={aim.sender for _, aim in aimed})
    read = [*wrote, *got.values_list("recipient", "message")]
    return {(who, seq): threads[seq] for who, seq in read if seq in threads}


def _deliveries(draft: Draft) -> list[Delivery]:
    message = draft.message
    return [
        Delivery(
            message=message, recipient_id=pk, addressed_as=addressed_as, size=message.size,
            expires_at=message.expires_at, told=message.sender_id is None,
        )
        for pk, addressed_as in draft.recipients.items()
    ]  # fmt: skip


def _send_key(draft: Draft) -> SendKey:
    key, digest = draft.outgoing.key, draft.outgoing.letter.digest()
    return SendKey(
        sender_id=draft.message.sender_id, key=key, digest=digest, message=draft.message, receipt=draft.receipt()
    )


sends: GroupCommit[Outgoing] = GroupCommit(record, "sends")
