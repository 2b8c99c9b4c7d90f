"""Groups of agents that are written to together, as ``group:NAME``. A group is never deleted and keeps its name, since
letters keep the address they were sent to; one that is not needed any more is emptied."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from django.db import transaction

from inbox.models import MailGroup
from roster.errors import Invalid
from roster.models import Agent
from roster.services import journal

from .addressing import doubted, hint

NAMED = 10  # unknown ids that a refusal names


@transaction.atomic
def save(group: MailGroup, *, joined: Collection[str], left: Collection[str] = (), by: str, now: datetime) -> MailGroup:
    """Stores a new group, or who ``joined`` and who ``left`` one that is there, both by id.

    What others changed meanwhile stays: it is the difference that is written, not the whole list. Raises Invalid for
    the field ``members`` where an id among ``joined`` is nobody's.
    """
    is_new = group.pk is None
    if is_new:
        group.save(force_insert=True)
    else:
        MailGroup.objects.select_for_update(no_key=True).get(pk=group.pk)
    before = set(group.members.values_list("slug", flat=True))
    joined, left = set(joined) - before, set(left) & before
    if not (joined or left or is_new):
        return group
    group.members.add(*keys_of(joined))
    group.members.remove(*keys_of(left))
    after = {"group": group.name, "members": len(before) + len(joined) - len(left)}
    after |= {name: sorted(ids) for name, ids in (("joined", joined), ("left", left)) if ids}
    journal.write(journal.happened("group_edited", by, now, after=after))
    return group


def keys_of(ids: Collection[str]) -> list[int]:
    """The primary keys of the agents with these ids. Raises Invalid, which names those that nobody has."""
    found = Agent.objects.only("slug").in_bulk(list(ids), field_name="slug")
    if unknown := sorted(set(ids) - set(found)):
        more = f" and {len(unknown) - NAMED} others" if len(unknown) > NAMED else ""
        named = ", ".join(doubted(name, hint(name)) for name in unknown[:NAMED])
        raise Invalid("members", f"no agent or person has the id {named}{more}")
    return [agent.pk for agent in found.values()]
