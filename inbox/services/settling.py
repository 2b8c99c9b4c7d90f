"""Writing down what time has brought: lapsed leases give their messages back, expired mail dies, senders are told.

Every read and every drain knows the same without it (``inbox.rules``); this is where it becomes visible to others.
"""

from __future__ import annotations

from datetime import datetime

from django.db import transaction
from django.db.models import F, Q

from inbox import rules
from inbox.models import IS_UNTOLD, Delivery, Lease, Message
from roster import states
from roster.models import Agent
from roster.services import journal

from . import notices
from .boxes import recount

NAMED = 20  # recipients named in a notice


def settle(agent: Agent, now: datetime) -> int:
    """Settles the inbox of ``agent``, whose row is locked; returns how many deliveries changed. The caller recounts."""
    due = Q(state=rules.LEASED, lease__until__lte=now) | Q(state=rules.WAITING, expires_at__lte=now)
    pending = Delivery.objects.filter(recipient=agent, state__in=rules.PENDING)  # by its index, however old the inbox
    fates: dict[tuple[str, bool], list[int]] = {}
    for each in pending.filter(due).select_related("lease"):
        facts = each.facts()
        fates.setdefault((rules.death(facts, now), rules.lapsed(facts, now)), []).append(each.pk)
    for (reason, lapsed), keys in fates.items():
        rows = Delivery.objects.filter(pk__in=keys)
        given_back = {"attempts": F("attempts") + int(lapsed), "lease": None}
        if reason:
            rows.update(state=rules.DEAD, dead_at=now, dead_reason=reason, **given_back)
            _note_death(agent, keys, reason, now)
        else:
            rows.update(state=rules.WAITING, **given_back)
    return sum(map(len, fates.values()))


def _note_death(agent: Agent, keys: list[int], reason: str, now: datetime) -> None:
    seqs = list(Delivery.objects.filter(pk__in=keys).order_by("message").values_list("message", flat=True))
    journal.write(journal.happened("mail_dead", "hub", now, agent=agent, after={"messages": seqs[:100]}, reason=reason))


@transaction.atomic
def settle_inbox(key: int, now: datetime) -> int:
    """Settles the inbox of the agent with this primary key."""
    agent = Agent.objects.select_for_update(no_key=True).get(pk=key)
    changed = settle(agent, now)
    Lease.objects.filter(agent=agent, closed_at=None, until__lte=now).update(closed_at=now)
    recount([key])
    return changed


def session_began(agent: Agent, session: str, now: datetime) -> None:
    """A new session of ``agent`` took over: what older ones hold returns as if their leases had lapsed (F072)."""
    older = Lease.objects.filter(agent=agent, closed_at=None, until__gt=now).exclude(session__in=("", session))
    if older.update(until=now):
        settle(agent, now)
        agent.waiting = recount([agent.pk]).get(agent.pk, agent.waiting)


def tell_sender(seq: int, now: datetime) -> bool:
    """Tells the sender of message ``seq`` who will not get it, once for each recipient; True where a notice was sent.
    Nobody is told of the death of a notice (P30), nor who has left the fleet."""
    message = Message.objects.get(pk=seq)
    with transaction.atomic():
        sender = Agent.objects.select_for_update(no_key=True).filter(pk=message.sender_id).first()
        untold = Delivery.objects.filter(IS_UNTOLD, message=message)
        dead = list(untold.select_related("recipient").order_by("recipient__slug"))
        Delivery.objects.filter(pk__in=[each.pk for each in dead]).update(told=True)
        if sender is None or sender.lifecycle == states.RETIRED or not dead:
            return False
        _notice(sender, message, dead, now)
    return True


def _notice(sender: Agent, message: Message, dead: list[Delivery], now: datetime) -> None:
    """It comes once for what the sender itself sent."""
    lines = [f"{each.recipient.slug}: {each.dead_reason}" for each in dead[:NAMED]]
    if len(dead) > NAMED:
        lines.append(f"and {len(dead) - NAMED} others")
    body = (
        f"Your message #{message.seq} waits no longer for:\n\n" + "\n".join(lines) + "\n\n"
        "The hub keeps it, but hands it to none of them any more. Send it anew if it still matters."
    )
    subject = f"Not delivered: {message.subject or f'#{message.seq}'}"
    notices.send(sender, kind=rules.SYSTEM, subject=subject, body=body, now=now, about=message)
