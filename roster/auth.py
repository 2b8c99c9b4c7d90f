"""Who is calling the API. Every operation names one of these; a call without a valid token is 401 before anything else.

Only the header carries a token. One in the address would end up in logs, so such a call is refused (P68).
"""

from __future__ import annotations

import logging

from django.conf import settings
from django.http import HttpRequest

from . import access, clock
from .errors import Forbidden, HubError, TooMany, Unauthorized
from .limits import Buckets
from .offload import in_database

log = logging.getLogger("agora.security")
buckets = {name: Buckets(rate, burst) for name, (rate, burst) in settings.RATES.items()}
_known: dict[str, None] = {}  # digests that were valid once: the write itself always looks again
KNOWN = 100_000


def token_digest(request: HttpRequest) -> str:
    """The digest of the bearer token in the header. Raises Unauthorized where there is none."""
    scheme, _, raw = request.META.get("HTTP_AUTHORIZATION", "").partition(" ")
    raw = raw.strip()
    if scheme.lower() != "bearer" or not raw or len(raw) > 200:
        raise Unauthorized()
    return access.digest(raw)


async def bearer(request: HttpRequest) -> access.Caller:
    """The caller, looked up in the database at every call."""
    _note_receipt(request)
    try:
        key = token_digest(request)
        buckets["api"].take(key)
        return await in_database(access.caller, key)
    except Unauthorized as refusal:
        raise refused(request, refusal) from None


async def reader(request: HttpRequest) -> access.Caller:
    """A caller who may read the roster: everybody in the fleet, which an enrolment token is not."""
    who = await bearer(request)
    if who.kind == "enrolment":
        raise Forbidden("An enrolment token registers new ids and nothing else.", code="enrolment_only")
    return who


async def beat_token(request: HttpRequest) -> str:
    """For heartbeats: the digest alone."""
    return await _grouped(request, "heartbeat")


async def send_token(request: HttpRequest) -> str:
    """For sends: the digest alone."""
    return await _grouped(request, "api")


async def _grouped(request: HttpRequest, bucket: str) -> str:
    """The token's digest, for a grouped write that looks the token up again, so a revoked one never counts; the look-up
    here happens once a token, so that a bad token is refused before its body is read."""
    _note_receipt(request)
    try:
        key = token_digest(request)
        buckets[bucket].take(key)
        if key not in _known:
            await in_database(access.caller, key)
            _remember(key)
        return key
    except Unauthorized as refusal:
        raise refused(request, refusal) from None


def _note_receipt(request: HttpRequest) -> None:
    """The receive time, where the server's own way in has not noted it already."""
    if not hasattr(request, "received_at"):
        request.received_at = clock.now()


def refused(request: HttpRequest, refusal: Unauthorized) -> HubError:
    """The answer to a failed authentication: 401, or 429 for an address that keeps failing. Logged either way."""
    peer = request.META.get("REMOTE_ADDR", "")
    log.warning("authentication failed: %s %s from %s", request.method, request.path, peer)
    try:
        buckets["refused"].take(peer)
    except TooMany as too_many:
        return too_many
    return refusal


def no_longer_known(key: str) -> None:
    _known.pop(key, None)


def _remember(key: str) -> None:
    _known[key] = None
    if len(_known) > KNOWN:
        del _known[next(iter(_known))]
