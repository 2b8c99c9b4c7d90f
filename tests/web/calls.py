"""Every call and address of the hub, read from what it declares, so that a new one cannot be forgotten."""

from __future__ import annotations

import re

from django.apps import apps
from django.contrib.sessions.models import Session
from django.urls import URLPattern, get_resolver

# Who needs no token and no sign-in, by the name of the route, and why.
PUBLIC = {
    "healthz": "a load balancer asks it",
    "readyz": "a load balancer asks it",
    "metrics": "Prometheus asks it; counts only",
    "openapi-json": "describes the API, holds nothing of the fleet",
    "openapi-view": "the same for people",
    "api-root": "an address with nothing behind it: 404",
    "sign-in": "the way in",
    "sign-in-link": "the secret in it is the credential",
    "sign-out": "ends a session; without one there is nothing to end",
    "admin-login": "leads to the sign-in",
    "logout": "the admin's own sign-out: a stranger is sent to the sign-in",
}
EXAMPLE = {"id": "echo", "slug": "echo", "secret": "none", "object_id": "1", "content_type_id": "1", "url": "nothing",
           "app_label": "roster", "pk": "1", "key": "none", "seq": "1", "box": "done"}  # fmt: skip

BODIES = {
    "/api/heartbeats": {"heartbeats": []},
    "/api/nodes": {"slug": "cedar"},
    "/api/messages": {"to": "echo", "body": "hello"},
    "/api/agents/{id}/inbox/ack": {"seqs": [1]},
    "/api/agents/{id}/inbox/extend": {"lease": "none"},
    "/api/agents/{id}/inbox/release": {"lease": "none"},
}


def operations() -> list[tuple[str, str]]:
    """(METHOD, path with ``{id}``) of every call in the OpenAPI schema."""
    from agora_web.api import api

    paths = api.get_openapi_schema()["paths"]
    return [(method.upper(), path) for path, found in paths.items() for method in found]


def where(path: str, slug: str = "echo", seq: int | str = 1) -> str:
    """The address of the call at ``path`` about the agent ``slug``, or about the message or thread ``seq``."""
    return path.replace("{id}", slug).replace("{seq}", str(seq))


def body_of(method: str, path: str) -> dict:
    """A body with which the call is well-formed. The lease in it is nobody's."""
    return {"status": "idle"} if method == "PUT" else dict(BODIES.get(path, {}))


def addresses() -> list[tuple[str, str]]:
    """(route name, an example path) of every route in the URLconf."""
    return list(_walk(get_resolver().url_patterns, ""))


def _walk(patterns, before: str):
    for each in patterns:
        route = before + str(each.pattern)
        if not isinstance(each, URLPattern):
            yield from _walk(each.url_patterns, route)
            continue
        path = re.sub(r"\(\?P<(\w+)>[^)]*\)+", r"<\1>", route).replace("^", "").replace("$", "")
        path = re.sub(r"<(?:\w+:)?(\w+)>", lambda found: EXAMPLE[found[1]], path)
        name = each.name or "unnamed"
        yield ("admin-login" if route == "admin/login/" else name), f"/{path}"


def stored(*apart) -> dict[str, list]:
    """Every row of every table but those of the models ``apart``: two of these differ exactly if something changed."""
    kept = [model for model in apps.get_models() if not model._meta.proxy and model not in (Session, *apart)]
    return {model._meta.db_table: sorted(map(str, model._default_manager.values_list())) for model in kept}


def cells(line: str) -> list[str]:
    """The cells of a line of a Markdown table."""
    return [cell.strip() for cell in line.strip().strip("|").split("|")]
