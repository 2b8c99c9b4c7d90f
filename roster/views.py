"""The pages. A view reads the address, asks for a context, renders; a POST asks one service and redirects."""

from __future__ import annotations

import logging
from urllib.parse import urlencode

from django.conf import settings
from django.contrib.auth import login, logout
from django.contrib.auth.decorators import login_required
from django.contrib.auth.forms import AuthenticationForm
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from . import access, limits, queries, showing
from .errors import TooMany
from .models import Node
from .services import guard, people

log = logging.getLogger("agora.security")
tries = limits.Buckets(settings.SIGN_IN_TRIES / settings.SIGN_IN_PAUSE.total_seconds(), settings.SIGN_IN_TRIES)


class Person:
    """Who looks at the page, for the templates."""

    def __init__(self, user):
        self.username = user.username
        self.role = access.role_of(user)


def around(request: HttpRequest) -> dict:
    """What every page has around its own content."""
    user = getattr(request, "user", None)
    if user is None or not user.is_authenticated:
        return {"person": None, "now": timezone.now(), "notices": [], "nav": ""}
    now = timezone.now()
    return {"person": Person(user), "now": now, "notices": showing.notices(now), "nav": ""}


def for_role(least: str):
    """A page for people who hold at least the role ``least``."""

    def decorate(view):
        @login_required
        def guarded(request, *args, **kwargs):
            if access.RANKS.get(access.role_of(request.user), 0) < access.RANKS[least]:
                log.warning("refused: %s %s to %s", request.method, request.path, request.user)
                raise PermissionDenied(f"This needs the role {least}. An admin can give it to you.")
            return view(request, *args, **kwargs)

        return guarded

    return decorate


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


@require_safe
@for_role("viewer")
def agent(request: HttpRequest, slug: str) -> HttpResponse:
    now = timezone.now()
    row = queries.one(slug, now)
    if row is None:
        raise Http404(f"No agent has the id '{slug[:80]}'.")
    registered = row.dom_id.startswith("agent-")
    profile_key = queries.profile_key(row.id)
    context = showing.agent(row, now) | {
        "live_url": f"/live/agents/{row.pk}/" if registered else "",
        "edit_agent_url": f"/admin/roster/agent/{row.pk}/change/" if registered else "",
        "edit_profile_url": f"/admin/roster/profile/{f'{profile_key}/change/' if profile_key else f'add/?slug={row.id}'}",
    }
    return render(request, "roster/agent.html", context)


@require_safe
@for_role("viewer")
def held(request: HttpRequest) -> HttpResponse:
    """Held presence edges: what is held, about whom, and for managers the button that lets the next sweep record it."""
    now = timezone.now()
    may = access.RANKS[access.role_of(request.user)] >= access.RANKS["manager"]
    return render(request, "roster/held.html", {"held": guard.held(), "rows": queries.held_back(now), "may": may})


@require_POST
@for_role("manager")
def release(request: HttpRequest) -> HttpResponse:
    guard.release(by=request.user.username, now=timezone.now())
    return redirect("/")


# ---- signing in and out ---------------------------------------------------------------------------------------------


@require_http_methods(["GET", "POST"])
def sign_in(request: HttpRequest) -> HttpResponse:
    """Name and password. Failures are counted for each name and address together, so that nobody locks others out."""
    target = _next(request)
    if request.method == "GET":
        if request.user.is_authenticated:
            return redirect(target)
        return render(request, "registration/sign_in.html", {"form": AuthenticationForm(request), "next": target})
    form = AuthenticationForm(request, data=request.POST)
    # as the look-up will read it: spaces around a name or wide letters in it must not open a bucket of their own
    name = form.fields["username"].to_python(request.POST.get("username", ""))[:150].lower()
    who = f"{name}|{request.META.get('REMOTE_ADDR', '')}"
    try:
        tries.take(who)
    except TooMany as why:
        answer = render(request, "registration/sign_in.html", {"form": form, "throttled": True}, status=429)
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
        raise PermissionDenied("The admin is for people with the role admin.")
    return redirect(f"/sign-in/?{request.GET.urlencode()}")


@require_safe
def sign_in_link(request: HttpRequest, secret: str) -> HttpResponse:
    """A one-time link from the hub's own terminal. It is the credential itself, so opening it signs in."""
    user = people.use_link(secret, timezone.now())
    if user is None:
        log.warning("sign-in link refused, from %s", request.META.get("REMOTE_ADDR", ""))
        context = {"form": AuthenticationForm(request), "error": "This sign-in link was used, is too old, or is wrong."}
        return render(request, "registration/sign_in.html", context, status=410)
    _let_in(request, user)
    return redirect("/")


def _let_in(request: HttpRequest, user) -> None:
    login(request, user, backend="django.contrib.auth.backends.ModelBackend")
    request.session["signed_in_at"] = timezone.now().isoformat()
    people.signed_in(user, timezone.now())


@require_POST
def sign_out(request: HttpRequest) -> HttpResponse:
    logout(request)
    return redirect("/sign-in/")


def _next(request: HttpRequest) -> str:
    target = request.POST.get("next") or request.GET.get("next") or "/"
    own = url_has_allowed_host_and_scheme(target, allowed_hosts={request.get_host()}, require_https=request.is_secure())
    return target if own and target.startswith("/") else "/"


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    return render(request, "403_csrf.html", {"reason": "The form was too old or came from another site."}, status=403)
