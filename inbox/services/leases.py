"""Taking mail out of an inbox and being done with it. Each call locks the agent's row, so an inbox has one writer."""

from __future__ import annotations

import secrets
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from inbox import access, rules
from inbox.models import Delivery, Lease
from inbox.queries import Header, with_bodies
from roster.access import Caller
from roster.employment import admission
from roster.errors import Conflict
from roster.models import Agent
from roster.services import presence
from roster.stamps import stamp

from .boxes import recount
from .settling import settle


@dataclass(frozen=True, slots=True)
class Hand:
    """Who reaches into which inbox: the caller, the inbox's id, and the id that a node named itself as; at ``now``."""

    who: Caller
    slug: str
    now: datetime
    as_slug: str | None = None


@dataclass(frozen=True, slots=True)
class Drained:
    """What was handed over: headers with their bodies, and the lease that holds them."""

    agent: Agent
    lease: Lease | None
    letters: list[tuple[Header, str]]


@transaction.atomic
def drain(hand: Hand, limit: int, seconds: int, session: str = "") -> Drained:
    """Leases up to ``limit`` waiting messages, oldest first, for ``seconds``. A disabled agent is given nothing: every
    path that hands out work asks ``employment.admission`` under the lock that a manager's switch takes too."""
    agent = access.holder(hand.who, hand.slug, hand.as_slug)
    settle(agent, hand.now)
    taken = _oldest(agent, limit) if admission(agent).drains else []
    lease = None
    if taken:
        until = rules.lease_end(hand.now, hand.now, seconds)
        lease = Lease.objects.create(
            key=secrets.token_urlsafe(18), agent=agent, session=session, began_at=hand.now, until=until
        )
        Delivery.objects.filter(pk__in=taken).update(state=rules.LEASED, lease=lease)
    return Drained(_seen(agent, hand.now, session), lease, with_bodies(taken, hand.now))


def _oldest(agent: Agent, limit: int) -> list[int]:
    """The keys of the oldest waiting deliveries, not more than a drain may carry."""
    waiting = Delivery.objects.filter(recipient=agent, state=rules.WAITING).order_by("message")
    found = list(waiting.values_list("pk", "size")[:limit])
    return [pk for pk, _ in found[: rules.fitting([size for _, size in found])]]


def _seen(agent: Agent, now: datetime, session: str = "") -> Agent:
    """The end of every call here: the roster hears what waits now, and that the agent was heard (design rule 3)."""
    agent.waiting = recount([agent.pk]).get(agent.pk, agent.waiting)
    written = presence.Work()
    presence.called(agent, now, written, session or None)
    written.write()
    return agent


@transaction.atomic
def ack(hand: Hand, seqs: list[int], lease: str | None = None) -> tuple[list[tuple[int, str]], Agent]:
    """Says of each of ``seqs`` what the ack did. Raises Conflict, with nothing done, where one is held by another lease
    or the lease has lapsed."""
    agent = access.holder(hand.who, hand.slug, hand.as_slug)
    row = _lease(agent, lease)
    if row is None:
        settle(agent, hand.now)  # or a delivery that has lapsed would be forgotten behind the ack
    mine = _mine(agent, seqs)
    verdicts = {seq: rules.ack(each.facts(), lease, hand.now) for seq, each in mine.items()}
    refuse = [seq for seq, verdict in verdicts.items() if verdict in ("held", "lease_expired")]
    if refuse:
        # whoever comes too late is told so, also where another session holds the message by now (F028)
        late = row is not None and not row.holds(hand.now)
        if late or verdicts[refuse[0]] == "lease_expired":
            raise _lapsed(refuse)
        raise _held([mine[seq] for seq in refuse if verdicts[seq] == "held"])
    acked = [mine[seq].pk for seq, verdict in verdicts.items() if verdict == "acked"]
    Delivery.objects.filter(pk__in=acked).update(state=rules.ACKED, acked_at=hand.now)
    _close(agent, lease, hand.now)
    results = [(seq, _result(verdicts, seq, seq in seqs[:place])) for place, seq in enumerate(seqs)]
    return results, _seen(agent, hand.now)


def _result(verdicts: dict[int, str], seq: int, again: bool) -> str:
    verdict = verdicts.get(seq, "unknown")
    return "already_acked" if again and verdict == "acked" else verdict


@transaction.atomic
def extend(hand: Hand, lease: str, seconds: int) -> Lease:
    """Holds a lease for ``seconds`` from now, never shorter than it has and never beyond its longest. Raises Conflict
    where it has lapsed or holds nothing."""
    agent = access.holder(hand.who, hand.slug, hand.as_slug)
    row = _lease(agent, lease)
    if not row.holds(hand.now):
        raise _lapsed()
    row.until = max(row.until, rules.lease_end(row.began_at, hand.now, seconds))
    row.save(update_fields=["until"])
    _seen(agent, hand.now)
    return row


@transaction.atomic
def release(hand: Hand, lease: str, seqs: list[int] | None = None) -> tuple[list[tuple[int, str]], Agent]:
    """Gives back what ``lease`` holds, or those of ``seqs``; it does not count as a failed delivery. Raises Conflict
    where the lease has lapsed."""
    agent = access.holder(hand.who, hand.slug, hand.as_slug)
    row = _lease(agent, lease)
    if row.ran_out(hand.now):
        raise _lapsed()
    wanted = seqs if seqs is not None else sorted(row.deliveries.values_list("message", flat=True))
    mine = _mine(agent, wanted)
    verdicts = {seq: rules.release(each.facts(), lease, hand.now) for seq, each in mine.items()}
    back = [mine[seq].pk for seq, verdict in verdicts.items() if verdict == "released"]
    Delivery.objects.filter(pk__in=back).update(state=rules.WAITING, lease=None)
    _close(agent, lease, hand.now)
    return [(seq, verdicts.get(seq, "unknown")) for seq in dict.fromkeys(wanted)], _seen(agent, hand.now)


def _mine(agent: Agent, seqs: list[int]) -> dict[int, Delivery]:
    found = Delivery.objects.filter(recipient=agent, message__in=seqs).select_related("lease")
    return {each.message_id: each for each in found}


def _lease(agent: Agent, key: str | None) -> Lease | None:
    if key is None:
        return None
    row = Lease.objects.filter(agent=agent, key=key).first()
    if row is None:
        raise Conflict("This inbox has no such lease.", state="unknown", allowed=["drain"], code="foreign_lease")
    return row


def _close(agent: Agent, key: str | None, now: datetime) -> None:
    """Closes the lease once it holds nothing any more."""
    row = Lease.objects.filter(agent=agent, key=key, closed_at=None).first() if key else None
    if row and not row.deliveries.filter(state=rules.LEASED).exists():
        Lease.objects.filter(pk=row.pk).update(closed_at=now)


def _held(letters: list[Delivery]) -> Conflict:
    """What another lease holds, until when."""
    seqs, until = [each.message_id for each in letters], max(each.lease.until for each in letters)
    said = (
        f"Taken by a session until {until:%Y-%m-%dT%H:%M:%SZ}: {', '.join(map(str, seqs[:20]))}. Ack it there, under its"
        " lease, or wait until that ends. Nothing was done."
    )
    return Conflict(said, state=rules.LEASED, allowed=[], code="held", seqs=seqs, until=stamp(until))


def _lapsed(seqs: Collection[int] = ()) -> Conflict:
    said = "This lease has lapsed or holds nothing any more; its messages went back to the inbox. Nothing was done."
    return Conflict(said, state="lapsed", allowed=["drain"], code="lease_expired", seqs=list(seqs))
