"""A node's batch: up to 1,000 heartbeats in one call, written set by set rather than row by row."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime

from django.db import connection, transaction
from django.db.models import Case, F, IntegerField, OuterRef, Q, Subquery, When
from django.db.models.expressions import RawSQL

from roster import access, beats, states
from roster.errors import Forbidden, HubError, NotRegistered
from roster.models import Agent, Node, Profile

from . import presence

LARGEST = 1000  # heartbeats a call


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a batch. ``status`` None keeps what the agent said last."""

    agent: str
    status: str | None = None
    task: str | None = None


def record_by_token(digest: str, entries: list[Entry], now: datetime) -> tuple[list[str], list[tuple[str, HubError]]]:
    """``record`` for the caller behind a token's digest, on the connection that is open anyway."""
    return record(access.caller(digest), entries, now)


@transaction.atomic
def record(who: access.Caller, entries: list[Entry], now: datetime) -> tuple[list[str], list[tuple[str, HubError]]]:
    """Records a batch of ``who``, a node, received at ``now``. Returns the accepted ids and the refused with reasons.

    Agents that say nothing new are moved by one UPDATE for each window length; the others take the way of a single
    heartbeat. The last entry of an agent counts. Raises Forbidden for any other kind of caller.
    """
    if who.kind != "node":
        raise Forbidden("A batch is for a node's token; an agent sends POST /api/heartbeat.")
    wanted = {entry.agent: entry for entry in entries}
    node = Node.objects.only("lifecycle").get(pk=who.node_id)
    steady, newsy, refused = _sort(node, wanted, now)
    for limits, keys in steady.items():
        Agent.objects.filter(pk__in=among(keys, "bigint")).update(
            last_seen=now,
            evidence_at=now,
            heartbeat_at=now,
            last_seen_source="heartbeat",
            deadline=now + states.window(*limits),
        )
    if newsy:
        _record_news(newsy, wanted, now)
    return [slug for slug in wanted if slug not in refused], list(refused.items())


def _sort(node: Node, wanted: dict[str, Entry], now: datetime):
    """Splits a batch into the keys of the steady by their (mode, interval, ttl), the keys with news, and the refused."""
    steady, newsy, known = {}, [], {}
    for pk, slug, status, task, *limits, lifecycle, home, modality, is_live in _rows(list(wanted), now):
        known[slug] = refusal = _refusal(pk, node, lifecycle, home, modality)
        if refusal is not None:
            continue
        if is_live and _says_the_same(wanted[slug], status, task):
            steady.setdefault(tuple(limits), []).append(pk)
        else:
            newsy.append(pk)
    found = {slug: known.get(slug, False) for slug in wanted}
    return steady, newsy, {slug: why or NotRegistered() for slug, why in found.items() if why is not None}


def _rows(slugs: list[str], now: datetime):
    """What the decision needs of the agents ``slugs``, locked in key order; no more, since each is read every time."""
    still_live = Q(recorded=states.LIVE, deadline__gte=now) & (
        Q(signed_off_at=None) | Q(signed_off_at__lt=F("evidence_at"))
    )
    columns = ("pk", "slug", "status", "task", "liveness_mode", "expected_interval", "ttl", "lifecycle", "home_node_id",
               "modality", "is_live")  # fmt: skip
    rows = Agent.objects.select_for_update(no_key=True).filter(slug__in=among(slugs, "text")).order_by("pk")
    is_live = Case(
        When(still_live, then=1), default=0, output_field=IntegerField()
    )  # a boolean is converted row by row
    return rows.annotate(is_live=is_live).values_list(*columns)


def _refusal(pk, node: Node, lifecycle, home, modality) -> HubError | None:
    if modality != "ai" or not access.speaks_for(node.pk, node.lifecycle, home):
        return access.not_yours()
    if lifecycle == states.RETIRED:
        return access.retired(Agent.objects.get(pk=pk))
    return None


def among(values: list, kind: str) -> RawSQL:
    """``values`` of the SQL type ``kind`` for an ``__in``, bound as one parameter: a thousand parameters would cost
    more than the write itself."""
    if connection.vendor == "sqlite":
        return RawSQL("SELECT value FROM json_each(%s)", [json.dumps(values)])
    return RawSQL(f"SELECT unnest(%s::{kind}[])", [values])


def _says_the_same(entry: Entry, status: str, task: str | None) -> bool:
    if entry.status is None:
        return entry.task in (None, task)
    return entry.status == status and (entry.task or states.parse_status(entry.status)[1]) == task


def _record_news(keys: list[int], wanted: dict[str, Entry], now: datetime) -> None:
    work = presence.Work()
    mode = Profile.objects.filter(slug=OuterRef("slug")).values("liveness_mode")[:1]
    for agent in Agent.objects.filter(pk__in=keys).annotate(profile_mode=Subquery(mode)).order_by("pk"):
        entry = wanted[agent.slug]
        given = frozenset({"task"} if entry.task is not None else ())
        said = beats.Said(status=entry.status, task=entry.task, given=given)
        change = beats.apply(agent, said, now, agent.profile_mode)
        work.add(agent, change, now)
    work.write()
