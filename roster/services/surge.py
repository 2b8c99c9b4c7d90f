"""Surge: where the queue of a watched agent grew for so many looks in a row, a clone of a template is hired.

The clone is an agent of its own with a queue of its own; nobody's work is given to another (R82, R113). A person set the
rule, so each clone is a deliberate act, told with its cause.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timedelta

from django.db import transaction

from roster import access, employment, states
from roster.models import Agent, Event, SurgeRule, SweepRun

from . import journal, sweeps, templates

NAME = "surge"
COLUMNS = ("above", "samples", "cooldown", "most", "active")


def run(period: timedelta, now: datetime) -> SweepRun | None:
    """One look at every queue that an active rule watches; None where another is still running. A look that begins
    within half a ``period`` of the last one is another beat's, and no sample."""
    this = sweeps.start(NAME, now, period)
    if this is None:
        return None
    with sweeps.ended(this, now):
        if not _was_just_done(this, period, now):
            rules = SurgeRule.objects.filter(active=True).order_by("pk").values_list("pk", flat=True)
            sweeps.each(this, rules, lambda key: _follow(key, now))
    return this


def _was_just_done(this: SweepRun, period: timedelta, now: datetime) -> bool:
    others = SweepRun.objects.filter(name=NAME).exclude(pk=this.pk)
    return others.filter(started_at__gt=now - period / 2, started_at__lt=now + period / 2).exists()


def _follow(key: int, now: datetime) -> bool:
    """Hires a clone for the rule with the primary key ``key``, if it asks for one."""
    cause = look(key, now)
    if cause:
        clone(key, cause, now)
    return cause is not None


@transaction.atomic
def look(key: int, now: datetime) -> int | None:
    """One sample of the queue that the rule with the primary key ``key`` watches. Where it has grown for too long, this
    is told as an event, whose number it returns; the rule then waits for its cooldown whatever comes of the clone."""
    rows = SurgeRule.objects.select_for_update(of=("self",), no_key=True).select_related("agent", "template")
    rule = rows.filter(pk=key, active=True, template__archived_at=None).first()
    if rule is None:
        return None
    if not employment.admission(rule.agent).queues:  # nothing may queue there, so nothing grows
        rule.seen = []
    else:
        rule.seen = [*rule.seen, rule.agent.queued][-rule.samples :]
    cause = None
    if grown(rule.seen, rule.above, rule.samples) and _may_clone(rule, now):
        rule.cloned_at, cause = now, _tell(rule, now)
    rule.save(update_fields=["seen", "cloned_at"])
    return cause


def grown(seen: list[int], above: int, samples: int) -> bool:
    """Whether a queue of these last lengths, oldest first, has grown for ``samples`` looks: each is too long, and the
    newest is longer than the oldest. One that stays as long as it is may be held up by one stuck prompt (R111)."""
    return len(seen) == samples and min(seen) > above and seen[-1] > seen[0]


def _may_clone(rule: SurgeRule, now: datetime) -> bool:
    if rule.cloned_at and now < rule.cloned_at + timedelta(seconds=rule.cooldown):
        return False
    clones = Agent.objects.filter(template=rule.template, events__kind="cloned", events__after__surge_rule=rule.pk)
    return clones.exclude(lifecycle=states.RETIRED).count() < rule.most


def _tell(rule: SurgeRule, now: datetime) -> int:
    after = {"queued": rule.seen, "above": rule.above, "template": rule.template.slug}
    journal.write(journal.happened("surge", "hub", now, agent=rule.agent, after=after))
    return Event.objects.filter(agent=rule.agent, kind="surge").latest("pk").pk


@transaction.atomic
def clone(key: int, cause: int, now: datetime) -> Agent:
    """Hires the clone that the rule with the primary key ``key`` asks for; its event names its ``cause`` (R108)."""
    rule = SurgeRule.objects.select_related("template").get(pk=key)
    template = templates.locked(rule.template.slug)
    return templates.make(template, by="hub", now=now, cause=cause, surge_rule=key)[0]


@transaction.atomic
def save_rule(who: access.Caller, rule: SurgeRule, now: datetime, columns: Collection[str] = COLUMNS) -> SurgeRule:
    """Stores a new rule, or the ``columns`` of one that is there; its samples begin anew. Needs an admin."""
    access.require_role(who, "admin")
    old = SurgeRule.objects.filter(pk=rule.pk).values(*columns).first() if rule.pk else None
    rule.seen = []
    rule.save(update_fields=[*columns, "seen"] if old else None)
    named = {"template": rule.template.slug}
    after = named | {name: getattr(rule, name) for name in columns}
    edited = journal.happened(
        "surge_rule_edited", who.name, now, agent=rule.agent, before=named | old if old else None, after=after
    )
    journal.write(edited)
    return rule
