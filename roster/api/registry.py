"""The registry's calls. Each edge function reads the request, asks one service or query, and says what came of it."""

from __future__ import annotations

import random
from datetime import datetime
from typing import Literal

from django.http import HttpRequest, HttpResponse
from django.utils.cache import get_conditional_response
from ninja import Query, Router

from roster import access, auth, metrics, plans, queries, rows, schemas, states
from roster.body import parse
from roster.errors import Expired, Forbidden, NotRegistered
from roster.listing import listing
from roster.models import Anomaly, Event
from roster.offload import committed, in_database
from roster.replies import known, reply
from roster.services import batch, registry
from roster.services.presence import Beat, Heard, heartbeats

router = Router(tags=["registry"])
JITTER = 0.1  # of the interval, so that a fleet that started together does not stay in step (P17)


@router.put("/agents/{id}", auth=auth.beat_token, summary="Register an agent, or its heartbeat")
async def put_agent(request: HttpRequest, id: str, body: schemas.Put):
    """A new id needs an enrolment token or a manager; the answer then carries the agent's own `token`, once."""
    try:
        heard = await _beat(request, id, body.said())
    except NotRegistered:
        who = await in_database(access.caller, request.auth)
        agent, raw = await in_database(registry.register, who, id, body.said(), request.received_at)
        return reply(schemas.agent(rows.of_agent(agent, request.received_at)) | {"token": raw}, 201)
    return reply(schemas.agent(rows.of_agent(heard.agent, heard.at)) | {"rejoined": _rejoined(heard)})


@router.post("/heartbeat", auth=auth.beat_token, summary="Heartbeat with the agent's own token")
async def post_heartbeat(request: HttpRequest, body: schemas.Beat = schemas.Beat()):
    """A node's token names the agent in `Agora-Agent`. Answers with what an agent should know and when to come again."""
    return reply(_reply(await _beat(request, request.META.get("HTTP_AGORA_AGENT"), body.said())))


@router.post(
    "/heartbeats",
    auth=auth.beat_token,
    summary="Up to 1,000 heartbeats with a node's token",
    openapi_extra={"requestBody": {"content": {"application/json": {"schema": schemas.BATCH_BODY}}, "required": True}},
)
async def post_heartbeats(request: HttpRequest):
    """Body: `{"heartbeats": [{"agent", "status", "task"}]}`, or the list itself. Says which were accepted and refused."""
    entries, malformed = schemas.batch_entries(parse(request))
    accepted, refused = await known(
        request, in_database(batch.record_by_token, request.auth, entries, request.received_at)
    )
    metrics.heartbeats.inc(len(accepted))
    told = [{"agent": slug, "code": why.code, "message": why.message} for slug, why in refused]
    return reply({"accepted": accepted, "refused": malformed + told})


async def _beat(request: HttpRequest, slug: str | None, said) -> Heard:
    beat = Beat(request.auth, slug, said, request.received_at)
    with metrics.heartbeat_seconds.time():
        heard = await known(request, committed(heartbeats.submit(beat)))
    metrics.heartbeats.inc()
    return heard


def _reply(heard: Heard) -> dict:
    """Read from the agent itself: a whole row would cost more than the rest of the answer."""
    agent = heard.agent
    window = agent.ttl / states.DORMANT_FACTOR if agent.liveness_mode == states.EPHEMERAL else agent.expected_interval
    return {
        "presence": states.presence(agent.facts(), heard.at).word,
        "waiting": agent.waiting,
        "enabled": agent.enabled,
        "disabled": None if agent.enabled else schemas.disabled(rows.of_agent(agent, heard.at)),
        "next_heartbeat_in": round(window * random.uniform(1 - JITTER, 1 + JITTER)),
        "server_time": schemas.stamp(heard.at),
        "rejoined": _rejoined(heard),
    }


def _rejoined(heard: Heard) -> dict | None:
    """What the agent was before this heartbeat, where it had been gone: it should know that it was (F080)."""
    before = heard.before
    if before.word == states.LIVE or before.since is None:
        return None
    return {"was": before.word, "since": schemas.stamp(before.since), "reason": before.reason}


@router.post("/agents/{id}/sign-off", auth=auth.bearer, summary="Say goodbye until the next heartbeat")
async def post_sign_off(request: HttpRequest, id: str, body: schemas.SignOff = schemas.SignOff()):
    """A goodbye from a session changes nothing where a newer session has been heard."""
    as_slug = request.META.get("HTTP_AGORA_AGENT")
    agent = await in_database(registry.sign_off, request.auth, id, body.session, request.received_at, as_slug)
    return reply(schemas.agent(rows.of_agent(agent, request.received_at)))


@router.delete("/agents/{id}", auth=auth.bearer, summary="Refused: nobody is deleted")
async def delete_agent(request: HttpRequest, id: str):
    raise Forbidden("Nobody is deleted. An agent is retired instead, and its history stays.", code="never_deleted")


@router.get("/agents", auth=auth.reader, summary="The roster")
async def list_agents(
    request: HttpRequest,
    presence: Literal["", "live", "silent", "dormant", "expired", "unknown", "disabled"] = "",
    lifecycle: Literal["", "hired", "active", "draining", "retired"] = "",
    mode: Literal["", "ephemeral", "async", "always-on"] = "",
    node: str = "",
    q: str = "",
    limit: int = Query(100, ge=1, le=500),
    after: str = "",
):
    """Everybody who is listed, in order of id; `next` is the cursor of the following page. With the last answer's
    `ETag` in `If-None-Match` it is 304 while nothing has changed."""
    selection = queries.Selection(
        presence=presence, lifecycle=lifecycle, mode=mode, node=node, q=q, after=after, limit=limit
    )
    made = await in_database(listing, selection, request.received_at)
    headers = {"ETag": made.etag, "Cache-Control": "private, no-cache"}
    response = HttpResponse(made.body, content_type="application/json", headers=headers)
    return get_conditional_response(request, etag=made.etag, response=response)


@router.get("/agents/{id}", auth=auth.reader, summary="One agent")
async def get_agent(request: HttpRequest, id: str):
    """The registry's entry with how it is employed, else one synthesized from the profile, else 404."""
    return reply(await in_database(_agent, id, request.received_at))


def _agent(slug: str, now: datetime) -> dict:
    row = queries.one(slug, now)
    if row is None:
        raise access.missing(slug)
    gone = row.presence.word == states.EXPIRED and row.lifecycle != states.RETIRED
    if gone and not row.has_profile:
        seen = schemas.stamp(row.last_seen)
        raise Expired(f"The ephemeral agent '{row.id}' went silent and left the roster.", last_seen=seen)
    employed = queries.employed(slug, plans.TOOLS, now, plans.WARNING_AGE)
    return schemas.agent(row) | {"employment": schemas.employment(employed) if employed else None}


@router.get("/whoami", auth=auth.bearer, summary="What this token stands for")
async def whoami(request: HttpRequest):
    who = request.auth
    return reply({"kind": who.kind, "id": who.name if who.kind != "enrolment" else None, "role": who.role})


@router.get("/events", auth=auth.reader, summary="Presence edges and acts, oldest first")
async def list_events(
    request: HttpRequest,
    after: int = Query(0, ge=0),
    agent: str = "",
    kind: str = "",
    limit: int = Query(100, ge=1, le=500),
):
    """A program waits for an edge by asking again with `after` = the last `next`; nothing is skipped or repeated."""
    return reply(await in_database(_events, after, agent, kind, limit))


def _events(after: int, agent: str, kind: str, limit: int) -> dict:
    found = Event.objects.filter(pk__gt=after).select_related("agent").order_by("pk")
    found = found.filter(agent__slug=agent) if agent else found
    found = found.filter(kind=kind) if kind else found
    told = [schemas.event(each) for each in found[:limit]]
    return {"events": told, "next": told[-1]["id"] if told else after}


@router.get("/anomalies", auth=auth.reader, summary="What a person should know about")
async def list_anomalies(request: HttpRequest, open: bool | None = None, limit: int = Query(100, ge=1, le=500)):
    return reply(await in_database(_anomalies, open, limit))


def _anomalies(is_open: bool | None, limit: int) -> dict:
    found = Anomaly.objects.order_by("-pk")
    found = found if is_open is None else found.filter(closed_at__isnull=is_open)
    return {"anomalies": [schemas.anomaly(each) for each in found[:limit]]}
