"""What the API's operations share: how they answer, and what they say to a token that ended meanwhile."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any

from django.http import HttpRequest, HttpResponse
from pydantic_core import to_json

from . import auth
from .errors import Unauthorized


def reply(body: dict, status: int = 200) -> HttpResponse:
    return HttpResponse(to_json(body), status=status, content_type="application/json")


async def known(request: HttpRequest, work: Awaitable) -> Any:
    """What comes of ``work``, which looks the token up itself; a token that it does not know is refused as everywhere."""
    try:
        return await work
    except Unauthorized as refusal:
        auth.no_longer_known(request.auth)
        raise auth.refused(request, refusal) from None
