"""The calls about nodes: enrol, look, retire."""

from __future__ import annotations

from django.http import HttpRequest
from ninja import Router

from roster import auth, queries, rows, schemas, work
from roster.errors import NotFound
from roster.offload import in_database
from roster.replies import reply
from roster.services import nodes
from roster.stamps import stamp

from .staff import Why

router = Router(tags=["nodes"])


@router.post("/nodes", auth=auth.bearer, summary="Enrol a node with its node agent")
async def post_node(request: HttpRequest, body: schemas.NewNode):
    """For managers. Node, node agent and the node's token (once) come to be together."""
    node, agent, raw = await in_database(nodes.enrol, request.auth, body.slug, body.name, request.received_at)
    told = {"slug": node.slug, "name": node.name, "lifecycle": node.lifecycle}
    row = rows.of_agent(agent, request.received_at)
    return reply({"node": told, "agent": schemas.agent(row), "token": raw}, 201)


@router.get("/nodes", auth=auth.reader, summary="The nodes")
async def list_nodes(request: HttpRequest):
    """All of them, in the order of their ids, retired ones last."""
    return reply({"nodes": await in_database(_nodes, request)})


def _nodes(request: HttpRequest) -> list[dict]:
    found = queries.nodes(request.received_at)
    prompts = work.registered().prompts([each.agent.pk for each in found if each.agent], request.received_at)
    return [_node(each, prompts.get(each.agent.pk, []) if each.agent else []) for each in found]


@router.get("/nodes/{node}", auth=auth.reader, summary="One node")
async def get_node(request: HttpRequest, node: str):
    """Its agent, whether it can be reached, who lives there, what waits for it and what runs."""
    return reply(await in_database(_one, request, node))


@router.post("/nodes/{node}/retire", auth=auth.bearer, summary="Retire a node with its agent")
async def post_retire_node(request: HttpRequest, node: str, body: Why = Why()):
    """Refused while employees live there, who are named. Both are retired once the node's agent has finished."""
    await in_database(nodes.retire, request.auth, node, body.reason, request.received_at)
    return reply(await in_database(_one, request, node))


def _one(request: HttpRequest, slug: str) -> dict:
    found = queries.node(slug, request.received_at)
    if found is None:
        raise NotFound(f"No node has the id '{slug[:80]}'.")
    keys = [found.agent.pk] if found.agent else []
    return _node(found, work.registered().prompts(keys, request.received_at).get(*keys, []))


def _node(found: queries.NodeRow, prompts: list[work.Prompt]) -> dict:
    running = [each for each in prompts if each.started_at]
    waiting = [each for each in prompts if not each.started_at]
    return {
        "slug": found.slug,
        "name": found.name,
        "lifecycle": found.lifecycle,
        "reachable": found.reachable,
        "since": stamp(found.unreachable_since),
        "contact_at": stamp(found.contact_at),
        "interval": found.interval,
        "agent": schemas.agent(found.agent) if found.agent else None,
        "employees": [each.id for each in found.employees],
        "running": next((_told(each) | {"started_at": stamp(each.started_at)} for each in running), None),
        "queue": [_told(each) | {"position": n} for n, each in enumerate(waiting, len(running) + 1)],
    }


def _told(prompt: work.Prompt) -> dict:
    return {"exchange": prompt.exchange, "caller": prompt.caller, "asked_at": stamp(prompt.asked_at)}
