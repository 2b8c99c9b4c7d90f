"""The id that ties an answer to its log lines."""

from __future__ import annotations

import uuid

from django.http import HttpRequest


def request_id(request: HttpRequest) -> str:
    """The request's id, made by the hub at first need; a client's own is never taken over."""
    if not hasattr(request, "hub_request_id"):
        request.hub_request_id = uuid.uuid4().hex
    return request.hub_request_id
