"""Every call and address of the hub, read from what it declares, so that a new one cannot be forgotten."""

from __future__ import annotations

import re

from django.apps import apps
from django.contrib.sessions.models import Session
from django.urls import URLPattern, get_resolver

from roster import employment
from roster.models import Node

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
           "app_label": "roster", "pk": "1", "key": "none", "seq": "1", "box": "done", "name": "drain", "warning": "1", "template": "scribe",
           "node": "alder", "exchange": "1"}  # fmt: skip

BODIES = {
    "/api/heartbeats": {"heartbeats": []},
    "/api/nodes": {"slug": "cedar"},
    "/api/agents": {"id": "ivo", "node": "birch"},
    "/api/agents/{id}/workspace": {"state": "ready"},
    "/api/agents/{id}/reassign": {"node": "birch"},
    "/api/agents/{id}/disable": {"reason": "a mistake"},
    "/api/messages": {"to": "echo", "body": "hello"},
    "/api/agents/{id}/engram": {"text": "You keep the notes."},
    "/api/agents/{id}/memory": {"kind": "note", "text": "hello"},
    "/api/templates": {"id": "scribe"},
    "/api/violations": {"agent": "echo", "rule": "review", "evidence": "commit 1a2b", "evidence_key": "1a2b"},
    "/api/warnings/{warning}/withdraw": {"reason": "a mistake"},
    "/api/agents/{id}/dismiss": {"rule": "review", "reason": "again"},
    "/api/agents/{id}/inbox/ack": {"seqs": [1]},
    "/api/agents/{id}/inbox/extend": {"lease": "none"},
    "/api/agents/{id}/inbox/release": {"lease": "none"},
    "/api/nodes/{node}/prompt": {"body": "hello"},
    "/api/agents/{id}/prompt": {"body": "hello"},
    "/api/exchanges/{exchange}/answer": {"lease": "none", "body": "hello"},
    "/api/exchanges/{exchange}/fail": {"lease": "none", "error": "no model"},
    "/api/exchanges/{exchange}/extend": {"lease": "none"},
}
# Parts of an agent that for others are not there; what anybody may ask of it; and acts on an agent that take a permission, which it has not even on
# itself: the last part of the call's path.
PRIVATE = ("/inbox", "/memory", "/queue", "/record")
TO_ANYBODY = ("prompt",)
BY_PERMISSION = ("engram", *employment.VERBS, *employment.SWITCHES)


def operations() -> list[tuple[str, str]]:
    """(METHOD, path with ``{id}``) of every call in the OpenAPI schema."""
    from agora_web.api import api

    paths = api.get_openapi_schema()["paths"]
    return [(method.upper(), path) for path, found in paths.items() for method in found]


def where(
    path: str, slug: str = "echo", seq: int | str = 1, warning: int = 1, exchange: int = 1, node: str | None = None
) -> str:
    """The address of the call at ``path`` about the agent ``slug``, the ``node`` (without it the one of that name), the
    message or thread ``seq``, a ``warning``, or an ``exchange``."""
    named = {"{id}": slug, "{seq}": str(seq), "{warning}": str(warning), "{template}": "scribe", "{node}": node or slug}
    named["{exchange}"] = str(exchange)
    for name, value in named.items():
        path = path.replace(name, value)
    return path


def is_private(path: str) -> bool:
    return any(part in path for part in PRIVATE)


def to_anybody(path: str) -> bool:
    return path.rpartition("/")[2] in TO_ANYBODY


def by_permission(path: str) -> bool:
    return not is_private(path) and path.rpartition("/")[2] in BY_PERMISSION


def body_of(method: str, path: str) -> dict:
    """A body with which the call is well-formed. The lease in it is nobody's."""
    return dict(BODIES.get(path, {"status": "idle"} if method == "PUT" else {}))


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
    """Every row of every table but those of the models ``apart``: two of these differ exactly if something changed. When
    a node last called is left out: each call with its token keeps that, to about five seconds."""
    kept = [model for model in apps.get_models() if not model._meta.proxy and model not in (Session, *apart)]
    return {model._meta.db_table: sorted(map(str, _columns(model))) for model in kept}


def _columns(model):
    names = [field.attname for field in model._meta.concrete_fields if (model, field.name) != (Node, "contact_at")]
    return model._default_manager.values_list(*names)


def cells(line: str) -> list[str]:
    """The cells of a line of a Markdown table."""
    return [cell.strip() for cell in line.strip().strip("|").split("|")]
