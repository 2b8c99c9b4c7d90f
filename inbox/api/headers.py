"""What a call of the inbox says in its headers."""

from __future__ import annotations

import re

from django.http import HttpRequest

from roster.errors import Invalid

KEY = re.compile(r"[\x21-\x7e]{1,200}")


def named(request: HttpRequest) -> str | None:
    """The agent that a node names to speak for."""
    return request.META.get("HTTP_AGORA_AGENT")


def key(request: HttpRequest) -> str | None:
    """The key under which the same call may come again. Raises Invalid."""
    given = request.META.get("HTTP_IDEMPOTENCY_KEY")
    if given is not None and not KEY.fullmatch(given):
        raise Invalid("Idempotency-Key", "is 1 to 200 printable ASCII characters without spaces")
    return given
