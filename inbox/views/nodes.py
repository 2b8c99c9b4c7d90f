"""The pages of nodes: all of them, and one with its agent, its queue and its record."""

from __future__ import annotations

import secrets
from datetime import datetime

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from inbox import rules
from inbox.queries.nodes import queues
from inbox.queries.queue import standing
from inbox.queries.record import Conversation, Entry, conversation
from inbox.services import prompting
from roster import clock, plans
from roster import queries as roster
from roster.directory import versions
from roster.errors import Forbidden, HubError, Invalid, TooLarge
from roster.models import Agent
from roster.queries.employment import engram
from roster.queries.staff import employed
from roster.views.acts import said
from roster.views.around import for_role, person_of
from roster.views.asked import Asked, address

from .forms import KEY

PAGE = 20  # exchanges of the record
QUEUE = 20  # of those that wait


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
    asked = Asked(request.GET)
    agent = Agent.objects.select_related("home_node").get(pk=shown.agent.pk)
    context = {
        "nav": "nodes",
        "node": shown,
        "employment": employed(slug, plans.TOOLS, now, settings.WARNING_AGE),
        "standing": standing(agent, now, QUEUE),
        "engram": engram(agent),
        "command": _ask(request, slug),
        "ask": {"key": secrets.token_urlsafe(16), "body": "", "error": ""},
        "problems": asked.problems,
        "rev": version,
        "now": now,
    }
    context |= _record(agent, asked, shown.url, now) | more
    return render(request, "nodes/node.html", context, status=status)


@require_POST
@for_role("viewer")
def ask(request: HttpRequest, slug: str) -> HttpResponse:
    """Prompts the agent of the node ``slug`` as the person whose page it is; one form is one prompt, however often it
    is sent."""
    now, body, key = clock.now(), said(request, "body"), request.POST.get("key", "")
    try:
        asked = prompting.ask(_prompt(request, slug, body, key, now))
    except HubError as refusal:
        form = {"key": secrets.token_urlsafe(16), "body": body, "error": refusal.message}
        return page(request, slug, now, refusal.status, ask=form)
    messages.success(request, _told(asked))
    return redirect(f"/nodes/{slug}/#x{asked.exchange}")


def _prompt(request: HttpRequest, slug: str, body: str, key: str, now: datetime) -> prompting.Prompt:
    caller = person_of(request).caller.agent_id
    if caller is None:
        raise Forbidden("Only who has an inbox can ask: sign out and in again to get one.")
    if not body:
        raise Invalid("body", "is empty")
    if len(body.encode()) > rules.LARGEST_BODY:
        raise TooLarge(f"The prompt has {len(body.encode())} bytes, {rules.LARGEST_BODY} at most.")
    return prompting.Prompt(caller, slug, body, now, key=key if KEY.fullmatch(key) else None, of_node=True)


def _told(asked: Entry) -> str:
    """What became of a prompt, in a sentence."""
    if asked.outcome == "disabled":
        return f"{asked.target} is disabled: your prompt #{asked.exchange} was answered with that at once, and no model was called."
    return f"Your prompt is #{asked.exchange}. Its answer comes into the record."


def _record(agent: Agent, asked: Asked, url: str, now: datetime) -> dict:
    """The part of the record that the address asks for, newest first."""
    q, before = asked.text("q"), asked.number("before")
    try:
        found = conversation(agent, now, before=before, q=q, limit=PAGE)
    except Invalid as refusal:
        asked.problems.append(refusal.message)
        found = Conversation((), None)
    return {
        "record": found,
        "q": q,
        "whole": asked.number("whole"),
        "first_url": address(url, q=q) if before else "",
        "next_url": address(url, q=q, before=found.next) if found.next else "",
    }


def _enrol(request: HttpRequest) -> str:
    """The command that enrols a node, as one can paste it on the hub's own machine."""
    token = f"$(python3 manage.py token create person {person_of(request).username})"
    return (
        f'curl -X POST {request.build_absolute_uri("/api/nodes")} -H "Authorization: Bearer {token}" '
        "-H 'Content-Type: application/json' -d '{\"slug\": \"harbor\"}'"
    )


def _ask(request: HttpRequest, slug: str) -> str:
    """The command with which an agent asks."""
    return (
        f'curl -X POST "{request.build_absolute_uri(f"/api/nodes/{slug}/prompt")}?wait=60" -H "Authorization: Bearer $TOKEN" '
        "-H 'Content-Type: application/json' -d '{\"body\": \"hello\"}'"
    )
