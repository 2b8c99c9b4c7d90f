"""What the page of a node and that of an employee's record share: who waits, what was asked and answered, and asking."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from inbox import rules
from inbox.queries.queue import standing
from inbox.queries.record import Conversation, Entry, conversation
from inbox.services import prompting
from roster import clock, states
from roster.errors import Forbidden, HubError, Invalid, TooLarge
from roster.models import Agent
from roster.views.acts import said
from roster.views.around import person_of
from roster.views.asked import Asked, address

from .forms import KEY

PAGE = 20  # exchanges of the record
QUEUE = 20  # of those that wait


@dataclass(frozen=True, slots=True)
class Door:
    """Where the agent ``slug`` is asked: the address of the page that shows its record, that of the call, and why it
    takes no prompts any more, "" where it does."""

    slug: str
    url: str
    call: str
    closed: str = ""


def of_node(slug: str, lifecycle: str) -> Door:
    """Where the agent of the node ``slug``, which is ``lifecycle``, is asked."""
    closed = "" if lifecycle == "enrolled" else f"its node is {lifecycle}"
    return Door(slug, f"/nodes/{slug}/", f"/api/nodes/{slug}/prompt", closed)


def of_employee(agent: Agent) -> Door:
    """Where the employee ``agent`` is asked."""
    closed = f"it is {agent.lifecycle}" if agent.lifecycle in (states.DRAINING, states.RETIRED) else ""
    return Door(agent.slug, f"/agents/{agent.slug}/record/", f"/api/agents/{agent.slug}/prompt", closed)


def parts(request: HttpRequest, agent: Agent, door: Door, now: datetime) -> dict:
    """The queue of ``agent``, an empty form, and the part of the record that the address asks for, newest first."""
    asked = Asked(request.GET)
    return {
        "door": door,
        "standing": standing(agent, now, QUEUE),
        "command": _command(request, door),
        "ask": form(),
        "problems": asked.problems,
        **_record(agent, asked, door.url, now),
    }


def form(body: str = "", error: str = "") -> dict:
    """A form with ``body`` in it; its key makes it one prompt, however often it is sent."""
    return {"key": secrets.token_urlsafe(16), "body": body, "error": error}


def asked(
    request: HttpRequest, slug: str, url: str, page: Callable[..., HttpResponse], *, of_node: bool
) -> HttpResponse:
    """Prompts the agent ``slug`` as the person whose page it is, says what became of that and leads to it in the record at
    ``url``; or, where it was refused, shows the ``page`` again with what was typed."""
    body, now = said(request, "body"), clock.now()
    try:
        entry = prompting.ask(_prompt(request, slug, body, of_node, now))
    except HubError as refusal:
        return page(request, slug, now, refusal.status, ask=form(body, refusal.message))
    messages.success(request, _told(entry))
    return redirect(f"{url}#x{entry.exchange}")


def _prompt(request: HttpRequest, slug: str, body: str, of_node: bool, now: datetime) -> prompting.Prompt:
    caller, key = person_of(request).caller.agent_id, request.POST.get("key", "")
    if caller is None:
        raise Forbidden("Only who has an inbox can ask: sign out and in again to get one.")
    if not body:
        raise Invalid("body", "is empty")
    if len(body.encode()) > rules.LARGEST_BODY:
        raise TooLarge(f"The prompt has {len(body.encode())} bytes, {rules.LARGEST_BODY} at most.")
    return prompting.Prompt(caller, slug, body, now, key=key if KEY.fullmatch(key) else None, of_node=of_node)


def _told(entry: Entry) -> str:
    """What became of a prompt, in a sentence."""
    if entry.outcome == "disabled":
        return f"{entry.target} is disabled: your prompt #{entry.exchange} was answered with that at once, and no model was called."
    return f"Your prompt is #{entry.exchange}. Its answer comes into the record."


def _record(agent: Agent, asked: Asked, url: str, now: datetime) -> dict:
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


def _command(request: HttpRequest, door: Door) -> str:
    """The command with which an agent asks."""
    return (
        f'curl -X POST "{request.build_absolute_uri(door.call)}?wait=60" -H "Authorization: Bearer $TOKEN" '
        "-H 'Content-Type: application/json' -d '{\"body\": \"hello\"}'"
    )
