"""The page of one verb on one agent: what it brings about and what it asks, then doing it."""

from __future__ import annotations

from datetime import datetime

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods

from roster import access, clock, employment, work
from roster.errors import Conflict, HubError, Invalid, NotFound
from roster.models import Agent, Event, Node
from roster.queries import employment as conduct

from . import acts
from .acts import Field, said
from .around import for_role, person_of, refuse_unless
from .refused import no_agent
from .verbs import ASKED, FOR_GOOD, VERBS, offered

TOLD = (
    "hired", "workspace_ready", "reassigned", "draining", "dismissed", "retired", "force_retired", "disabled", "enabled",
)  # fmt: skip


@require_http_methods(["GET", "HEAD", "POST"])
@for_role("viewer")
def verb(request: HttpRequest, slug: str, name: str) -> HttpResponse:
    """One of VERBS; posted, it is done, and where that cannot be the page says why and what is possible now."""
    if name not in VERBS:
        raise Http404
    now = clock.now()
    refuse_unless(request, VERBS[name].permission)
    if request.method != "POST":
        return _page(request, slug, name, now)
    try:
        agent = _do(request, slug, name, now)
    except (Invalid, NotFound, Conflict) as refusal:
        return _page(request, slug, name, now, refusal)
    messages.success(request, f"{agent.slug} {VERBS[name].done}.")
    return redirect(acts.back(request, _home(agent)))


def _asks(name: str) -> tuple[str, ...]:
    """The fields of the form of the verb ``name``. What cannot be undone asks for the typed id."""
    return VERBS[name].asks + (("confirm",) if name in FOR_GOOD else ())


def _do(request: HttpRequest, slug: str, name: str, now: datetime) -> Agent:
    if name in FOR_GOOD:
        acts.confirmed(request, slug, "agent")
    return VERBS[name].does(person_of(request).caller, slug, {each: said(request, each) for each in _asks(name)}, now)


def _page(request: HttpRequest, slug: str, name: str, now: datetime, why: HubError | None = None) -> HttpResponse:
    """The form of the verb; or, where it is not to be had, why not, what was done last, and what is possible now."""
    agent = Agent.objects.select_related("home_node").filter(slug=slug).first() if "\0" not in slug else None
    if agent is None:
        return no_agent(request, slug)
    if (why is None or isinstance(why, Invalid)) and name not in employment.allowed(agent):
        why = access.not_now(agent, name)
    context = {
        "nav": "nodes" if agent.kind == "node" else "roster",
        "label": VERBS[name].label,
        "whom": agent.slug,
        "fields": [_field(request, each, name, agent, why, now) for each in _asks(name)],
        "last": Event.objects.filter(agent=agent, kind__in=TOLD).order_by("-pk").first(),
        "offered": [(f"/agents/{slug}/{each}/", label) for each, label in offered(agent, person_of(request).may)],
        "impact": VERBS[name].impact(agent, work.registered().held(agent, now)),
        "back": acts.back(request, _home(agent)),
        "now": now,
    }
    return acts.ask(request, context, why)


def _field(request: HttpRequest, name: str, verb: str, agent: Agent, why: HubError | None, now: datetime) -> Field:
    choices = {"node": _other_nodes, "rule": _warned_for}
    return Field(
        name, ASKED[name], said(request, name), acts.wrong(why, name), name in (*VERBS[verb].must, "confirm"),
        choices[name](agent, now) if name in choices else None,
    )  # fmt: skip


def _home(agent: Agent) -> str:
    """The page that shows what a verb changed."""
    return f"/nodes/{agent.slug}/" if agent.kind == "node" else f"/agents/{agent.slug}/"


def open_nodes() -> list[str]:
    """The nodes that somebody can come to live on."""
    return list(Node.objects.filter(lifecycle="enrolled").order_by("slug").values_list("slug", flat=True))


def _other_nodes(agent: Agent, now: datetime) -> list[str]:
    return [slug for slug in open_nodes() if slug != agent.home_slug]


def _warned_for(agent: Agent, now: datetime) -> list[str]:
    """The rules of the warnings of ``agent`` that still count."""
    counting = conduct.counting(now, settings.WARNING_AGE).filter(agent=agent)
    return sorted(set(counting.values_list("rule__slug", flat=True)))
