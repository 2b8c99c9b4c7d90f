"""Grants: what an agent or a person may do beyond their role, given by an admin by name."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction

from roster import access
from roster.errors import Invalid
from roster.models import Agent, Grant

from . import journal


@transaction.atomic
def give(who: access.Caller, slug: str, permission: str, now: datetime) -> Grant:
    """Gives the agent or person ``slug`` one of Grant.PERMISSIONS. Needs an admin.

    Raises Forbidden, NotFound, Retired, and Invalid where it has it by a grant already, or is a clone, which has no more
    rights than its template, namely none (R114).
    """
    access.require_role(who, "admin")
    agent = Agent.objects.select_for_update(no_key=True).filter(slug=slug).first()
    if agent is None:
        raise access.missing(slug)
    check(agent, permission)
    grant = Grant.objects.create(agent=agent, permission=permission, granted_by=who.name, granted_at=now)
    after = {"permission": permission}
    journal.write(journal.happened("granted", who.name, now, agent=agent, after=after), changed=[agent.pk])
    return grant


def check(agent: Agent, permission: str) -> None:
    """Raises what ``give`` would for ``agent``."""
    if permission not in Grant.PERMISSIONS:
        raise Invalid("permission", f"one of {', '.join(Grant.PERMISSIONS)}")
    access.refuse_retired(agent)
    if agent.template_id:
        raise Invalid("agent", "a clone has no rights beyond those of its template, which has none")
    if Grant.objects.filter(agent=agent, permission=permission, revoked_at=None).exists():
        raise Invalid("permission", f"{agent.slug} was given it before")


@transaction.atomic
def revoke(who: access.Caller, grant: Grant, now: datetime) -> bool:
    """Takes a grant back; the next call without it is refused. Needs an admin. False where it was revoked before."""
    access.require_role(who, "admin")
    if not Grant.objects.filter(pk=grant.pk, revoked_at=None).update(revoked_at=now, revoked_by=who.name):
        return False
    before = {"permission": grant.permission}
    event = journal.happened("grant_revoked", who.name, now, agent=grant.agent, before=before)
    journal.write(event, changed=[grant.agent_id])
    return True
