"""An agent's engram and memory."""

from __future__ import annotations

from dataclasses import asdict

from django.http import HttpRequest
from ninja import Query, Router, Schema
from pydantic import ConfigDict, Field

from roster import access, auth
from roster.errors import NotFound
from roster.offload import in_database
from roster.queries import employment
from roster.replies import reply
from roster.services import engrams, memory
from roster.stamps import stamp

router = Router(tags=["engram and memory"])
LARGEST = 2**63 - 1


class NewEngram(Schema):
    model_config = ConfigDict(extra="forbid")

    text: str
    revision: int | None = Field(None, ge=0, le=2**31 - 1, strict=True)


class NewEntry(Schema):
    model_config = ConfigDict(extra="forbid")

    kind: str = Field(..., min_length=1, max_length=memory.LONGEST_KIND)
    text: str = Field(..., min_length=1)


@router.put("/agents/{id}/engram", auth=auth.bearer, summary="Edit what an agent is told to be")
async def put_engram(request: HttpRequest, id: str, body: NewEngram):
    """For admins. The next turn uses it. With the `revision` that was edited, a newer one is not overwritten: 409."""
    edit = (request.auth, id, body.text, request.received_at, body.revision)
    return reply(_engram(await in_database(engrams.edit, *edit)))


@router.get("/agents/{id}/engram", auth=auth.reader, summary="What an agent is told to be")
async def get_engram(request: HttpRequest, id: str, revision: int | None = Query(None, ge=0, le=2**31 - 1)):
    """The newest, or an older `revision`. For persons, the agent itself and its node."""
    return reply(await in_database(_read_engram, request, id, revision))


def _read_engram(request: HttpRequest, slug: str, revision: int | None) -> dict:
    agent, _ = access.inner(request.auth, slug, "viewer", _as(request))
    found = employment.engram(agent, revision)
    if found is None:
        raise NotFound(f"The engram of {agent.slug} has no revision {revision}.")
    return _engram(found)


def _engram(found: employment.Engram) -> dict:
    return asdict(found) | {"author": found.author or None, "at": stamp(found.at)}


@router.get("/agents/{id}/engram/revisions", auth=auth.reader, summary="The revisions of an engram, newest first")
async def get_revisions(
    request: HttpRequest,
    id: str,
    before: int | None = Query(None, ge=0, le=2**31 - 1),
    limit: int = Query(50, ge=1, le=500),
):
    """Without their texts; `next` is the `before` of the following page."""
    return reply(await in_database(_read_revisions, request, id, before, limit))


def _read_revisions(request: HttpRequest, slug: str, before: int | None, limit: int) -> dict:
    agent, _ = access.inner(request.auth, slug, "viewer", _as(request))
    found = employment.revisions(agent, limit + 1, before)
    told = [asdict(each) | {"at": stamp(each.at)} for each in found[:limit]]
    return {"agent": agent.slug, "revisions": told, "next": told[-1]["revision"] if len(found) > limit else None}


@router.post("/agents/{id}/memory", auth=auth.reader, summary="Write something down")
async def post_memory(request: HttpRequest, id: str, body: NewEntry):
    """For the agent itself and its node. Entries are only ever added."""
    entry = (request.auth, id, body.kind, body.text, request.received_at, _as(request))
    return reply(_entry(await in_database(memory.remember, *entry)), 201)


@router.get("/agents/{id}/memory", auth=auth.reader, summary="What an agent wrote down, oldest first")
async def get_memory(
    request: HttpRequest,
    id: str,
    after: int = Query(0, ge=0, le=LARGEST),
    kind: str = Query("", max_length=memory.LONGEST_KIND),
    limit: int = Query(50, ge=1, le=500),
):
    """For the agent itself, its node, and managers, whose look is journaled; `next` is the `after` that follows."""
    return reply(await in_database(_read_memory, request, id, after, kind, limit))


def _read_memory(request: HttpRequest, slug: str, after: int, kind: str, limit: int) -> dict:
    agent, is_own = access.inner(request.auth, slug, "manager", _as(request))
    if not is_own:
        memory.looked_at(request.auth.name, agent, request.received_at)
    found = employment.memory(agent, after, kind, limit + 1)
    told = [_entry(each) for each in found[:limit]]
    return {"agent": agent.slug, "entries": told, "next": told[-1]["id"] if len(found) > limit else None}


def _entry(found: employment.Remembered) -> dict:
    return asdict(found) | {"at": stamp(found.at)}


def _as(request: HttpRequest) -> str | None:
    return request.META.get("HTTP_AGORA_AGENT")
