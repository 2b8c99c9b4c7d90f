"""Reading a JSON body that may be hostile: one parser for every call, with an error that says what is wrong where."""

from __future__ import annotations

import json
import math
from typing import Any

from django.http import HttpRequest

from .errors import HubError, Invalid, UnsupportedMedia

DEEPEST = 32  # levels of lists and objects


class Malformed(HubError):
    status, code = 422, "malformed_body"


def parse(request: HttpRequest) -> Any:
    """The JSON value of the request's body. Raises UnsupportedMedia, Malformed or Invalid; {} for an empty body."""
    kind = request.META.get("CONTENT_TYPE", "application/json").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise UnsupportedMedia("The body must be JSON, sent with 'Content-Type: application/json'.")
    raw = request.body
    if not raw:
        return {}
    try:
        # strict UTF-8: json.loads would let raw bytes of a surrogate half through
        value = json.loads(raw.decode("utf-8-sig"), parse_constant=_no_constant, parse_float=_finite)
    except RecursionError:
        raise Malformed(f"The body is nested more than {DEEPEST} levels deep.", field="body") from None
    except ValueError as error:  # bad JSON, bad UTF-8, numbers with thousands of digits
        raise Malformed(f"The body is not valid JSON: {_short(error)}.", field="body") from None
    _check(value, "body", 0, b"\\u" in raw)
    return value


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError(f"{text[:20]} is too large a number")
    return number


def _short(error: ValueError) -> str:
    if isinstance(error, UnicodeDecodeError):
        return "it is not UTF-8"
    return getattr(error, "msg", None) or str(error)[:100]


def _check(value: Any, where: str, depth: int, texts: bool) -> None:
    """Refuses values nested too deep, and texts that no database holds: NUL, and halves of surrogate pairs."""
    if isinstance(value, str):
        if texts:
            _check_text(value, where)
    elif isinstance(value, (dict, list)):  # noqa: UP038  a union is made anew each time
        if depth >= DEEPEST:
            raise Invalid(where[:200], f"nested more than {DEEPEST} levels deep")
        items = value.items() if isinstance(value, dict) else enumerate(value)
        looked_at = (str, dict, list) if texts else (dict, list)
        for key, item in items:
            if texts and isinstance(key, str):
                _check_text(key, where)
            if isinstance(item, looked_at):
                _check(item, _inside(where, key), depth + 1, texts)


def _inside(where: str, key: Any) -> str:
    return str(key) if where == "body" else f"{where}.{key}"


def _check_text(text: str, where: str) -> None:
    if "\x00" in text:
        raise Invalid(where, "holds a NUL character")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise Invalid(_printable(where), "holds half of a surrogate pair, which is no character") from None


def _printable(where: str) -> str:
    return where.encode("ascii", "backslashreplace").decode()
