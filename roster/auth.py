"""Who is calling the API. Every operation names one of these; a call without a valid token is 401 before anything else.

Only the header carries a token. One in the address would end up in logs, so such a call is refused (P68).
"""

from __future__ import annotations

import logging
from datetime import UTC, datetime

from django.conf import settings
from django.http import HttpRequest

from . import access, clock
from .errors import Forbidden, HubError, TooMany, Unauthorized
from .limits import Buckets
from .offload import in_database
from .services import nodes

log = logging.getLogger("agora.security")
buckets = {name: Buckets(rate, burst) for name, (rate, burst) in settings.RATES.items()}
_known: dict[str, str] = {}  # digests that were valid once, and of what kind: the write itself always looks again
_contacts: dict[str, datetime] = {}  # digests of nodes' tokens, and when this process last wrote that their node called
KNOWN = 100_000
EVER = datetime.min.replace(tzinfo=UTC)


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
        who = await in_database(access.caller, key)
    except Unauthorized as refusal:
        raise refused(request, refusal) from None
    await _in_contact(who.kind, key, request.received_at)
    return who


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
            _remember(key, (await in_database(access.caller, key)).kind)
    except Unauthorized as refusal:
        raise refused(request, refusal) from None
    await _in_contact(_known.get(key, ""), key, request.received_at)
    return key


async def _in_contact(kind: str, key: str, at: datetime) -> None:
    """Whatever a node's token is used for, its node has called; what a second call a moment later would write is left
    out without asking the database."""
    if kind != "node" or abs(at - _contacts.get(key, EVER)) < nodes.TOUCH:
        return
    _contacts[key] = at
    await in_database(nodes.contacted, key, at)


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


def _remember(key: str, kind: str) -> None:
    _known[key] = kind
    if len(_known) > KNOWN:
        del _known[next(iter(_known))]
