"""Carries new secrets over the redirect that follows a form, to be shown once, without storing them anywhere.

A secret is split by a random pad: the session keeps the pad, and a short-lived cookie of the one page that shows it
keeps the rest. Neither tells anything without the other. Showing takes the pad away, so that a reload shows nothing
again, and sends no form again either.
"""

from __future__ import annotations

import secrets
from base64 import urlsafe_b64decode, urlsafe_b64encode

from django.conf import settings
from django.http import HttpRequest, HttpResponseRedirect
from django.urls import reverse

SECONDS = 60  # between the form's answer and the page that follows it
COOKIE = f"{settings.SESSION_COOKIE_NAME}_once"


def redirect(request: HttpRequest, view: str, raws: list[str]) -> HttpResponseRedirect:
    """Sends the browser on to ``view``, whose argument ``key`` it chooses; ``take`` gives it ``raws`` there.

    A cookie holds about 50 tokens.
    """
    key, text = secrets.token_urlsafe(8), " ".join(raws).encode()
    pad = secrets.token_bytes(len(text))
    address = reverse(view, args=[key])
    request.session[_name(key)] = urlsafe_b64encode(pad).decode()
    response = HttpResponseRedirect(address)
    rest = urlsafe_b64encode(_combined(text, pad)).decode()
    response.set_cookie(COOKIE, rest, max_age=SECONDS, path=address, secure=settings.SESSION_COOKIE_SECURE,
                        httponly=True, samesite="Strict")  # fmt: skip
    return response


def take(request: HttpRequest, key: str) -> list[str]:
    """What was to be shown under ``key``: all of it the first time, and nothing after that."""
    pad, rest = request.session.pop(_name(key), ""), request.COOKIES.get(COOKIE, "")
    try:
        return _combined(urlsafe_b64decode(rest), urlsafe_b64decode(pad)).decode().split()
    except ValueError:
        return []  # no pad any more, or a cookie that is not its other half


def _name(key: str) -> str:
    return f"shown_once_{key}"


def _combined(one: bytes, other: bytes) -> bytes:
    return bytes(a ^ b for a, b in zip(one, other, strict=True))
