"""What every page has around its own content, and whom it is for."""

from __future__ import annotations

import logging
from functools import cached_property, partial, wraps

from django.http import HttpRequest

from roster import access, clock, glance
from roster.models import Agent

from .refused import beyond, to_sign_in

log = logging.getLogger("agora.security")


class Person:
    """Who looks at the page; the role is looked up once, and only for a page that asks."""

    def __init__(self, user):
        self.username = user.username
        self._user = user

    @cached_property
    def role(self) -> str | None:
        return access.role_of(self._user)

    @cached_property
    def caller(self) -> access.Caller:
        """The person as the services ask for them."""
        own = Agent.objects.filter(user=self._user).values_list("pk", flat=True).first()
        return access.Caller("person", self.username, own, role=self.role)

    @cached_property
    def may(self) -> frozenset[str]:
        """The permissions that the person has, by role or by a grant to them alone."""
        return access.permissions(self.caller)


def person_of(request: HttpRequest) -> Person:
    """Who makes this request; somebody is signed in."""
    if not hasattr(request, "person"):
        request.person = Person(request.user)
    return request.person


def around(request: HttpRequest) -> dict:
    """What every page has around its own content."""
    user = getattr(request, "user", None)
    if user is None or not user.is_authenticated:
        return {"person": None, "now": clock.now(), "notices": [], "nav": ""}
    now = clock.now()
    # asked for by the pages that show them only: the admin has its own
    return {"person": person_of(request), "now": now, "notices": partial(glance.notices, now), "nav": ""}


def for_role(least: str):
    """A page for people who hold at least the role ``least``."""

    def decorate(view):
        @wraps(view)
        def guarded(request, *args, **kwargs):
            if not request.user.is_authenticated:
                return to_sign_in(request)
            role = person_of(request).role
            if access.RANKS.get(role, 0) < access.RANKS[least]:
                log.warning("refused: %s %s to %s", request.method, request.path, request.user)
                raise beyond(role, "This", least)
            return view(request, *args, **kwargs)

        return guarded

    return decorate


def permitted(permission: str):
    """A page for people who have ``permission``, by their role or by a grant."""

    def decorate(view):
        @for_role("viewer")
        @wraps(view)
        def guarded(request, *args, **kwargs):
            refuse_unless(request, permission)
            return view(request, *args, **kwargs)

        return guarded

    return decorate


def refuse_unless(request: HttpRequest, permission: str) -> None:
    """Refuses a page to a person without ``permission``."""
    person = person_of(request)
    if permission not in person.may:
        log.warning("refused: %s %s to %s", request.method, request.path, request.user)
        raise beyond(person.role, "This", f"{access.PERMISSIONS[permission]} or a grant of it")
