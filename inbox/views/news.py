"""What every page of a person asks now and then: how much is unread, and what came."""

from __future__ import annotations

from functools import partial

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from inbox import queries
from inbox.showing import Desk
from roster.views.asked import Asked

from .desks import own_mail


def mailbox(request: HttpRequest) -> dict:
    """For every template: the mailbox of whoever is signed in, asked for by the pages that show it only."""
    user = getattr(request, "user", None)
    signed_in = user is not None and user.is_authenticated
    return {"mailbox": partial(queries.mailbox, user) if signed_in else None}


@require_safe
@own_mail
def news(request: HttpRequest, desk: Desk) -> HttpResponse:
    """The count beside "Inbox", and what arrived behind the number ``after``."""
    after = Asked(request.GET).number("after") or 0
    return render(request, "inbox/_news.html", {"arrived": queries.arrivals(desk.agent.pk, after)})
