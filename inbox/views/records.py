"""The record of an employee: who waits for it, what it was asked and what it answered, and asking it."""

from __future__ import annotations

from datetime import datetime

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from roster import clock, queries
from roster.directory import versions
from roster.models import Agent
from roster.views.around import for_role
from roster.views.refused import no_agent

from . import asking


@require_safe
@for_role("viewer")
def record(request: HttpRequest, slug: str) -> HttpResponse:
    return _page(request, slug, clock.now())


@require_POST
@for_role("viewer")
def ask(request: HttpRequest, slug: str) -> HttpResponse:
    """Prompts the employee ``slug`` as the person whose page it is."""
    return asking.asked(request, slug, f"/agents/{slug}/record/", _page, of_node=False)


def _page(request: HttpRequest, slug: str, now: datetime, status: int = 200, **more) -> HttpResponse:
    """The page; ``more`` is what stands in its form. The agent of a node has its record on that one's page, and nobody
    prompts a person."""
    version, _ = versions()
    agent = Agent.objects.select_related("home_node").filter(slug=slug).first() if "\0" not in slug else None
    if agent is None:
        return no_agent(request, slug)
    if agent.kind == "node":
        return redirect(f"/nodes/{slug}/")
    if agent.modality == "human":
        raise Http404
    parts = asking.parts(request, agent, asking.of_employee(agent), now)
    context = {"nav": "roster", "row": queries.one(slug, now), "rev": version, "now": now}
    return render(request, "nodes/record.html", context | parts | more, status=status)
