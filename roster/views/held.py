"""Held presence edges, and the button that lets them go."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from roster import access, clock, queries
from roster.services import guard

from .around import for_role, person_of


@require_safe
@for_role("viewer")
def held(request: HttpRequest) -> HttpResponse:
    """Held presence edges: what is held, about whom, and for managers the button that lets the next sweep record it."""
    now = clock.now()
    may = access.RANKS[person_of(request).role] >= access.RANKS["manager"]
    return render(request, "roster/held.html", {"held": guard.held(), "rows": queries.held_back(now), "may": may})


@require_POST
@for_role("manager")
def release(request: HttpRequest) -> HttpResponse:
    guard.release(by=request.user.username, now=clock.now())
    return redirect("/")
