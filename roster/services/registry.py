"""Entering the registry, leaving for now, and edits by an admin."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from django.db import IntegrityError, transaction

from roster import access, beats, directory, heard, states
from roster.errors import NotRegistered
from roster.models import Agent, Profile

from . import journal, presence, rows, tokens

POSTURES = {states.ALWAYS_ON: "hardened"}  # others run on hosts that the hub knows nothing about


def register(who: access.Caller, slug: str, said: beats.Said, now: datetime) -> tuple[Agent, str]:
    """Makes the agent ``slug`` on its first heartbeat and returns it with its own token, raw and once.

    Needs an enrolment token or a manager. The mode is the body's, else its profile's, else ephemeral (D5, D28). A row
    that waits for its agent, entered by an admin or for mail to its profile, is the agent's from now on and keeps what
    the body leaves out. Raises Forbidden, Invalid for an illegal id, Conflict where the id is taken.
    """
    if who.kind != "enrolment":
        if who.kind != "person":
            raise NotRegistered()
        access.require_role(who, "manager")
    access.valid_slug(slug)
    try:
        with transaction.atomic():
            agent = unclaimed(slug) or _new(slug, said, now, by=who.name)
            _first_beat(agent, said, now)
            raw = tokens.issue("agent", by=who.name, now=now, agent=agent, label="registered")
    except IntegrityError:
        raise access.taken(slug) from None
    return agent, raw


def unclaimed(slug: str) -> Agent | None:
    """The row that waits for an agent of this id, locked, if there is one. Raises Conflict where it is claimed."""
    agent = Agent.objects.select_for_update(no_key=True).filter(slug=slug).first()
    if agent is not None and not access.is_unclaimed(agent):
        raise access.taken(slug)
    return agent


def _new(slug: str, said: beats.Said, now: datetime, *, by: str) -> Agent:
    """An active agent row, never heard so far."""
    profile = Profile.objects.filter(slug=slug).first()
    mode = states.choose_mode(said.liveness_mode, said.permanent, None, profile.liveness_mode if profile else None)
    interval = said.expected_interval or (profile and profile.expected_interval) or states.DEFAULT_INTERVAL
    agent = Agent(
        slug=slug, display_name=profile.title if profile else "", liveness_mode=mode, expected_interval=interval,
        ttl=said.ttl or states.DEFAULT_TTL, trust_posture=POSTURES.get(mode, "untrusted-host"),
        lifecycle_since=now, created_at=now,
    )  # fmt: skip
    agent.save(force_insert=True)
    after = {"liveness_mode": mode, "expected_interval": interval}
    journal.write(journal.happened("registered", by, now, agent=agent, after=after), changed=[agent.pk])
    return agent


def _first_beat(agent: Agent, said: beats.Said, now: datetime) -> None:
    work = presence.Work()
    work.add(agent, beats.apply(agent, said, now, access.declared_mode(agent)), now)
    work.write()


@transaction.atomic
def sign_off(who: access.Caller, slug: str, session: str | None, now: datetime, as_slug: str | None = None) -> Agent:
    """An agent says goodbye: at once dormant (async), expired (ephemeral) or silent with an anomaly (always-on).

    A goodbye from ``session`` changes nothing where a newer session has been heard (P16). It counts as being seen.
    """
    agent = access.agent_of(who, slug, as_slug)
    profile_mode = access.declared_mode(agent)
    change = beats.Change(before=states.presence(agent.facts(profile_mode), now))
    agent.heard, ends = heard.sign_off(agent.heard, session)
    if ends or change.before.word == states.LIVE:  # a late goodbye must not wake an agent that is gone
        beats.prove(agent, now, "own_call")
    agent.last_seen, agent.last_seen_source = now, "own_call"
    change.news = True
    if ends:
        beats.leave(agent, now, change, profile_mode)
        change.note("signed_off", None, {"session": session})
    work = presence.Work()
    work.add(agent, change, now)
    work.write()
    return agent


EDITABLE = ("display_name", "liveness_mode", "expected_interval", "ttl", "trust_posture")


@transaction.atomic
def edit(agent: Agent, wanted: dict, *, by: str, now: datetime) -> Agent:
    """An admin's edit of the columns in EDITABLE. It never counts as being seen; the open window is measured anew."""
    row = Agent.objects.select_for_update(no_key=True).get(pk=agent.pk)
    before = {name: getattr(row, name) for name in EDITABLE if name in wanted and getattr(row, name) != wanted[name]}
    if not before:
        return row
    opened, was = _opened(row), states.presence(row.facts(access.declared_mode(row)), now).word
    for name in before:
        setattr(row, name, wanted[name])
    if opened and {"liveness_mode", "expected_interval", "ttl"} & set(before):
        row.deadline = opened + states.window(row.liveness_mode, row.expected_interval, row.ttl)
    after = {name: wanted[name] for name in before}
    happenings = [journal.happened("edited", by, now, agent=row, before=before, after=after), *_edge(row, was, by, now)]
    row.check_after = row.deadline if row.recorded == states.LIVE else None
    rows.update_rows((*EDITABLE, "deadline", "check_after", "recorded"), [row])
    presence.mark(row, now)
    journal.write(*happenings, changed=[row.pk])
    return row


def _opened(row: Agent) -> datetime | None:
    """When the present window began: at the last evidence, or later where an outage or a clock step moved it."""
    if row.evidence_at is None or states.fault(row.facts()):
        return row.evidence_at
    return row.deadline - states.window(row.liveness_mode, row.expected_interval, row.ttl)


def _edge(row: Agent, was: str, by: str, now: datetime) -> list:
    """The edge that an edit itself brought, by opening or closing the window of a recorded agent. One that time had
    brought before the edit is the sweep's to record."""
    found = states.presence(row.facts(access.declared_mode(row)), now)
    if row.evidence_at is None or found.word in (was, row.recorded):
        return []
    before, row.recorded = row.recorded, found.word
    since = row.live_since if before == states.LIVE else None
    edge = {"before": before, "before_since": since, "after": found.word}
    return [journal.happened("presence", by, now, agent=row, reason="edited", **edge)]


def enrolled_by_hand(slug: str, wanted: dict, *, by: str, now: datetime) -> Agent:
    """An agent that an admin enters before it was ever heard; it gets its token in the admin too."""
    access.valid_slug(slug)
    with transaction.atomic():
        if Agent.objects.filter(slug=slug).exists():
            raise access.taken(slug)
        agent = Agent(slug=slug, lifecycle_since=now, created_at=now, **wanted)
        agent.save(force_insert=True)
        journal.write(journal.happened("registered", by, now, agent=agent, after=wanted), changed=[agent.pk])
    return agent


def enter_members(members: Iterable[directory.Entry], now: datetime) -> list[tuple[Agent, bool]]:
    """Rows for members known by their profile alone, and whether each is new, so that something can wait for them; they
    are shown as before. Whoever calls tells the journal (``tell_entered``) once it holds the other rows that it needs.

    In the order of ids: of two who enter the same members one waits for the other, and never both.
    """
    return [_entered(member, now) for member in sorted(members, key=lambda member: member.slug)]


def _entered(member: directory.Entry, now: datetime) -> tuple[Agent, bool]:
    columns = {
        "display_name": member.title,
        "liveness_mode": member.mode,
        "expected_interval": member.expected_interval or states.DEFAULT_INTERVAL,
        "trust_posture": POSTURES.get(member.mode, "untrusted-host"),
    }
    return Agent.objects.get_or_create(slug=member.slug, defaults=columns | {"lifecycle_since": now, "created_at": now})


def tell_entered(agent: Agent, *, by: str, now: datetime) -> None:
    """Journals that ``agent`` was entered by ``enter_members`` because ``by`` wrote to it."""
    after = {"liveness_mode": agent.liveness_mode, "expected_interval": agent.expected_interval}
    entered = journal.happened(
        "registered", by, now, agent=agent, after=after, reason="from its profile, to keep mail for it"
    )
    journal.write(entered, changed=[agent.pk])
