"""One agent's page."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from roster import clock, queries, showing

from .around import for_role, person_of
from .refused import no_agent
from .verbs import offered


@require_safe
@for_role("viewer")
def agent(request: HttpRequest, slug: str) -> HttpResponse:
    now = clock.now()
    version, row = queries.member(slug, now)
    if row is None:
        return no_agent(request, slug)
    context = showing.agent(row, version, now)
    key = context["profile"] and context["profile"].pk
    context |= {
        "offered": offered(row, person_of(request).may) if row.registered else [],
        "live_url": f"/live/agents/{row.pk}/" if row.registered else "",
        "edit_agent_url": f"/admin/roster/agent/{row.pk}/change/" if row.registered else "",
        "edit_profile_url": f"/admin/roster/profile/{f'{key}/change/' if key else f'add/?slug={row.id}'}",
    }
    return render(request, "roster/agent.html", context)
