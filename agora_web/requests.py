"""The id that ties an answer to its log lines."""

from __future__ import annotations

import random

from django.http import HttpRequest


def request_id(request: HttpRequest) -> str:
    """The request's id, made by the hub at first need; a client's own is never taken over."""
    if not hasattr(request, "hub_request_id"):
        # a name, no secret: asking the system for random bytes hands the interpreter to another thread each time
        request.hub_request_id = f"{random.getrandbits(128):032x}"
    return request.hub_request_id
