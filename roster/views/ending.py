"""Two more pages that ask before they act: retiring a node, and withdrawing a warning."""

from __future__ import annotations

from datetime import datetime

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods

from roster import clock, queries, work
from roster.errors import Conflict, HubError, Invalid
from roster.models import Agent, Warning
from roster.services import conduct, nodes

from . import acts
from .acts import Field, said
from .around import permitted, person_of
from .impact import ends_with_its_node

NAMED = 10  # of those who live on a node
WITHDRAWS = ["It counts no more towards a dismissal, and the agent is told.", "That it was given stays in the record."]


@require_http_methods(["GET", "HEAD", "POST"])
@permitted("retire")
def retire(request: HttpRequest, slug: str) -> HttpResponse:
    """Retires the node ``slug`` with its agent, unless employees live there."""
    now = clock.now()
    if "\0" in slug or queries.node(slug, now) is None:
        raise Http404
    if request.method != "POST":
        return _retiring(request, slug, now)
    try:
        acts.confirmed(request, slug, "node")
        nodes.retire(person_of(request).caller, slug, said(request, "reason"), now)
    except (Invalid, Conflict) as refusal:
        return _retiring(request, slug, now, refusal)
    messages.success(request, f"The node {slug} is being retired; its agent finishes its work first.")
    return redirect(f"/nodes/{slug}/")


def _retiring(request: HttpRequest, slug: str, now: datetime, why: HubError | None = None) -> HttpResponse:
    node, agent = queries.node(slug, now), Agent.objects.get(slug=slug)
    living = [row.id for row in node.employees]
    why = why or _not_now(node)
    context = {
        "nav": "nodes",
        "label": "Retire the node",
        "whom": slug,
        "fields": [
            Field("reason", "Why", said(request, "reason")),
            Field("confirm", "Type its id to confirm", said(request, "confirm"), acts.wrong(why, "confirm"), must=True),
        ],
        "impact": ends_with_its_node(work.registered().held(agent, now)),
        "offered": [(f"/agents/{each}/reassign/", f"reassign {each}") for each in living[:NAMED]],
        "back": node.url,
        "now": now,
    }
    return acts.ask(request, context, why)


def _not_now(node: queries.NodeRow) -> Conflict | None:
    """Why ``node`` cannot be retired, if that is so."""
    if node.lifecycle != "enrolled":
        return Conflict(f"The node {node.slug} is {node.lifecycle} already.", state=node.lifecycle, allowed=[])
    if node.employees:
        said = "Who lives here has to be reassigned or retired first."
        return Conflict(said, state=node.lifecycle, allowed=[])
    return None


@require_http_methods(["GET", "HEAD", "POST"])
@permitted("dismiss")
def withdraw(request: HttpRequest, pk: int) -> HttpResponse:
    """Withdraws the warning with the primary key ``pk``."""
    warning = Warning.objects.select_related("agent", "rule").filter(pk=pk).first() if pk < 2**31 else None
    if warning is None:
        raise Http404
    page, now = f"/agents/{warning.agent.slug}/", clock.now()
    context = {
        "nav": "roster",
        "label": "Withdraw the warning of",
        "button": "Withdraw the warning",
        "whom": warning.agent.slug,
        "impact": [f"It was warned for the rule '{warning.rule.slug}'.", *WITHDRAWS],
        "back": page,
        "now": now,
    }
    why = None
    if request.method == "POST":
        try:
            conduct.withdraw(person_of(request).caller, pk, said(request, "reason"), now, settings.WARNING_AGE)
            messages.success(request, f"The warning of {warning.agent.slug} is withdrawn.")
            return redirect(page)
        except (Invalid, Conflict) as refusal:
            why = refusal
    context["fields"] = [Field("reason", "Why", said(request, "reason"), acts.wrong(why, "reason"), must=True)]
    return acts.ask(request, context, why)
