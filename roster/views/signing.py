"""Signing in and out, and the form that came too late."""

from __future__ import annotations

import logging

from django.conf import settings
from django.contrib.auth import login, logout
from django.contrib.auth.forms import AuthenticationForm
from django.http import HttpRequest, HttpResponse
from django.middleware.csrf import REASON_BAD_ORIGIN
from django.shortcuts import redirect, render
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from roster import access, clock, limits
from roster.errors import TooMany
from roster.services import people

from .refused import ENDED, beyond, why_ended
from .typed import typed

log = logging.getLogger("agora.security")
FOREIGN = REASON_BAD_ORIGIN.partition("%s")[0]  # how the reason begins that a form of another site is refused for
tries = limits.Buckets(settings.SIGN_IN_TRIES / settings.SIGN_IN_PAUSE.total_seconds(), settings.SIGN_IN_TRIES)


@require_http_methods(["GET", "POST"])
def sign_in(request: HttpRequest) -> HttpResponse:
    """Name and password. Failures are counted for each name and address together, so that nobody locks others out."""
    target = _next(request)
    if request.method == "GET":
        if request.user.is_authenticated:
            return redirect(target)
        why = ENDED.get(request.GET.get("why") or why_ended(request), "")
        context = {"form": AuthenticationForm(request), "next": target, "why": why}
        return render(request, "registration/sign_in.html", context)
    form = AuthenticationForm(request, data=request.POST)
    # as the look-up will read it: spaces around a name or wide letters in it must not open a bucket of their own
    name = form.fields["username"].to_python(request.POST.get("username", ""))[:150].lower()
    who = f"{name}|{request.META.get('REMOTE_ADDR', '')}"
    try:
        tries.take(who)
    except TooMany as why:
        context = {"form": form, "next": target, "wait": why.retry_after}
        answer = render(request, "registration/sign_in.html", context, status=429)
        answer["Retry-After"] = str(why.retry_after)
        return answer
    if not form.is_valid():
        # some type their password where the name belongs
        told = name if access.is_person(name) else "an unknown name"
        log.warning("sign-in failed: %s from %s", told, request.META.get("REMOTE_ADDR", ""))
        return render(request, "registration/sign_in.html", {"form": form, "next": target}, status=401)
    tries.forget(who)
    _let_in(request, form.get_user())
    return redirect(target)


@require_safe
def admin_sign_in(request: HttpRequest) -> HttpResponse:
    """Where the admin sends whom it does not let in: to the one sign-in, or, signed in already, to the reason."""
    if request.user.is_authenticated:
        raise beyond(access.role_of(request.user), "The admin", "admin")
    return redirect(f"/sign-in/?{request.GET.urlencode()}")


@require_safe
def sign_in_link(request: HttpRequest, secret: str) -> HttpResponse:
    """A one-time link from the hub's own terminal. It is the credential itself, so opening it signs in."""
    user = people.use_link(secret, clock.now())
    if user is None:
        log.warning("sign-in link refused, from %s", request.META.get("REMOTE_ADDR", ""))
        context = {"form": AuthenticationForm(request), "error": "This sign-in link was used, is too old, or is wrong."}
        return render(request, "registration/sign_in.html", context, status=410)
    _let_in(request, user)
    return redirect("/")


def _let_in(request: HttpRequest, user) -> None:
    login(request, user, backend="django.contrib.auth.backends.ModelBackend")
    request.session["signed_in_at"] = clock.now().isoformat()
    people.signed_in(user, clock.now())


@require_POST
def sign_out(request: HttpRequest) -> HttpResponse:
    logout(request)
    return redirect("/sign-in/?why=out")


def _next(request: HttpRequest) -> str:
    target = request.POST.get("next") or request.GET.get("next") or "/"
    own = url_has_allowed_host_and_scheme(target, allowed_hosts={request.get_host()}, require_https=request.is_secure())
    return target if own and target.startswith("/") else "/"


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """The page of a form that has expired. What a page of another site put into it was typed by nobody here."""
    texts = [] if reason.startswith(FOREIGN) else typed(request)
    return render(request, "403_csrf.html", {"typed": texts}, status=403)
