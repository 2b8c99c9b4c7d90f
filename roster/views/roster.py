"""The roster: everybody, one part of the fleet, page by page."""

from __future__ import annotations

from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from roster import clock, queries, showing
from roster.glance import glance
from roster.models import Node

from .around import for_role

ANY = {"lifecycle": "employed"}  # what no choice means, where it is not "any"


@require_safe
@for_role("viewer")
def roster(request: HttpRequest) -> HttpResponse:
    now, selection = clock.now(), showing.selection(request.GET)
    page = queries.page(selection, now)
    asked = showing.asked(selection)
    here = urlencode(asked | ({"after": selection.after} if selection.after else {}))
    context = {
        "nav": "roster",
        "now": now,
        "rows": page.rows,
        "rev": page.version,
        "filters": _filters(selection),
        "sorts": _sorts(selection, asked),
        "live_url": "/live/roster/" + (f"?{here}" if here else ""),
        "command": "python3 manage.py demo",
    }
    context |= showing.beside(selection, page)
    return render(request, "roster/roster.html", context | showing.above(glance(page.version, now), now))


def _filters(selection: queries.Selection) -> dict:
    nodes = Node.objects.order_by("slug").values_list("slug", flat=True)
    values = {name: showing.CHOICES[name] for name in ("presence", "attention", "mode", "lifecycle")} | {"node": nodes}
    choices = {
        name: _options(name, values[name], getattr(selection, name)) for name in showing.FILTERS if name in values
    }
    active = any(getattr(selection, name) for name in showing.FILTERS)
    return {
        "choices": choices,
        "active": active,
        "q": selection.q,
        "retired": selection.retired,
        "sort": selection.sort,
    }


def _options(name: str, values, chosen: str) -> list[tuple[str, str, bool]]:
    return [("", ANY.get(name, "any"), not chosen)] + [(value, value, value == chosen) for value in values]


def _sorts(selection: queries.Selection, asked: dict[str, str]) -> dict:
    """The two columns that order the table: where a click on each leads, and how it is ordered now."""
    turned = {"-seen": "seen"}.get(selection.sort, "-seen")
    rest = {name: value for name, value in asked.items() if name != "sort"}
    return {
        "agent": {"url": f"/?{urlencode(rest)}", "now": "" if selection.sort else "ascending"},
        "seen": {
            "url": f"/?{urlencode(rest | {'sort': turned})}",
            "now": {"seen": "ascending", "-seen": "descending"}.get(selection.sort, ""),
        },
    }
