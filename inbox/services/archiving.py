"""Mail that an operator puts away. It stays as it is and can be read, but it waits for nobody any more."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from inbox import rules
from inbox.models import Delivery
from roster.errors import Invalid
from roster.models import Agent
from roster.services import journal

from .boxes import recount


@dataclass(frozen=True, slots=True)
class PutAway:
    """How many were put away, how many were left since somebody holds them, and how many had been put away before."""

    done: int
    held: int
    already: int


@transaction.atomic
def put_away(keys: Collection[int], *, by: str, now: datetime, reason: str = "") -> PutAway:
    """Archives the deliveries ``keys`` (primary keys), but for those that are archived already and those that a lease
    holds at ``now``: who drained these may still ack them.

    What nobody acked is given up by that, and its sender is told like that of any other dead mail. That takes a
    ``reason``: raises Invalid, with nothing done, where there is none. One event for each inbox names the messages.
    """
    boxes = set(Delivery.objects.filter(pk__in=keys).values_list("recipient", flat=True))
    agents = {box.pk: box for box in Agent.objects.select_for_update(no_key=True).filter(pk__in=boxes).order_by("pk")}
    found = Delivery.objects.select_related("lease").filter(pk__in=keys).exclude(state=rules.ARCHIVED)
    free = {True: [], False: []}  # by whether it was pending
    held = 0
    for each in found.order_by("message"):
        if rules.state(each.facts(), now) == rules.LEASED:
            held += 1
        else:
            free[each.state in rules.PENDING].append(each)
    if free[True] and not reason:
        unacked = f"{len(free[True])} of these {'is' if len(free[True]) == 1 else 'are'} not acked"
        raise Invalid("reason", f"{unacked}; say why they are given up, which their senders are told")
    _archive(free[False], now)
    _archive(free[True], now, dead_at=now, dead_reason=f"put away by {by}: {reason}"[:200], lease=None)
    if gone := free[False] + free[True]:
        _tell(agents, gone, by, now, reason)
    return PutAway(len(gone), held, already=len(set(keys)) - len(gone) - held)


def clear(agent: Agent, *, by: str, now: datetime) -> None:
    """Puts away what still waits for ``agent``, which was retired just now and whose row is locked: like all mail that
    is given up, its senders are told. No lease of it is open any more."""
    pending = list(Delivery.objects.filter(recipient=agent, state__in=rules.PENDING).order_by("message"))
    reason = f"{agent.slug} was retired" + (f": {agent.lifecycle_reason}" if agent.lifecycle_reason else "")
    _archive(pending, now, dead_at=now, dead_reason=reason[:200], lease=None)
    if pending:
        _tell({agent.pk: agent}, pending, by, now, "retired")


def _archive(deliveries: list[Delivery], now: datetime, **more) -> None:
    rows = Delivery.objects.filter(pk__in=[each.pk for each in deliveries])
    rows.update(state=rules.ARCHIVED, archived_at=now, **more)


def _tell(agents: dict[int, Agent], gone: list[Delivery], by: str, now: datetime, reason: str) -> None:
    """Brings the counts of the inboxes up to date and writes down who took what out of them."""
    seqs = defaultdict(list)
    for each in gone:
        seqs[each.recipient_id].append(each.message_id)
    recount(seqs)
    journal.write(*(
        journal.happened("mail_archived", by, now, agent=agents[box], after={"messages": sorted(of_box)}, reason=reason)
        for box, of_box in sorted(seqs.items())
    ))  # fmt: skip
