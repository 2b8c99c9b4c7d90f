"""The roster: everybody, one part of the fleet, page by page."""

from __future__ import annotations

from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from roster import queries, showing
from roster.models import Node

from .around import for_role


@require_safe
@for_role("viewer")
def roster(request: HttpRequest) -> HttpResponse:
    now, selection = timezone.now(), showing.selection(request.GET)
    page = queries.page(selection, now)
    asked = {key: value for key, value in request.GET.items() if key in ("presence", "mode", "lifecycle", "node", "q")}
    query = urlencode({key: value for key, value in request.GET.items() if key in (*asked, "after")})
    context = {
        "nav": "roster",
        "now": now,
        "rows": page.rows,
        "rev": page.version,
        "filters": _filters(selection),
        "next_url": "/?" + urlencode(asked | {"after": page.next}) if page.next else None,
        "first_url": "/?" + urlencode(asked) if selection.after else None,
        "live_url": "/live/roster/" + (f"?{query}" if query else ""),
        "command": "python3 manage.py demo",
    }
    return render(request, "roster/roster.html", context | showing.summary(now))


def _filters(selection: queries.Selection) -> dict:
    nodes = [("", "any", not selection.node)]
    nodes += [
        (slug, slug, slug == selection.node) for slug in Node.objects.order_by("slug").values_list("slug", flat=True)
    ]
    choices = {
        name: [("", "any" if name != "lifecycle" else "not retired", not getattr(selection, name))]
        + [(value, value, value == getattr(selection, name)) for value in values]
        for name, values in showing.CHOICES.items()
    }
    active = any((selection.presence, selection.mode, selection.lifecycle, selection.node, selection.q))
    return {"choices": choices | {"node": nodes}, "active": active, "q": selection.q, "node": selection.node,
            "presence": selection.presence, "mode": selection.mode, "lifecycle": selection.lifecycle}  # fmt: skip
