"""Templates: blueprints of agents. A clone is a real agent, hired like any other, that ends by itself."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timedelta

from django.db import transaction

from roster import access, employment, tools
from roster.errors import Conflict, Invalid, NotFound
from roster.models import Agent, AgentTemplate, Profile
from roster.stamps import stamp

from . import engrams, hiring, journal

COLUMNS = ("display_name", "engram", "tool_scope", "max_sessions", "node", "liveness_mode", "lifetime")
LONGEST_ID = 48  # characters, so that a clone's fits behind it


@transaction.atomic
def save(
    who: access.Caller,
    template: AgentTemplate,
    usual: tools.Usual,
    now: datetime,
    columns: Collection[str] = COLUMNS,
) -> AgentTemplate:
    """Stores a new template, or the ``columns`` of one that is there; what is cloned from now on follows it, and no
    clone may use more tools than it allows.

    Needs an admin, as an engram does. Raises Forbidden, Invalid, and Conflict where the id is a template's or an agent's.
    """
    access.require_role(who, "admin")
    old = AgentTemplate.objects.select_for_update(no_key=True).filter(pk=template.pk).first() if template.pk else None
    if old is None:
        free(template.slug)
        template.created_at, template.created_by = now, who.name
    engrams.checked(template.engram, "engram")
    template.tool_scope = tools.checked(template.tool_scope, usual)
    _bounded(template.lifetime)
    template.save(update_fields=list(columns) if old else None)
    before = {"template": template.slug} | _told(old, columns) if old else None
    after = {"template": template.slug} | _told(template, columns)
    if before != after or old and old.engram != template.engram:
        journal.write(journal.happened("template_edited", who.name, now, before=before, after=after))
    return template


def free(slug: str) -> str:
    """``slug`` itself, if a new template can be called so. Raises Invalid, and Conflict where it is taken."""
    access.valid_slug(slug)
    if len(slug) > LONGEST_ID:
        raise Invalid("id", f"has {len(slug)} characters, {LONGEST_ID} at most: its clones' ids begin with it")
    if AgentTemplate.objects.filter(slug=slug).exists() or Agent.objects.filter(slug=slug).exists():
        raise access.taken(slug)
    return slug


def _bounded(lifetime: int) -> int:
    if not employment.SHORTEST_LIFE <= lifetime <= employment.LONGEST_LIFE:
        raise Invalid("lifetime", f"{employment.SHORTEST_LIFE:,} to {employment.LONGEST_LIFE:,} seconds")
    return lifetime


def _told(template: AgentTemplate, columns: Collection[str]) -> dict:
    """The ``columns`` as the journal keeps them, which everybody reads: the engram by its length alone."""
    told = {name: getattr(template, name) for name in columns}
    if "node" in told:
        told["node"] = template.node.slug if template.node_id else None
    return told | ({"engram": f"{len(template.engram):,} characters"} if "engram" in told else {})


@transaction.atomic
def archive(who: access.Caller, slug: str, now: datetime, archived: bool = True) -> bool:
    """Puts the template ``slug`` away, so that nothing is cloned from it, or takes it out again; its clones live on.
    Needs an admin. False where it stood so before. Raises Forbidden, NotFound."""
    access.require_role(who, "admin")
    template = locked(slug)
    if archived == (template.archived_at is not None):
        return False
    template.archived_at = now if archived else None
    template.save(update_fields=["archived_at"])
    told = {"template": slug}
    event = journal.happened(
        "template_edited", who.name, now, before=told | {"archived": not archived}, after=told | {"archived": archived}
    )
    journal.write(event)
    return True


def locked(slug: str) -> AgentTemplate:
    """The template ``slug``, its row locked. Raises NotFound."""
    template = AgentTemplate.objects.select_for_update(no_key=True).filter(slug=slug).first()
    if template is None:
        raise NotFound(f"There is no template '{slug[:80]}'.")
    return template


@transaction.atomic
def clone(
    who: access.Caller,
    slug: str,
    now: datetime,
    *,
    id: str | None = None,
    node: str | None = None,
    lifetime: int | None = None,
) -> tuple[Agent, str]:
    """Hires a clone of the template ``slug`` and returns it with its own token, raw and once. Without an ``id`` it is
    called after the template and a number; ``lifetime`` is in seconds.

    Raises Forbidden, NotFound, Invalid, and Conflict where the template is put away, the id taken or the node retiring.
    """
    access.require(who, "hire")
    return make(locked(slug), by=who.name, now=now, id=id, node=node, lifetime=lifetime)


def make(
    template: AgentTemplate,
    *,
    by: str,
    now: datetime,
    id: str | None = None,
    node: str | None = None,
    lifetime: int | None = None,
    **told,
) -> tuple[Agent, str]:
    """``clone`` of a locked template, without its question for a permission; ``told`` goes into the event."""
    if template.archived_at:
        since = stamp(template.archived_at)
        said = f"The template '{template.slug}' was put away at {since}."
        raise Conflict(said, state="archived", allowed=[], code="archived", since=since)
    home = node or (template.node.slug if template.node_id else None)
    if home is None:
        raise Invalid("node", f"say on which node: the template '{template.slug}' names none")
    expires_at = now + timedelta(seconds=_bounded(template.lifetime if lifetime is None else lifetime))
    wanted = hiring.Wanted(
        slug=id or _next_id(template), node=home, display_name=template.display_name, engram=template.engram,
        max_sessions=template.max_sessions, tools=template.tool_scope, liveness_mode=template.liveness_mode,
        template=template, expires_at=expires_at,
    )  # fmt: skip
    ends = {"template": template.slug, "expires_at": stamp(expires_at)}
    return hiring.employ(wanted, by=by, now=now, kind="cloned", **ends, **told)


def _next_id(template: AgentTemplate) -> str:
    """The next free ``<template>-<n>``; the template's row is locked, so two clones get two."""
    number = template.clones.count() + 1
    while _is_somebodys(f"{template.slug}-{number}"):
        number += 1
    return f"{template.slug}-{number}"


def _is_somebodys(slug: str) -> bool:
    return Agent.objects.filter(slug=slug).exists() or Profile.objects.filter(slug=slug).exists()
