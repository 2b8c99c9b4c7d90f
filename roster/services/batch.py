"""A node's batch: up to 1,000 heartbeats in one call, written set by set rather than row by row."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.db.models import F, Q

from roster import access, beats, states
from roster.errors import Forbidden, HubError
from roster.models import Agent

from . import presence

LARGEST = 1000  # heartbeats a call


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a batch. ``status`` None keeps what the agent said last."""

    agent: str
    status: str | None = None
    task: str | None = None


@transaction.atomic
def record(who: access.Caller, entries: list[Entry], now: datetime) -> tuple[list[str], list[tuple[str, HubError]]]:
    """Records a batch of ``who``, a node, received at ``now``. Returns the accepted ids and the refused with reasons.

    Agents that say nothing new are moved by one UPDATE for each window length; the others take the way of a single
    heartbeat. The last entry of an agent counts. Raises Forbidden for any other kind of caller.
    """
    if who.kind != "node":
        raise Forbidden("A batch is for a node's token; an agent sends POST /api/heartbeat.")
    wanted = {entry.agent: entry for entry in entries}
    steady, newsy, refused = _sort(who.node_id, wanted, now)
    for window, keys in steady.items():
        Agent.objects.filter(pk__in=keys).update(
            last_seen=now, evidence_at=now, last_seen_source="heartbeat", deadline=now + window
        )
    _record_news(newsy, wanted, now)
    turned_away = {slug for slug, _ in refused}
    return [slug for slug in wanted if slug not in turned_away], refused


def _sort(node_id: int, wanted: dict[str, Entry], now: datetime):
    """Splits a batch into the steady (by window), the keys with news, and the refused."""
    still_live = Q(recorded=states.LIVE, deadline__gte=now) & (
        Q(signed_off_at=None) | Q(signed_off_at__lt=F("evidence_at"))
    )
    columns = ("pk", "slug", "status", "task", "liveness_mode", "expected_interval", "ttl", "lifecycle", "lifecycle_since",
               "home_node_id", "modality")  # fmt: skip
    rows = Agent.objects.select_for_update(no_key=True).filter(slug__in=list(wanted)).order_by("pk")
    live = set(rows.filter(still_live).values_list("pk", flat=True))
    steady, newsy, known = {}, [], {}
    for pk, slug, status, task, mode, interval, ttl, lifecycle, since, home, modality in rows.values_list(*columns):
        known[slug] = refusal = _refusal(slug, node_id, lifecycle, since, home, modality)
        if refusal is not None:
            continue
        if pk in live and _says_the_same(wanted[slug], status, task):
            steady.setdefault(states.window(mode, interval, ttl), []).append(pk)
        else:
            newsy.append(pk)
    refused = [(slug, known.get(slug, access.NotRegistered())) for slug in wanted if known.get(slug, True) is not None]
    return steady, newsy, refused


def _refusal(slug, node_id, lifecycle, since, home, modality) -> HubError | None:
    if home not in (None, node_id) or modality != "ai":
        return access.not_yours()
    if lifecycle == states.RETIRED:
        return access.Retired(f"The agent '{slug}' is retired.", since=since)
    return None


def _says_the_same(entry: Entry, status: str, task: str | None) -> bool:
    if entry.status is None:
        return entry.task in (None, task)
    return entry.status == status and (entry.task or states.parse_status(entry.status)[1]) == task


def _record_news(keys: list[int], wanted: dict[str, Entry], now: datetime) -> None:
    work = presence.Work()
    for agent in Agent.objects.filter(pk__in=keys).order_by("pk"):
        entry = wanted[agent.slug]
        given = frozenset({"task"} if entry.task is not None else ())
        change = beats.apply(agent, beats.Said(status=entry.status, task=entry.task, given=given), now)
        work.add(agent, change, now)
    work.write()
