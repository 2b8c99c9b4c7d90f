"""What somebody typed into a form that could not be taken: it is shown again, so that it is not lost with the form."""

from __future__ import annotations

from django.http import HttpRequest

TEXTS = ("to", "subject", "body", "reason", "engram")  # fields that people write into; a password is none of them


def typed(request: HttpRequest) -> list[tuple[str, str]]:
    """Names and texts of the fields of a posted form, those that are not empty."""
    return [(name, text) for name in TEXTS if (text := request.POST.get(name, "")).strip()]
