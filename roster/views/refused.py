"""The pages of a refusal: what was asked for, why it is not to be had, and what or who can help."""

from __future__ import annotations

from urllib.parse import urlencode

from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render

from roster import access, queries, states

from .typed import typed

# Why somebody has to sign in, by the word that the address of the sign-in carries.
ENDED = {
    "out": "You are signed out.",
    "limit": f"A sign-in lasts {settings.SESSION_ABSOLUTE_AGE.days} days at most, and yours is over.",
    "ended": (
        f"Your sign-in has ended: it was not used for {settings.SESSION_COOKIE_AGE // 3600} hours, you signed out in "
        "another window, or somebody ended it."
    ),
}


def to_sign_in(request: HttpRequest) -> HttpResponse:
    """To the sign-in, and from there back here. What was sent with a POST is not sent again: whoever wrote a text is
    shown it first."""
    asked = request.get_full_path() if request.method in ("GET", "HEAD") else "/"
    told = {"next": asked} | ({"why": why_ended(request)} if why_ended(request) else {})
    if texts := typed(request):
        context = {"typed": texts, "why": ENDED.get(why_ended(request), ""), "sign_in": settings.LOGIN_URL}
        return render(request, "401.html", context, status=401)
    return HttpResponseRedirect(f"{settings.LOGIN_URL}?{urlencode(told, safe='/')}")


def why_ended(request: HttpRequest) -> str:
    """The word in ``ENDED`` for a sign-in that ended by itself; "" for somebody who brings none."""
    return getattr(request, "ended", "ended" if settings.SESSION_COOKIE_NAME in request.COOKIES else "")


def beyond(role: str | None, what: str, least: str) -> PermissionDenied:
    """The refusal of ``what`` to somebody who holds ``role``, where ``least`` is needed."""
    return PermissionDenied(f"{what} needs the role {least}; {f'yours is {role}' if role else 'you have none'}.")


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    """The page for somebody whose role does not reach: why, and who could give another one. A text that
    was written before the role was taken away is shown again."""
    context = {"why": str(exception), "admins": access.admins(), "typed": typed(request)}
    return render(request, "403.html", context, status=403)


def no_agent(request: HttpRequest, slug: str) -> HttpResponse:
    """The page of an id that nobody has: whether anybody could, and who has one that is nearly it."""
    context = {
        "slug": slug[:200],
        "rule": "" if states.SLUG.fullmatch(slug) else states.SLUG_RULE,
        "near": queries.near(slug),
        "search": "/?" + urlencode({"q": slug[:200]}),
    }
    return render(request, "roster/no_agent.html", context, status=404)
