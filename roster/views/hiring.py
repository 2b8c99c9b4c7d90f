"""Hiring an employee: the form, and the page that shows its token once."""

from __future__ import annotations

import re
import secrets
from datetime import datetime

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from roster import clock, employment, plans, states
from roster.admin import shown_once
from roster.errors import Conflict, HubError, Invalid, NotFound
from roster.models import Agent, Event
from roster.services import hiring
from roster.services.hiring import Wanted

from . import acts
from .acts import Field, said
from .around import permitted, person_of
from .asked import Asked
from .employment import open_nodes

KEY = re.compile(r"[\w-]{16,64}", re.ASCII)
CAP = re.compile(r"[0-9]{1,9}")
ASKED = {
    "id": "Id",
    "node": "Node",
    "display_name": "Name",
    "max_sessions": "Sessions at once",
    "engram": "Engram",
}
MUST = ("id", "node", "max_sessions")


@require_http_methods(["GET", "HEAD", "POST"])
@permitted("hire")
def hire(request: HttpRequest) -> HttpResponse:
    """The form; posted, the employee is hired, and the page that follows shows its token once. However often one form
    is sent, it hires one agent and leads to that."""
    now = clock.now()
    if request.method != "POST":
        asked = Asked(request.GET)
        return _page(request, {"id": asked.text("id"), "node": asked.text("node"), "max_sessions": "1"}, now)
    typed, key = {name: said(request, name) for name in ASKED}, _key(request)
    try:
        agent, raw = hiring.hire(person_of(request).caller, _wanted(typed), plans.TOOLS, now, form=key)
    except (Invalid, NotFound, Conflict) as refusal:
        if was_hired(typed["id"], key):
            return redirect(f"/agents/{typed['id']}/")
        return _page(request, typed, now, refusal)
    return shown_once.redirect(request, "hired", [agent.slug, raw])


@require_safe
@permitted("hire")
def hired(request: HttpRequest, key: str) -> HttpResponse:
    """The token of the new employee, once."""
    slug, raw = (*shown_once.take(request, key), "", "")[:2]
    return render(request, "roster/hired.html", {"nav": "roster", "slug": slug, "raw": raw})


def was_hired(slug: str, key: str) -> bool:
    """Whether the form with ``key`` has hired the agent ``slug`` before."""
    return Event.objects.filter(kind="hired", agent__slug=slug, after__form=key).exists()


def _key(request: HttpRequest) -> str:
    given = request.POST.get("key", "")
    return given if KEY.fullmatch(given) else secrets.token_urlsafe(16)


def _wanted(typed: dict[str, str]) -> Wanted:
    cap, least, most = typed["max_sessions"], employment.FEWEST_SESSIONS, employment.MOST_SESSIONS
    if not (CAP.fullmatch(cap) and least <= int(cap) <= most):
        raise Invalid("max_sessions", f"is a number from {least} to {most}")
    if len(typed["display_name"]) > Agent._meta.get_field("display_name").max_length:
        raise Invalid("display_name", "is too long")
    return Wanted(typed["id"], typed["node"], typed["display_name"], int(cap), engram=typed["engram"])


def _page(request: HttpRequest, typed: dict[str, str], now: datetime, why: HubError | None = None) -> HttpResponse:
    nodes, slug = open_nodes(), typed["id"]
    context = {
        "nav": "roster",
        "fields": [
            Field(name, label, typed.get(name, ""), _wrong(why, name), name in MUST, nodes if name == "node" else None)
            for name, label in ASKED.items()
        ],
        "nodes": nodes,
        "key": _key(request),
        "rule": states.SLUG_RULE,
        "taken": slug if isinstance(why, Conflict) and why.code == "taken" else None,
        "now": now,
    }
    return render(request, "roster/hire.html", context, status=why.status if why else 200)


def _wrong(why: HubError | None, name: str) -> str:
    """What is wrong with the field ``name``. An engram is called text by whoever keeps it; what is no field's fault is
    about the node."""
    if isinstance(why, Invalid):
        return acts.wrong(why, {"engram": "text"}.get(name, name))
    return why.message if why and name == ("id" if why.code == "taken" else "node") else ""
