"""What the mail calls take and give. Everything but what is named here is refused."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from ninja import Schema
from pydantic import AfterValidator, ConfigDict, Field, ValidationError, WrapValidator

from roster.errors import Invalid, TooLarge
from roster.schemas import aware
from roster.stamps import stamp

from . import letters, queries, rules
from .queries import search
from .services.leases import Drained

Number = Annotated[int, Field(strict=True)]  # what is no number is not taken for one: ``true`` would ack message 1
Seq = Annotated[Number, Field(ge=1, le=2**63 - 1)]
Seconds = Annotated[
    Number, Field(ge=rules.SHORTEST_LEASE, le=rules.LONGEST_LEASE, description="Seconds, 1 to 12 hours.")
]
Seqs = Annotated[list[Seq], Field(min_length=1, max_length=500)]
Key = Annotated[str, Field(min_length=1, max_length=200)]
Name = Annotated[str, Field(min_length=1, max_length=72)]


def in_utc(moment: datetime) -> datetime:
    """The moment in UTC. One at the end of the calendar, in a zone that lags behind, has none: no database could store
    it, and it would fail all the letters that are written beside it."""
    try:
        return aware(moment).astimezone(UTC)
    except OverflowError:
        raise ValueError("is beyond the calendar") from None


class Strict(Schema):
    model_config = ConfigDict(extra="forbid")


def _to(value: Any, parse: Callable) -> str | list[str]:
    """One problem with one name, where a union would tell of each of its branches."""
    try:
        return parse(value)
    except ValidationError:
        problem = (
            f"expected an id, a list of 1 to {rules.MOST_NAMED} ids, '{letters.GROUP}NAME' or '{letters.EVERYBODY}'"
        )
        raise ValueError(problem) from None


class Send(Strict):
    """`to` is an id, a list of ids, `group:NAME`, or `live` for everybody who is live. What is optional may be null."""

    to: Annotated[Name | Annotated[list[Name], Field(min_length=1, max_length=rules.MOST_NAMED)], WrapValidator(_to)]
    body: str
    subject: Annotated[str, Field(max_length=rules.LONGEST_SUBJECT)] | None = None
    in_reply_to: Seq | None = None
    importance: Literal["low", "normal", "high"] | None = None
    expires_at: Annotated[datetime, AfterValidator(in_utc)] | None = None

    def letter(self) -> letters.Letter:
        to, many = letters.addressed(self.to)
        rest = self.model_dump(exclude={"to"}, exclude_none=True)
        return checked(letters.Letter(to=to, many=many, **rest))


def checked(letter: letters.Letter) -> letters.Letter:
    """The letter itself, if it says something and is not too large."""
    if not letter.body.strip():
        raise Invalid("body", "is empty")
    if letter.size > rules.LARGEST_BODY:
        most = rules.LARGEST_BODY
        raise TooLarge(f"The body has {letter.size} bytes, {most} at most.", field="body", limit=most)
    return letter


class Drain(Strict):
    limit: Annotated[Number, Field(ge=1, le=500)] = 50
    lease_seconds: Seconds = rules.LEASE
    session: Annotated[str, Field(max_length=200)] | None = None


class Ack(Strict):
    seqs: Seqs
    lease: Key | None = None


class Extend(Strict):
    lease: Key
    lease_seconds: Seconds = rules.LEASE


class Release(Strict):
    lease: Key
    seqs: Seqs | None = None


class Nothing(Strict):
    """An empty object."""


def header(each: queries.Header, own: bool) -> dict:
    """A header; whether it was read is told in one's own inbox only."""
    told = {
        "seq": each.seq,
        "thread": each.thread,
        "in_reply_to": each.in_reply_to,
        "kind": each.kind,
        "from": each.sender,
        "subject": each.subject,
        "importance": each.importance,
        "sent_at": stamp(each.sent_at),
        "expires_at": stamp(each.expires_at),
        "size": each.size,
        "addressed_as": each.addressed_as,
        "state": each.state,
        "delivery_count": each.delivery_count,
        "until": stamp(each.until),
        "dead_reason": each.dead_reason or None,
    }
    return told | ({"read": each.read} if own else {})


def peek(found: queries.Peek, own: bool) -> dict:
    counts = {word: n for word, n in found.counts.items() if own or word != queries.UNREAD}
    return {"agent": found.agent, "peek": True, **counts} | {
        "messages": [header(each, own) for each in found.headers],
        "next": found.next,
    }


def drained(found: Drained) -> dict:
    """What a drain hands over. ``disabled`` says why there is nothing, where somebody switched the agent off."""
    agent = found.agent
    off = {"reason": agent.disabled_reason, "by": agent.disabled_by, "since": stamp(agent.disabled_at)}
    return {
        "agent": agent.slug,
        "lease": found.lease.key if found.lease else None,
        "until": stamp(found.lease.until) if found.lease else None,
        "messages": [header(each, own=True) | {"body": body} for each, body in found.letters],
        "waiting": agent.waiting,
        "disabled": None if agent.enabled else off,
    }


def results(found: list[tuple[int, str]], waiting: int) -> dict:
    return {"results": [{"seq": seq, "result": result} for seq, result in found], "waiting": waiting}


def letter(each: queries.Letter) -> dict:
    return {
        "seq": each.seq,
        "thread": each.thread,
        "in_reply_to": each.in_reply_to,
        "kind": each.kind,
        "from": each.sender,
        "to": list(each.to),
        "subject": each.subject,
        "body": each.body,
        "importance": each.importance,
        "sent_at": stamp(each.sent_at),
        "expires_at": stamp(each.expires_at),
        "size": each.size,
        "deliveries": [
            {"to": line.to, "addressed_as": line.addressed_as, "state": line.state, "reason": line.dead_reason or None}
            for line in each.lines
        ],
        "others": each.others,
    }


def found(page: search.Found) -> dict:
    return {
        "hits": [
            {
                "seq": hit.seq,
                "thread": hit.thread,
                "from": hit.sender,
                "to": list(hit.to),
                "more": hit.more,
                "subject": hit.subject,
                "sent_at": stamp(hit.sent_at),
                "context": "".join(f"[{piece.text}]" if piece.hit else piece.text for piece in hit.context),
            }
            for hit in page.hits
        ],
        "next": page.next,
    }
