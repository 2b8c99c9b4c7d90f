"""Why a letter is not sent, in words for people and in facts for programs. Pure.

A refusal says what is so of one recipient ("analyst is retired since ..."); ``whole`` makes of it the answer to a send
that it refuses, and a send to many shows it in the line of that recipient.
"""

from __future__ import annotations

from roster import states
from roster.errors import Expired, Full, HubError, NobodyThere, Retired
from roster.stamps import stamp

from . import rules
from .letters import EVERYBODY, Letter


def of(agent, found: states.Presence, held, size: int) -> HubError | None:
    """Why ``agent``, whose inbox holds ``held``, takes no letter of ``size`` bytes, if it does not."""
    slug = agent.slug
    if agent.lifecycle == states.RETIRED:
        since, follows = stamp(agent.lifecycle_since), agent.successor.slug if agent.successor_id else None
        said = f"{slug} is retired since {since}" + (f"; its successor is {follows}" if follows else "")
        return Retired(said, to=slug, since=since, reason=agent.lifecycle_reason, successor=follows)
    if found.word == states.EXPIRED:
        seen = stamp(agent.last_seen)
        return Expired(f"{slug} was ephemeral and left the roster; it was last seen {seen}", to=slug, last_seen=seen)
    if not held.takes(size):
        return _full(slug, held)
    return None


def _full(slug: str, held) -> Full:
    oldest, most = stamp(held.oldest), {"pending": rules.MOST_WAITING, "bytes": rules.MOST_BYTES}
    said = (
        f"the inbox of {slug} is full: {_messages(held.pending)} ({_size(held.size)}) not acked, the oldest sent {oldest}; "
        f"it holds {most['pending']:,} and {_size(most['bytes'])} at most"
    )
    return Full(said, to=slug, pending=held.pending, bytes=held.size, oldest=oldest, most=most)


def whole(first: HubError, lines: list[dict]) -> HubError:
    """The refusal of a send to named recipients: the ``first`` of those who cannot take it, and the ``lines`` of all of
    them where there are several."""
    others = f", and {len(lines) - 1} more cannot take it" if len(lines) > 1 else ""
    detail = first.detail | ({"refused": lines} if others else {})
    return type(first)(f"Nothing was sent: {first.message}{others}.", code=first.code, **detail)


def nobody(letter: Letter, lines: list[dict]) -> NobodyThere:
    """The refusal of a send to many that reaches none; ``lines`` are those who cannot take it."""
    if lines:
        why = f"none of the {len(lines)} behind '{letter.to[0]}' can take it"
    else:
        why = "nobody else is live" if letter.to[0] == EVERYBODY else f"nobody else is in the group '{letter.group}'"
    return NobodyThere(f"Nothing was sent: {why}.", state="nobody", allowed=[], refused=lines)


def _messages(n: int) -> str:
    return "1 message" if n == 1 else f"{n:,} messages"


def _size(n: int) -> str:
    for unit, size in (("MB", 1024 * 1024), ("kB", 1024)):
        if n >= size:
            return f"{n / size:.3g} {unit}"
    return f"{n} bytes"
