"""The calls of employment: hire, the verbs, and the switch. Who may make which is ``roster.access``'s to say."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Annotated, Any, Literal

from django.http import HttpRequest
from ninja import Router, Schema
from pydantic import BeforeValidator, ConfigDict, Field, StringConstraints

from roster import auth, employment, plans, queries, rows, schemas, states
from roster.models import Agent
from roster.offload import in_database
from roster.replies import reply
from roster.services import hiring, lifecycle, switch

from . import registry

TAGS = ["employment"]
router = Router(tags=TAGS)  # a path is served by one router: those of the registry by its own
Cap = Annotated[
    int,
    Field(
        ge=employment.FEWEST_SESSIONS,
        le=employment.MOST_SESSIONS,
        strict=True,
        description="How many prompts it may run at once, 1 to 100.",
    ),
]
Text = Annotated[str, StringConstraints(strip_whitespace=True, max_length=500)]


def _old_name(given: Any) -> None:
    if given is not None:
        raise ValueError("an agent has no instances: it is one, and 'max_sessions' says how many prompts it may run")


OldCap = Annotated[None, BeforeValidator(_old_name), Field(deprecated=True, description="Its name is max_sessions.")]


class _Strict(Schema):
    model_config = ConfigDict(extra="forbid")


class Nothing(_Strict):
    """An empty object."""


class Hire(_Strict):
    id: str
    node: str
    display_name: str = Field("", max_length=200)
    max_sessions: Cap = 1
    max_instances: OldCap = None
    tools: list[str] | None = Field(None, description="Null for the usual ones.")
    engram: str = ""
    liveness_mode: schemas.Mode = states.ASYNC
    expected_interval: schemas.Seconds = states.DEFAULT_INTERVAL

    def wanted(self) -> hiring.Wanted:
        told = self.model_dump(exclude={"id", "max_instances"})
        return hiring.Wanted(slug=self.id, **told)


class Terms(_Strict):
    display_name: str = Field("", max_length=200)
    max_sessions: Cap = 1
    max_instances: OldCap = None
    tools: list[str] | None = Field(None, description="Null for the usual ones.")

    def wanted(self) -> dict:
        given = self.model_dump(exclude_unset=True, exclude={"max_instances"})
        return {"tool_scope" if name == "tools" else name: value for name, value in given.items()}


class Workspace(_Strict):
    state: Literal["ready", "failed"]
    path: Text = ""
    error: Text = ""


class Reassign(_Strict):
    node: str


class Why(_Strict):
    reason: Text = ""


class Retire(Why):
    successor: str | None = None


class Force(Why):
    confirm: str = Field("", description="The id once more.")


@registry.router.post("/agents", tags=TAGS, auth=auth.bearer, summary="Hire an employee onto a node")
async def post_agent(request: HttpRequest, body: Hire):
    """It is `hired` until its node reports the workspace ready. The answer carries its own `token`, once."""
    told, raw = await in_database(_hired, request, body)
    return reply(told | {"token": raw}, 201)


def _hired(request: HttpRequest, body: Hire) -> tuple[dict, str]:
    agent, raw = hiring.hire(request.auth, body.wanted(), plans.TOOLS, request.received_at)
    return told(agent, request), raw


@registry.router.patch("/agents/{id}", tags=TAGS, auth=auth.bearer, summary="Change an agent's name, cap or tools")
async def patch_agent(request: HttpRequest, id: str, body: Terms):
    """Only what is given. A higher cap holds for what waits at once; a lower one ends nothing."""
    return await _done(request, hiring.change_terms, id, body.wanted(), plans.TOOLS)


@router.post("/agents/{id}/workspace", auth=auth.bearer, summary="Report an agent's workspace, by its home node")
async def post_workspace(request: HttpRequest, id: str, body: Workspace):
    """`ready` makes a hired agent active; `failed` says why in `error`."""
    return await _done(request, hiring.report_workspace, id, body.state, body.path, body.error)


@router.post("/agents/{id}/reassign", auth=auth.bearer, summary="Move an idle agent to another node")
async def post_reassign(request: HttpRequest, id: str, body: Reassign):
    """What waits for it goes with it; it is given no prompt until the new node reports its workspace."""
    return await _done(request, hiring.reassign, id, body.node)


@router.post("/agents/{id}/drain", auth=auth.bearer, summary="Let an agent finish, then retire it")
async def post_drain(request: HttpRequest, id: str, body: Why = Why()):
    """It gets no new prompts; what it was given before it still does. It is retired by itself once it is empty."""
    return await _done(request, lifecycle.drain, id, body.reason)


@router.post("/agents/{id}/retire", auth=auth.bearer, summary="Retire an agent, once it has finished")
async def post_retire(request: HttpRequest, id: str, body: Retire = Retire()):
    """The same as drain, and names its successor. Answers `draining`."""
    return await _done(request, lifecycle.retire, id, body.reason, body.successor)


@router.post("/agents/{id}/force-retire", auth=auth.bearer, summary="Retire an agent at once")
async def post_force_retire(request: HttpRequest, id: str, body: Force = Force()):
    """Cuts off what it does. Needs a permission of its own, a reason, and the id typed again in `confirm`."""
    return await _done(request, lifecycle.force_retire, id, body.reason, body.confirm)


@router.post("/agents/{id}/disable", auth=auth.bearer, summary="Disable an agent")
async def post_disable(request: HttpRequest, id: str, body: Why = Why()):
    """From this commit on every prompt to it is answered with that, those that wait too; what runs goes on."""
    return await _done(request, switch.disable, id, body.reason)


@router.post("/agents/{id}/enable", auth=auth.bearer, summary="Enable an agent again")
async def post_enable(request: HttpRequest, id: str, body: Nothing = Nothing()):
    return await _done(request, switch.enable, id)


async def _done(request: HttpRequest, act: Callable[..., Agent], *args):
    """What ``act`` made of an agent, as the API gives it."""
    return reply(await in_database(_act, request, partial(act, request.auth, *args)))


def _act(request: HttpRequest, act: Callable[..., Agent]) -> dict:
    return told(act(now=request.received_at), request)


def told(agent: Agent, request: HttpRequest) -> dict:
    """One agent with its employment."""
    row = rows.of_agent(agent, request.received_at)
    found = queries.employment_of(agent, plans.TOOLS, request.received_at, plans.WARNING_AGE)
    return schemas.agent(row) | {"employment": schemas.employment(found)}
