"""The engram of an agent: the text that its next turn begins with, beside an older one."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from roster import clock, queries
from roster.models import Agent
from roster.queries.employment import engram as kept
from roster.queries.employment import revisions

from .around import for_role
from .asked import Asked
from .refused import no_agent


@require_safe
@for_role("viewer")
def engram(request: HttpRequest, slug: str) -> HttpResponse:
    """The newest text, and beside it the ``revision`` that the address names, else the one before."""
    _, row = queries.member(slug, clock.now())
    if row is None or not row.registered:
        return no_agent(request, slug)
    if row.modality == "human":
        raise Http404
    agent, asked = Agent(pk=row.pk, slug=row.id), Asked(request.GET)
    newest, listed = kept(agent), revisions(agent)
    chosen = asked.number("revision") or newest.revision - 1
    older = kept(agent, chosen) if 0 < chosen < 2**31 else None
    context = {
        "nav": "nodes" if row.kind == "node" else "roster",
        "row": row,
        "newest": newest,
        "older": older if older and older.revision != newest.revision else None,
        "revisions": listed,
        "problems": asked.problems,
        "edit_url": f"/admin/roster/agent/{row.pk}/change/",
        "back": f"/nodes/{row.id}/" if row.kind == "node" else row.url,
    }
    return render(request, "roster/engram.html", context)
