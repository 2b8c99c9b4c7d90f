"""Which pages may open a websocket: the hub's own, and those of the public address (P64)."""

from __future__ import annotations

import logging
from urllib.parse import urlsplit

from channels.security.websocket import WebsocketDenier
from django.conf import settings
from django.http.request import validate_host

log = logging.getLogger("agora.security")


def same_origin(app):
    """Lets a handshake through to ``app`` only from an own page; any other is denied before it is accepted."""

    async def guarded(scope, receive, send):
        if allowed(dict(scope["headers"]), scope.get("scheme", "ws")):
            return await app(scope, receive, send)
        log.warning("a websocket from a foreign page was refused: %s", scope["path"])
        return await WebsocketDenier()(scope, receive, send)

    return guarded


def allowed(headers: dict[bytes, bytes], scheme: str) -> bool:
    """Whether the Origin header names this hub: same scheme, host and port as the page was asked under."""
    origin = headers.get(b"origin", b"").decode("latin-1")
    host = headers.get(b"host", b"").decode("latin-1")
    if origin in settings.CSRF_TRUSTED_ORIGINS:
        return True
    own = {"ws": "http", "wss": "https"}[scheme]
    return origin == f"{own}://{host}" and validate_host(urlsplit(f"//{host}").hostname or "", settings.ALLOWED_HOSTS)
