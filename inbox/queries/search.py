"""Looking for words in one agent's mail.

It costs no more however much mail others have. The agent's own numbers and the index's proposals are both lists,
newest first; each stretch is walked along the one that reaches further down, and what stands there is held against the
other: a message of one's own is read, a proposal is looked up among one's own.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from django.db.models import OuterRef, Subquery

from inbox import letters, phrases, rules
from inbox.models import Delivery, Message

from . import wordindex

BEYOND = 2**63 - 1  # a number that no message has
STRETCH = 1000  # numbers in a stretch
READ = 50  # messages read at once
MOST_STRETCHES = 4  # in one search
MOST_BYTES = 32 * 1024 * 1024  # of bodies read in one search
NAMED = 3  # recipients of a message one sent

Phrases = tuple[phrases.Phrase, ...]
Context = tuple[phrases.Piece, ...]


@dataclass(frozen=True, slots=True)
class Hit:
    """A message that was found. ``sender`` is None for the hub itself. ``to`` names the first recipients of one that
    the agent sent, or its address of many, and ``more`` says that there are others; nobody else learns who got it."""

    seq: int
    thread: int
    sender: str | None
    to: tuple[str, ...]
    more: bool
    subject: str
    sent_at: datetime
    context: Context


@dataclass(frozen=True, slots=True)
class Found:
    """Hits, newest first. ``next`` is the ``before`` with which the search goes on. A search that has looked at enough
    ends there: it may name a ``next`` with fewer hits than were asked for, and with none."""

    hits: tuple[Hit, ...]
    next: int | None


def find(agent: int, text: str, *, before: int | None = None, limit: int = 20) -> Found:
    """What the agent with the primary key ``agent`` sent or received that has the words of ``text``, newest first.

    before: only messages with lower numbers. Raises ``Invalid`` where ``text`` is too long or names no word.
    """
    wanted = phrases.asked(text)
    found, room, at = {}, MOST_BYTES, 0
    for at, size, context in _looked_at(agent, wanted, BEYOND if before is None else before):
        if context and len(found) == limit:
            return Found(_hits(agent, found), min(found))
        if context:
            found[at] = context
        room -= size
        if room < 0:
            break
    return Found(_hits(agent, found), at or None)


def _looked_at(agent: int, wanted: Phrases, below: int) -> Iterator[tuple[int, int, Context]]:
    """Each message that is read: its number, its size and where it has what is ``wanted``, () where it has not. After
    a stretch comes the number where it ended, 0 where nothing is left."""
    for _ in range(MOST_STRETCHES):
        seqs, below = _stretch(agent, wanted, below)
        for first in range(0, len(seqs), READ):
            rows = Message.objects.filter(seq__in=seqs[first : first + READ]).order_by("-seq")
            for seq, size, subject, body in rows.values_list("seq", "size", "subject", "body"):
                yield seq, size, phrases.found_in(wanted, subject, body)
        yield below, 0, ()
        if not below:
            return


def _stretch(agent: int, wanted: Phrases, below: int) -> tuple[list[int], int]:
    """The agent's messages below the number ``below`` that are worth reading, newest first, and how far down that is
    all of them; 0 is the end. Few messages of one's own are all read, and the index is not asked."""
    own = _own(agent, below)
    if len(own) < STRETCH:
        return own, 0
    proposed = wordindex.proposed(wanted, below, STRETCH)
    if len(proposed) < STRETCH:
        return _own_among(agent, proposed), 0
    if own[-1] < proposed[-1]:
        return own, own[-1]
    return _own_among(agent, proposed), _above_next(agent, proposed[-1])


def _above_next(agent: int, reached: int) -> int:
    """A place to go on at that is the agent's own: the number ``reached`` may be that of foreign mail with the words."""
    return next((seq + 1 for seq in _own(agent, reached)), 0)


def _own(agent: int, below: int) -> list[int]:
    """The newest STRETCH messages below ``below`` that the agent sent or received; prompts and answers are looked for in
    the record."""
    sent = (
        Message.objects.filter(sender=agent, kind=rules.MAIL, seq__lt=below)
        .order_by("-seq")
        .values_list("seq", flat=True)
    )
    received = Delivery.objects.filter(recipient=agent, message__lt=below).order_by("-message")
    received = received.values_list("message", flat=True)
    return sorted({*sent[:STRETCH], *received[:STRETCH]}, reverse=True)[:STRETCH]


def _own_among(agent: int, seqs: list[int]) -> list[int]:
    sent = Message.objects.filter(sender=agent, kind=rules.MAIL, seq__in=seqs).values_list("seq", flat=True)
    received = Delivery.objects.filter(recipient=agent, message__in=seqs).values_list("message", flat=True)
    return sorted({*sent, *received}, reverse=True)


def _hits(agent: int, found: dict[int, Context]) -> tuple[Hit, ...]:
    """The messages with the numbers and contexts ``found``, as ``agent`` may see them."""
    address = Delivery.objects.filter(message=OuterRef("pk")).values("addressed_as")[:1]
    messages = Message.objects.filter(seq__in=found).select_related("sender").defer("body").order_by("-seq")
    messages = list(messages.annotate(address=Subquery(address)))
    to = _recipients([message for message in messages if message.sender_id == agent])
    return tuple(
        Hit(
            seq=message.seq,
            thread=message.thread,
            sender=message.sender and message.sender.slug,
            to=tuple(to[message.seq][:NAMED]),
            more=len(to[message.seq]) > NAMED,
            subject=message.subject,
            sent_at=message.sent_at,
            context=found[message.seq],
        )
        for message in messages
    )


def _recipients(sent: list[Message]) -> dict[int, list[str]]:
    """Whom each message was sent to, by its number: the address of many that it was sent to, else the ids that it
    named, which are few."""
    to = defaultdict(list, {message.seq: [message.address] for message in sent if letters.is_many(message.address)})
    named = Delivery.objects.filter(message__in=[message.seq for message in sent if message.seq not in to])
    for seq, slug in named.order_by("pk").values_list("message", "recipient__slug"):
        to[seq].append(slug)
    return to
