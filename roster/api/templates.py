"""Templates and their clones."""

from __future__ import annotations

from typing import Annotated

from django.http import HttpRequest
from ninja import Router, Schema
from pydantic import ConfigDict, Field

from roster import access, auth, employment, plans, schemas, states
from roster.errors import Invalid
from roster.models import AgentTemplate, Node
from roster.offload import in_database
from roster.replies import reply
from roster.services import templates
from roster.stamps import stamp

from . import staff

router = Router(tags=["templates"])
Lifetime = Annotated[
    int,
    Field(ge=employment.SHORTEST_LIFE, le=employment.LONGEST_LIFE, strict=True, description="Seconds, 60 to 365 days."),
]


class NewTemplate(Schema):
    model_config = ConfigDict(extra="forbid")

    id: str
    display_name: str = Field("", max_length=200)
    engram: str = ""
    tools: list[str] | None = Field(None, description="The most that a clone may use; null for the usual ones.")
    max_sessions: staff.Cap = 1
    max_instances: staff.OldCap = None
    node: str | None = Field(None, description="Where clones live unless one is asked for elsewhere.")
    liveness_mode: schemas.Mode = states.ASYNC
    lifetime: Lifetime = 24 * 3600


class NewClone(Schema):
    model_config = ConfigDict(extra="forbid")

    id: str | None = None
    node: str | None = None
    lifetime: Lifetime | None = None


@router.get("/templates", auth=auth.reader, summary="The blueprints of agents")
async def list_templates(request: HttpRequest):
    """For persons, and for agents that may hire. In order of id, those that were put away too."""
    return reply(await in_database(_templates, request.auth))


def _templates(who: access.Caller) -> dict:
    if who.role is None:
        access.require(who, "hire")
    return {"templates": [_template(each) for each in AgentTemplate.objects.select_related("node").order_by("slug")]}


@router.post("/templates", auth=auth.bearer, summary="Make a template")
async def post_template(request: HttpRequest, body: NewTemplate):
    """For admins. A template is no agent: nobody can write to it, and it has no presence."""
    return reply(await in_database(_made, request, body), 201)


def _made(request: HttpRequest, body: NewTemplate) -> dict:
    given = body.model_dump(exclude={"id", "tools", "node", "max_instances"})
    template = AgentTemplate(slug=body.id, tool_scope=body.tools, node=_node(body.node), **given)
    return _template(templates.save(request.auth, template, plans.TOOLS, request.received_at))


def _node(slug: str | None) -> Node | None:
    node = Node.objects.filter(slug=slug).first() if slug is not None else None
    if slug is not None and node is None:
        raise Invalid("node", f"no node has the id '{slug[:80]}'")
    return node


def _template(template: AgentTemplate) -> dict:
    return {
        "id": template.slug,
        "display_name": template.display_name,
        "engram": template.engram,
        "tools": template.tool_scope,
        "max_sessions": template.max_sessions,
        "node": template.node.slug if template.node_id else None,
        "liveness_mode": template.liveness_mode,
        "lifetime": template.lifetime,
        "archived_at": stamp(template.archived_at),
        "created_at": stamp(template.created_at),
        "created_by": template.created_by,
    }


@router.post("/templates/{template}/clone", auth=auth.bearer, summary="Hire a clone of a template")
async def post_clone(request: HttpRequest, template: str, body: NewClone = NewClone()):
    """Needs the permission `hire`. A real agent, with its own `token`, once; it drains when its lifetime ends."""
    told, raw = await in_database(_cloned, request, template, body)
    return reply(told | {"token": raw}, 201)


def _cloned(request: HttpRequest, slug: str, body: NewClone) -> tuple[dict, str]:
    agent, raw = templates.clone(request.auth, slug, request.received_at, **body.model_dump())
    return staff.told(agent, request), raw
