"""Things that tests need in the database, made by the services that make them for real."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.contrib.auth.models import Group, User
from django.utils import timezone

from roster import access, beats, plans
from roster.models import Agent, AgentTemplate, Node, Profile, Rule
from roster.services import conduct, nodes, people, presence, profiles, registry, templates, tokens

ENROLMENT = access.Caller("enrolment", "test")
ADMIN = access.Caller("person", "ada", role="admin")
WARNING_AGE = timedelta(days=90)
MANAGER = access.Caller("person", "mira", role="manager")


def bearer(token: str, **more: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}", **more}


def enrolment_token() -> str:
    return tokens.issue("enrolment", by="test", now=timezone.now())


def agent(slug: str, now: datetime | None = None, **said) -> tuple[Agent, str]:
    """A registered agent that was heard at ``now``, and its token. ``said`` is the content of its first heartbeat."""
    said = {"status": "idle", **said}
    return registry.register(ENROLMENT, slug, beats.Said(**said, replace=True), now or timezone.now())


def beat(token: str, at: datetime, slug: str | None = None, **said):
    """One heartbeat received at ``at``, written like every other; raises its refusal."""
    given = frozenset(said)
    outcome = presence.record([presence.Beat(access.digest(token), slug, beats.Said(**said, given=given), at)])[0]
    if isinstance(outcome, Exception):
        raise outcome
    return outcome


def node(slug: str, now: datetime | None = None) -> tuple[Node, Agent, str]:
    return nodes.enrol(MANAGER, slug, "", now or timezone.now())


def profile(slug: str, now: datetime | None = None, **columns) -> Profile:
    return profiles.save(Profile(slug=slug, **columns), by="test", now=now or timezone.now())


def person(name: str, role: str | None = "viewer", password: str = "correct horse battery") -> User:
    """A person with a role, a password and the agent row that everybody has."""
    people.make_roles()
    user = User.objects.create_user(name, password=password, is_staff=role == "admin", is_superuser=role == "admin")
    if role:
        user.groups.add(Group.objects.get(name=role))
    people.welcome(user, by="test", now=timezone.now())
    return user


def person_token(name: str, role: str = "viewer") -> str:
    return tokens.issue("person", by="test", now=timezone.now(), agent=person(name, role).agent)


def rule(slug: str, now: datetime | None = None, text: str = "Merge to main only after a review.") -> Rule:
    return Rule.objects.filter(slug=slug).first() or conduct.save_rule(
        Rule(slug=slug, text=text), by="test", now=now or timezone.now()
    )


def template(slug: str = "scribe", now: datetime | None = None, **columns) -> AgentTemplate:
    """The template ``slug``, made unless it is there."""
    wanted = AgentTemplate.objects.filter(slug=slug).first() or AgentTemplate(slug=slug, **columns)
    return wanted if wanted.pk else templates.save(ADMIN, wanted, plans.TOOLS, now or timezone.now())


def report(
    agent: str, rule: str, key: str, now: datetime | None = None, evidence: str = "commit 1a2b"
) -> conduct.Report:
    """A report that ``agent`` broke ``rule``: the first brings a warning."""
    return conduct.report(MANAGER, agent, rule, evidence, key, now or timezone.now(), WARNING_AGE)
