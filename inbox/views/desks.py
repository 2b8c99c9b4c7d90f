"""Whose mail a page shows to whom."""

from __future__ import annotations

from functools import wraps

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from inbox.services import looks
from inbox.showing import Desk
from roster import clock
from roster.access import Caller
from roster.models import Agent
from roster.views.around import for_role, person_of
from roster.views.refused import no_agent

OWN = "/inbox/"


def own_mail(view):
    """A page about the reader's own mail; the view is given their desk. A user who is no agent has none, and is told
    how to get one."""

    @for_role("viewer")
    @wraps(view)
    def guarded(request: HttpRequest, *args, **kwargs) -> HttpResponse:
        agent = Agent.objects.filter(user=request.user).first()
        if agent is None:
            return render(request, "inbox/no_mailbox.html", {"nav": "inbox"}, status=404)
        return view(request, Desk(agent, _caller(request, agent), OWN), *args, **kwargs)

    return guarded


def anybodys_mail(view):
    """A page about the mail of the agent that the address names: for managers, who only look, and each look is
    recorded. Their own they see as their own."""

    @for_role("manager")
    @wraps(view)
    def guarded(request: HttpRequest, slug: str, *args, **kwargs) -> HttpResponse:
        agent = Agent.objects.filter(slug=slug).first() if "\0" not in slug else None
        if agent is None:
            return no_agent(request, slug)
        if agent.user_id == request.user.pk:
            return redirect(request.get_full_path().replace(f"{OWN}of/{slug}/", OWN, 1))
        looks.audit(request.user.username, agent, clock.now())
        desk = Desk(agent, _caller(request, None), f"{OWN}of/{slug}/", own=False)
        return view(request, desk, *args, **kwargs)

    return guarded


def _caller(request: HttpRequest, agent: Agent | None) -> Caller:
    return Caller("person", request.user.username, agent.pk if agent else None, role=person_of(request).role)
