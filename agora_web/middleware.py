"""What every page request passes through, beside Django's own middleware."""

from __future__ import annotations

import logging
from datetime import datetime, timedelta

from django.conf import settings
from django.contrib.auth import logout
from django.core.exceptions import PermissionDenied, SuspiciousOperation
from django.db import InterfaceError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse
from django.template.loader import get_template
from django.utils.deprecation import MiddlewareMixin

from roster import clock
from roster.views.typed import typed

from .pulse import pulse
from .requests import request_id as id_of

log = logging.getLogger("agora.pages")
POLICY = "; ".join(
    (
        "default-src 'self'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "object-src 'none'",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    )
)
TOUCH = timedelta(minutes=5)  # how exactly a session's last use is kept


class RequestId(MiddlewareMixin):
    """Gives each answer its id, and an unexpected error a log line under it."""

    def process_exception(self, request: HttpRequest, why: Exception) -> None:
        if not isinstance(why, Http404 | PermissionDenied | SuspiciousOperation | OperationalError | InterfaceError):
            log.error("unexpected error %s: %s %s", id_of(request), request.method, request.path, exc_info=why)

    def process_response(self, request: HttpRequest, response: HttpResponse) -> HttpResponse:
        response["X-Request-Id"] = id_of(request)
        return response


class OneEncoding(MiddlewareMixin):
    """Reads every address and form as UTF-8, which is what the pages ask for. Django would take a request's own word for
    it, and some of the encodings that it would take make text that no database stores."""

    def process_request(self, request: HttpRequest) -> None:
        request.encoding = "utf-8"

    def process_view(self, request: HttpRequest, *view) -> None:
        """What a form would change at an address with a NUL is nobody's; PostgreSQL takes none even to compare."""
        if request.method == "POST" and "\0" in request.path_info:
            raise Http404


class DatabaseAway(MiddlewareMixin):
    """A database that does not answer is 503 with a page that says so, never a sign-in page or a 404."""

    def process_exception(self, request: HttpRequest, why: Exception) -> HttpResponse | None:
        return away(request, why) if isinstance(why, OperationalError | InterfaceError) else None


def away(request: HttpRequest, why: Exception) -> HttpResponse:
    log.error("database away %s: %s %s: %s", id_of(request), request.method, request.path, type(why).__name__)
    told = {"request_id": id_of(request), "marked": pulse.marked, "now": clock.now(), "typed": typed(request)}
    answer = HttpResponse(get_template("503.html").render(told), status=503)
    answer["Retry-After"] = "2"
    return answer


def broken(request: HttpRequest) -> HttpResponse:
    """The page of an unexpected error, with the id that the log has too. It asks nothing of the database."""
    return HttpResponse(get_template("500.html").render({"request_id": id_of(request)}), status=500)


class ContentSecurityPolicy(MiddlewareMixin):
    """One strict policy for the whole site: own scripts and styles only, nothing inline, no frames."""

    def process_response(self, request: HttpRequest, response: HttpResponse) -> HttpResponse:
        response["Content-Security-Policy"] = POLICY
        return response


class NotKept(MiddlewareMixin):
    """No answer but a static file is kept anywhere: Back asks again, and shows nothing to who signed out (F096)."""

    def process_response(self, request: HttpRequest, response: HttpResponse) -> HttpResponse:
        response.headers.setdefault("Cache-Control", "no-store")
        return response


class SessionLimits(MiddlewareMixin):
    """Ends a sign-in after a week, and one that was not used for half a day (Django's own cookie age does that)."""

    def process_request(self, request: HttpRequest) -> HttpResponse | None:
        try:
            began = request.session.get("signed_in_at")
            if began is None:
                return None
            now = clock.now()
            if now - datetime.fromisoformat(began) > settings.SESSION_ABSOLUTE_AGE:
                logout(request)
                request.ended = "limit"
            elif now - datetime.fromisoformat(request.session.get("used_at", began)) > TOUCH:
                request.session["used_at"] = now.isoformat()
        except (OperationalError, InterfaceError) as why:
            return away(request, why)
        return None
