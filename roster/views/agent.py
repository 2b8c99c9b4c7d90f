"""One agent's page."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from roster import queries, showing

from .around import for_role


@require_safe
@for_role("viewer")
def agent(request: HttpRequest, slug: str) -> HttpResponse:
    now = timezone.now()
    row = queries.one(slug, now)
    if row is None:
        raise Http404(f"No agent has the id '{slug[:80]}'.")
    registered = row.dom_id.startswith("agent-")
    profile_key = queries.profile_key(row.id)
    context = showing.agent(row, now) | {
        "live_url": f"/live/agents/{row.pk}/" if registered else "",
        "edit_agent_url": f"/admin/roster/agent/{row.pk}/change/" if registered else "",
        "edit_profile_url": f"/admin/roster/profile/{f'{profile_key}/change/' if profile_key else f'add/?slug={row.id}'}",
    }
    return render(request, "roster/agent.html", context)
