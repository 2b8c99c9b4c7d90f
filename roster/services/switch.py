"""The switch: a manager disables an agent, which then answers with that, and enables it again."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction

from roster import access, employment, work
from roster.errors import Invalid
from roster.models import Agent

from . import journal, presence

COLUMNS = ("enabled", "disabled_reason", "disabled_by", "disabled_at")
LONGEST_REASON = 500  # characters


@transaction.atomic
def disable(who: access.Caller, slug: str, reason: str, now: datetime) -> Agent:
    """Disables the agent ``slug``. From this commit on it is given no work; every prompt that waits for it is answered
    with its state in the same transaction, in order, and what runs goes on (design walk 3).

    Raises Forbidden, NotFound, Invalid without a reason, and Conflict where somebody was faster.
    """
    access.require(who, "disable")
    agent = access.employee(slug, employment.DISABLE)
    before = {"enabled": True}
    agent.enabled, agent.disabled_by, agent.disabled_at = False, who.name, now
    agent.disabled_reason = said(reason)
    agent.save(update_fields=COLUMNS)
    answered = work.registered().disabled(agent, now)
    after = {"enabled": False, "prompts_answered": answered}
    journal.write(
        journal.happened(
            "disabled", who.name, now, agent=agent, before=before, after=after, reason=agent.disabled_reason
        ),
        changed=[agent.pk],
    )
    return agent


@transaction.atomic
def enable(who: access.Caller, slug: str, now: datetime) -> Agent:
    """Enables the agent ``slug`` again; nothing else of it changes (P38). One that went silent meanwhile is an anomaly
    from now on. Raises Forbidden, NotFound, Conflict."""
    access.require(who, "disable")
    agent = access.employee(slug, employment.ENABLE)
    before = {"enabled": False, "by": agent.disabled_by, "reason": agent.disabled_reason}
    agent.enabled, agent.disabled_by, agent.disabled_at, agent.disabled_reason = True, "", None, ""
    agent.save(update_fields=COLUMNS)
    presence.mark(agent, now)
    journal.write(
        journal.happened("enabled", who.name, now, agent=agent, before=before, after={"enabled": True}),
        changed=[agent.pk],
    )
    return agent


def said(reason: str, field: str = "reason") -> str:
    """``reason`` itself, if it says something and is not too long. Raises Invalid."""
    reason = reason.strip()
    if not reason:
        raise Invalid(field, "say why: it is shown and kept")
    if len(reason) > LONGEST_REASON:
        raise Invalid(field, f"has {len(reason)} characters, {LONGEST_REASON} at most")
    return reason
