"""Profiles: who belongs to the fleet."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from django.db import transaction

from roster.models import Agent, Profile

from . import journal

COLUMNS = ("title", "role", "capabilities", "contact", "public", "liveness_mode", "expected_interval", "body")


@transaction.atomic
def save(profile: Profile, *, by: str, now: datetime, columns: Iterable[str] = COLUMNS) -> Profile:
    """Stores a new profile, or the ``columns`` of a changed one; every list shows it with its next answer, in every
    process."""
    old = Profile.objects.filter(pk=profile.pk).values(*COLUMNS).first() if profile.pk else None
    # every writer locks agents before it raises a version: one order, no deadlock
    agent = Agent.objects.select_for_update(no_key=True).filter(slug=profile.slug).first()
    profile.updated_at, profile.updated_by = now, by
    profile.save(update_fields=[*columns, "updated_at", "updated_by"] if old else None)
    new = {name: getattr(profile, name) for name in columns}
    differs = [name for name in columns if old is None or old[name] != new[name]]
    before = {name: old[name] for name in differs} if old else None
    journal.next_version("profiles")
    edited = journal.happened(
        "profile_edited", by, now, agent=agent, before=before, after={name: new[name] for name in differs},
        reason=profile.path,
    )  # fmt: skip
    journal.write(edited, changed=[agent.pk] if agent else [])
    return profile
