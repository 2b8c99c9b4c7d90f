"""The pages of nodes: all of them, and one with its agent, its queue and its record."""

from __future__ import annotations

from datetime import datetime

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_POST, require_safe

from inbox.queries.nodes import queues
from roster import clock, plans
from roster import queries as roster
from roster.directory import versions
from roster.models import Agent
from roster.queries.employment import engram
from roster.queries.staff import employed
from roster.views.around import for_role, person_of

from . import asking


@require_safe
@for_role("viewer")
def nodes(request: HttpRequest) -> HttpResponse:
    now, (version, _) = clock.now(), versions()
    found = roster.nodes(now)
    standing_of = queues([node.agent.pk for node in found if node.agent], now)
    context = {
        "nav": "nodes",
        "nodes": [(node, standing_of[node.agent.pk] if node.agent else None) for node in found],
        "command": _enrol(request),
        "rev": version,
        "now": now,
    }
    return render(request, "nodes/list.html", context)


@require_safe
@for_role("viewer")
def node(request: HttpRequest, slug: str) -> HttpResponse:
    return page(request, slug, clock.now())


def page(request: HttpRequest, slug: str, now: datetime, status: int = 200, **more) -> HttpResponse:
    """The page of the node ``slug``; ``more`` is what stands in its form."""
    version, _ = versions()
    shown = roster.node(slug, now) if "\0" not in slug else None
    if shown is None or shown.agent is None:
        raise Http404
    agent = Agent.objects.select_related("home_node").get(pk=shown.agent.pk)
    context = {
        "nav": "nodes",
        "node": shown,
        "employment": employed(slug, plans.TOOLS, now, settings.WARNING_AGE),
        "engram": engram(agent),
        "rev": version,
        "now": now,
    }
    parts = asking.parts(request, agent, asking.of_node(slug, shown.lifecycle), now)
    return render(request, "nodes/node.html", context | parts | more, status=status)


@require_POST
@for_role("viewer")
def ask(request: HttpRequest, slug: str) -> HttpResponse:
    """Prompts the agent of the node ``slug`` as the person whose page it is."""
    return asking.asked(request, slug, f"/nodes/{slug}/", page, of_node=True)


def _enrol(request: HttpRequest) -> str:
    """The command that enrols a node, as one can paste it on the hub's own machine."""
    token = f"$(python3 manage.py token create person {person_of(request).username})"
    return (
        f'curl -X POST {request.build_absolute_uri("/api/nodes")} -H "Authorization: Bearer {token}" '
        "-H 'Content-Type: application/json' -d '{\"slug\": \"harbor\"}'"
    )
