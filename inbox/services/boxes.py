"""What inboxes hold: for the limits of a send, and told to the roster."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.db import connection
from django.db.models import Count, F, Min, OuterRef, Subquery, Sum
from django.db.models.functions import Coalesce

from inbox import rules
from inbox.models import Delivery, Message
from roster.models import Agent
from roster.services import journal
from roster.services.batch import among

UPDATE = f'UPDATE "{Agent._meta.db_table}" SET "waiting" = %s, "changed" = %s WHERE "id" = %s'


@dataclass(slots=True)
class Holding:
    """What one inbox holds that nobody has acked: how many, how many bytes, and of when the oldest is."""

    pending: int = 0
    size: int = 0
    oldest: datetime | None = None

    def takes(self, size: int) -> bool:
        return self.pending < rules.MOST_WAITING and self.size + size <= rules.MOST_BYTES

    def add(self, size: int, at: datetime) -> None:
        self.pending, self.size, self.oldest = self.pending + 1, self.size + size, self.oldest or at


def holdings(agents: list[int]) -> dict[int, Holding]:
    """What the inboxes of these agents hold. Reads an index as far as they are full, which their limits bound."""
    pending = Delivery.objects.filter(recipient__in=among(agents, "bigint"), state__in=rules.PENDING)
    counted = pending.values_list("recipient").annotate(Count("pk"), Sum("size"), Min("message")).order_by()
    found = {pk: (n, size, first) for pk, n, size, first in counted}
    first = among([first for _, _, first in found.values()], "bigint")
    times = dict(Message.objects.filter(pk__in=first).values_list("pk", "sent_at")) if found else {}
    held = {pk: Holding(n, size, times[first]) for pk, (n, size, first) in found.items()}
    return {pk: held.get(pk) or Holding() for pk in agents}


def recount(agents: Iterable[int]) -> dict[int, int]:
    """Brings ``Agent.waiting`` of these agents (primary keys, their rows locked) up to date and returns what changed,
    which is news on the roster. The only writer of that column: counted anew each time, it cannot drift."""
    waits = Delivery.objects.filter(recipient=OuterRef("pk"), state=rules.WAITING).order_by()
    counted = Coalesce(Subquery(waits.values("recipient").annotate(n=Count("pk")).values("n")), 0)
    rows = Agent.objects.filter(pk__in=among(list(agents), "bigint")).annotate(counted=counted)
    changed = list(rows.exclude(waiting=F("counted")).order_by("pk").values_list("counted", "pk"))
    if changed:
        version = journal.next_version()
        with connection.cursor() as cursor:
            cursor.executemany(UPDATE, [(counted, version, pk) for counted, pk in changed])
        journal.append(version, ())
    return {pk: counted for counted, pk in changed}
