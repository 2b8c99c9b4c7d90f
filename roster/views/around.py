"""What every page has around its own content, and whom it is for."""

from __future__ import annotations

import logging
from functools import cached_property, partial, wraps

from django.http import HttpRequest

from roster import access, clock, glance

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
