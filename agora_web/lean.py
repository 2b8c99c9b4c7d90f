"""The short way into the API: no session, no cookie, no CSRF and no thread hop, none of which a bearer token needs.

It runs the same operation through the same URL patterns as Django's own handler, and guards here what the skipped
middleware would have: the Host header, the size of the body, tokens in the address.
"""

from __future__ import annotations

import asyncio
import io
import logging
from functools import lru_cache
from http import HTTPStatus
from urllib.parse import unquote

from django.conf import settings
from django.core.exceptions import DisallowedHost, SuspiciousOperation
from django.core.handlers.asgi import ASGIRequest
from django.http import Http404, HttpResponse
from django.urls import resolve
from django.utils.http import http_date

from roster import clock
from roster.errors import HubError, Invalid, TooLarge

from .api import error, hub_error, not_found, unexpected
from .requests import request_id

log = logging.getLogger("agora.api")
HEALTH = ("/healthz", "/readyz", "/metrics")
SLASH = "\x00"  # an encoded slash while an address is resolved: no address holds a real NUL
DOCS = "/api/docs"  # a page: it needs the site's content security policy
SECRET_NAMES = ("token", "access_token", "authorization", "api_key")
_resolved = lru_cache(maxsize=1024)(resolve)  # the same few addresses come all day


def is_lean(path: str) -> bool:
    return path.startswith("/api/") and path != DOCS or path in HEALTH


async def lean(scope, receive, send) -> None:
    """Serves one API request."""
    received_at = clock.now()
    raw = await _read(receive, _limit(scope["path"]))
    if raw is None:
        return  # the client left before it had said everything
    request = ASGIRequest(scope, io.BytesIO())
    request.received_at = received_at
    request.receive = receive  # a call that waits hears from it that the client has left
    request._body = raw if isinstance(raw, bytes) else b""
    try:
        response = await _respond(request, raw)
    except Http404 as why:
        response = not_found(request, why)
    except Exception as why:  # the last resort; operations have their own handlers
        response = unexpected(request, why)
    await _send(send, response, request)


async def _respond(request, raw) -> HttpResponse:
    try:
        if isinstance(raw, HubError):
            raise raw
        request.get_host()
        if request.META["QUERY_STRING"] and any(name in request.GET for name in SECRET_NAMES):
            raise HubError("A token belongs in the Authorization header, never in the address: addresses get logged.",
                           code="token_in_address")  # fmt: skip
        if "\x00" in request.path_info or "%00" in request.META["QUERY_STRING"]:
            raise Invalid("address", "holds a NUL character")
        match = _resolved(_parted(request))
    except HubError as why:
        return hub_error(request, why)
    except DisallowedHost:
        return error(request, 400, "bad_host", "This hub does not answer under this host name.")
    except SuspiciousOperation:
        return error(request, 400, "bad_address", "The address has more parts than the hub reads.")
    request.resolver_match = match
    given = {name: value.replace(SLASH, "/") for name, value in match.kwargs.items()}
    if asyncio.iscoroutinefunction(match.func):
        response = await match.func(request, **given)
    else:
        response = await asyncio.to_thread(match.func, request, **given)
    return _shaped(request, response)


def _parted(request) -> str:
    """The path to resolve: an encoded slash belongs to the part that it stands in and divides nothing."""
    raw = request.scope.get("raw_path") or b""
    if b"%2f" not in raw.lower():
        return request.path_info
    return "/".join(unquote(part).replace("/", SLASH) for part in raw.decode("latin-1").split("/"))


def _shaped(request, response: HttpResponse) -> HttpResponse:
    """Plain refusals of the frame (405 and the like) in the one error shape."""
    kind = response.headers.get("Content-Type", "")
    if response.status_code < 400 or kind.startswith(("application/json", "text/plain; version")):
        return response
    status = HTTPStatus(response.status_code)
    shaped = error(request, status, status.name.lower(), f"{status.phrase}: {request.method} {request.path}"[:300])
    if "Allow" in response.headers:
        shaped["Allow"] = response.headers["Allow"]
    return shaped


def _limit(path: str) -> int:
    return settings.BODY_LIMITS.get(path.rpartition("/")[2], settings.BODY_LIMIT)


async def _read(receive, limit: int) -> bytes | HubError | None:
    """The whole body; a refusal when it is larger than ``limit`` bytes; None when the client left."""
    parts, size = [], 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        size += len(message.get("body", b""))
        if size <= limit:
            parts.append(message.get("body", b""))
        if not message.get("more_body"):
            break
    if size > limit:
        return TooLarge(f"The body may have {limit} bytes at most, not {size}.", field="body", limit=limit)
    return parts[0] if len(parts) == 1 else b"".join(parts)


async def _send(send, response: HttpResponse, request) -> None:
    headers = [(name.encode("ascii"), value.encode("latin-1")) for name, value in response.items()]
    if response.status_code != HTTPStatus.NOT_MODIFIED:  # its length would be read as that of what it stands for
        headers.append((b"Content-Length", str(len(response.content)).encode()))
    headers.append((b"X-Request-Id", request_id(request).encode()))
    headers.append((b"Date", http_date().encode()))
    if "Cache-Control" not in response.headers:
        headers.append((b"Cache-Control", b"no-store"))
    headers.append((b"X-Content-Type-Options", b"nosniff"))
    await send({"type": "http.response.start", "status": response.status_code, "headers": headers})
    await send({"type": "http.response.body", "body": response.content})
