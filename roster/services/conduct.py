"""Conduct: an agent that broke a rule is warned; one that was warned and breaks the same rule again may be dismissed, by
a person. The subject is the agent, whichever of its sessions did it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction

from roster import access, employment, states, work
from roster.errors import Conflict, Forbidden, Invalid, NotFound
from roster.models import Agent, Anomaly, Rule, Violation, Warning
from roster.queries.employment import counting, proposals
from roster.stamps import stamp

from . import anomalies, journal, lifecycle
from .switch import said

PROPOSED = "dismissal_proposed"
LONGEST_EVIDENCE = 16 * 1024  # characters
LONGEST_KEY = 200
COLUMNS = ("text", "active")  # of a rule


@dataclass(frozen=True, slots=True)
class Report:
    """What came of a report: the violation, whether it ``counted`` or was known, the warning it brought, if any, and
    whether a dismissal for its rule is proposed now."""

    violation: Violation
    counted: bool
    warning: Warning | None
    proposed: bool


@transaction.atomic
def report(who: access.Caller, slug: str, rule: str, evidence: str, key: str, now: datetime, age: timedelta) -> Report:
    """Records that the agent ``slug`` broke ``rule``. The same evidence, which ``key`` names, counts once.

    The first time it is warned, in its inbox; again while that warning counts, for ``age``, its dismissal is proposed.
    Raises Forbidden, NotFound, Retired, Invalid, and Conflict for a person.
    """
    access.require(who, "dismiss")
    agent = access.ai(slug)
    known = {"agent": agent, "rule": _in_force(rule), "evidence_key": _within(key, LONGEST_KEY, "evidence_key")}
    evidence = _within(evidence, LONGEST_EVIDENCE, "evidence")
    violation = Violation.objects.filter(**known).select_related("warning", "agent", "rule").first()
    is_new = violation is None
    if is_new:
        violation = Violation.objects.create(**known, evidence=evidence, reported_by=who.name, at=now)
        _tell(agent, violation, now, age)
    return Report(violation, is_new, getattr(violation, "warning", None), rule in review(agent, now, age))


def _within(text: str, longest: int, field: str) -> str:
    text = text.strip()
    if not 0 < len(text) <= longest:
        raise Invalid(field, f"has 1 to {longest:,} characters")
    return text


def _in_force(slug: str) -> Rule:
    found = Rule.objects.filter(slug=slug, active=True).first()
    if found is None:
        raise Invalid("rule", f"no rule that is in force has the id '{slug[:80]}'")
    return found


def _tell(agent: Agent, violation: Violation, now: datetime, age: timedelta) -> None:
    """Warns ``agent`` of ``violation`` unless it was warned, and tells the journal: mail first, then the roster."""
    rule = violation.rule
    after = {"rule": rule.slug, "evidence_key": violation.evidence_key}  # what was done is not for everybody to read
    happenings = [journal.happened("violation", violation.reported_by, now, agent=agent, after=after)]
    if not counting(now, age).filter(agent=agent, rule=rule).exists():
        seq = work.registered().notify(agent, "warning", f"Warning: {rule.slug}", _warning(violation), now)
        warning = Warning.objects.create(agent=agent, rule=rule, violation=violation, seq=seq or None, at=now)
        told = {"rule": rule.slug, "warning": warning.pk}
        happenings.append(journal.happened("warned", "hub", now, agent=agent, after=told))
    journal.write(*happenings, changed=[agent.pk])


def _warning(violation: Violation) -> str:
    """The text of a warning, as the agent reads it."""
    rule = violation.rule
    return (
        f"You broke the rule '{rule.slug}': {rule.text}\n\nEvidence: {violation.evidence}\n\n"
        "If it happens again while this warning counts, your dismissal is proposed."
    )


@transaction.atomic
def withdraw(who: access.Caller, key: int, reason: str, now: datetime, age: timedelta) -> Warning:
    """Withdraws the warning with the primary key ``key``: it counts no more, and the agent is told. Raises Forbidden,
    NotFound, Invalid without a reason, and Conflict where it was withdrawn before."""
    access.require(who, "dismiss")
    whose = Warning.objects.filter(pk=key).values_list("agent", flat=True).first()
    if whose is None:
        raise NotFound(f"There is no warning {key}.")
    agent = Agent.objects.select_for_update(no_key=True).get(pk=whose)
    warning = Warning.objects.select_related("rule", "agent").get(pk=key)
    if warning.withdrawn_at:
        raise _withdrawn(warning)
    warning.withdrawn_at, warning.withdrawn_by, warning.withdrawn_reason = now, who.name, said(reason)
    warning.save(update_fields=["withdrawn_at", "withdrawn_by", "withdrawn_reason"])
    told = {"rule": warning.rule.slug, "warning": key}
    event = journal.happened(
        "warning_withdrawn", who.name, now, agent=agent, before=told | {"withdrawn": False},
        after=told | {"withdrawn": True}, reason=warning.withdrawn_reason,
    )  # fmt: skip
    if agent.lifecycle != states.RETIRED:
        body = f"The warning for the rule '{warning.rule.slug}' was withdrawn by {who.name}: {warning.withdrawn_reason}"
        work.registered().notify(agent, "system", f"Warning withdrawn: {warning.rule.slug}", body, now)
    journal.write(event, changed=[agent.pk])
    review(agent, now, age)
    return warning


def _withdrawn(warning: Warning) -> Conflict:
    since = stamp(warning.withdrawn_at)
    told = f"The warning {warning.pk} was withdrawn by {warning.withdrawn_by} at {since}."
    return Conflict(told, state="withdrawn", allowed=[], code="already_withdrawn", since=since, by=warning.withdrawn_by)


@transaction.atomic
def dismiss(who: access.Caller, slug: str, rule: str, reason: str, now: datetime, age: timedelta) -> Agent:
    """Drains the agent ``slug`` because it broke ``rule`` after a warning for it; forcing it is another verb. It takes a
    person: no program dismisses anybody by itself (R117, R118).

    Raises Forbidden, NotFound, Invalid, and Conflict where the state does not allow it or no warning counts.
    """
    access.require(who, "dismiss")
    if who.kind != "person":
        raise Forbidden("A dismissal is confirmed by a person: a program may report and propose.")
    agent = access.employee(slug, employment.DISMISS)
    reason = said(reason)
    if not counting(now, age).filter(agent=agent, rule__slug=rule).exists():
        raise _unwarned(agent, rule)
    lifecycle.begin_drain(agent, by=who.name, now=now, reason=f"{rule}: {reason}", kind="dismissed")
    review(agent, now, age)
    return agent


def _unwarned(agent: Agent, rule: str) -> Conflict:
    allowed = [verb for verb in employment.allowed(agent) if verb != employment.DISMISS]
    told = f"{agent.slug} has no warning for the rule '{rule[:80]}' that still counts: warn first."
    return Conflict(told, state=agent.lifecycle, allowed=allowed, code="no_warning", rule=rule[:80])


def review(agent: Agent, now: datetime, age: timedelta) -> list[str]:
    """Opens the proposal to dismiss ``agent``, brings it up to date, or closes it where nothing speaks for it any more:
    it is on its way out, or no warning counts. Returns the rules for which it is proposed."""
    found = proposals(agent, now, age) if employment.DISMISS in employment.allowed(agent) else []
    rules = [each.rule for each in found]
    if rules:
        times = sum(each.times for each in found)
        anomalies.keep_anomaly(PROPOSED, agent.slug, now, agent=agent, rules=rules, times=times)
    else:
        anomalies.close_anomaly(PROPOSED, agent.slug, now)
    return rules


def review_all(now: datetime, age: timedelta) -> None:
    """Closes the proposals that time ended: their warnings are too old to count."""
    for key in Anomaly.objects.filter(kind=PROPOSED, closed_at=None).values_list("agent", flat=True):
        with transaction.atomic():
            review(Agent.objects.select_for_update(no_key=True).get(pk=key), now, age)


@transaction.atomic
def save_rule(rule: Rule, *, by: str, now: datetime, columns: Collection[str] = COLUMNS) -> Rule:
    """Stores a new rule, or the ``columns`` of one that is there: its text and whether it is in force."""
    old = Rule.objects.filter(pk=rule.pk).values(*columns).first() if rule.pk else None
    rule.save(update_fields=columns if old else None)
    after = {"rule": rule.slug} | {name: getattr(rule, name) for name in columns}
    before = {"rule": rule.slug} | old if old else None
    journal.write(journal.happened("rule_edited", by, now, before=before, after=after))
    return rule
