"""Looking for words in one's own mail."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from inbox.queries import search
from inbox.showing import Desk
from roster import clock
from roster.errors import Invalid
from roster.views.asked import Asked, address

from .desks import own_mail

PAGE = 20  # hits


@require_safe
@own_mail
def found(request: HttpRequest, desk: Desk) -> HttpResponse:
    """Hits in what surrounds them, newest first; ``before`` is the number below which a later page looks on."""
    asked = Asked(request.GET)
    words, before = request.GET.get("q", "").strip(), asked.number("before")
    context = {"nav": "inbox", "q": words, "problems": asked.problems, "now": clock.now(), "desk": desk}
    if words:
        context |= _hits(desk, words, before)
    return render(request, "inbox/search.html", context)


def _hits(desk: Desk, words: str, before: int | None) -> dict:
    try:
        result = search.find(desk.agent.pk, words, before=before, limit=PAGE)
    except Invalid as why:
        return {"wrong": f"This {why.message.removeprefix('q: ')}"}
    here = "/inbox/search/"
    return {
        "hits": result.hits,
        "first_url": address(here, q=words) if before else "",
        "next_url": address(here, q=words, before=result.next) if result.next else "",
    }
