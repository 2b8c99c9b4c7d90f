"""The verbs that people use on an agent: who may, what is asked, what does it, what it brings about."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime

from django.conf import settings

from roster import access, employment
from roster.models import Agent
from roster.services import conduct, hiring, lifecycle, switch
from roster.work import Held

from . import impact

Does = Callable[[access.Caller, str, Mapping[str, str], datetime], Agent]


@dataclass(frozen=True, slots=True)
class Verb:
    """``permission`` is what it needs, ``asks`` the fields of its form and ``must`` those that have to be filled in;
    ``does`` is called with the caller, the agent's id, the fields and the time; ``impact`` says beforehand what it
    brings about, ``done`` afterwards what it brought."""

    label: str
    permission: str
    asks: tuple[str, ...]
    does: Does
    impact: Callable[[Agent, Held], list[str]]
    done: str
    must: tuple[str, ...] = ()


VERBS = {
    employment.REASSIGN: Verb(
        "Reassign", "reassign", ("node",),
        lambda who, slug, said, now: hiring.reassign(who, slug, said["node"], now),
        impact.moves, "is moved; the new node makes its workspace", must=("node",),
    ),
    employment.DRAIN: Verb(
        "Drain", "retire", ("reason",),
        lambda who, slug, said, now: lifecycle.drain(who, slug, said["reason"], now),
        impact.finishes, "finishes its work, and is retired by itself then",
    ),
    employment.RETIRE: Verb(
        "Retire", "retire", ("reason", "successor"),
        lambda who, slug, said, now: lifecycle.retire(who, slug, said["reason"], said["successor"] or None, now),
        impact.finishes, "finishes its work, and is retired by itself then",
    ),
    employment.DISMISS: Verb(
        "Dismiss", "dismiss", ("rule", "reason"),
        lambda who, slug, said, now: conduct.dismiss(
            who, slug, said["rule"], said["reason"], now, settings.WARNING_AGE
        ),
        impact.finishes, "is dismissed: it finishes its work, and is retired by itself then", must=("rule", "reason"),
    ),
    employment.FORCE_RETIRE: Verb(
        "Force-retire", "force_retire", ("reason", "confirm"),
        lambda who, slug, said, now: lifecycle.force_retire(who, slug, said["reason"], said["confirm"], now),
        impact.cuts_off, "is retired", must=("reason", "confirm"),
    ),
    employment.DISABLE: Verb(
        "Disable", "disable", ("reason",),
        lambda who, slug, said, now: switch.disable(who, slug, said["reason"], now),
        impact.answers_disabled, "is disabled", must=("reason",),
    ),
    employment.ENABLE: Verb(
        "Enable", "disable", (),
        lambda who, slug, said, now: switch.enable(who, slug, now),
        impact.runs_again, "is enabled",
    ),
}  # fmt: skip
ASKED = {
    "reason": "Why",
    "node": "To which node",
    "rule": "Which rule it broke again after a warning",
    "successor": "Who follows it",
    "confirm": "Type its id to confirm",
}
FOR_GOOD = (employment.DRAIN, employment.RETIRE, employment.DISMISS)  # their pages ask for the typed id, as force does


def offered(agent, may: frozenset[str]) -> list[tuple[str, str]]:
    """The verbs, with their labels, that ``agent`` allows now and whoever has the permissions ``may`` can use."""
    names = (name for name in employment.allowed(agent) if name in VERBS and VERBS[name].permission in may)
    return [(name, VERBS[name].label) for name in names]
