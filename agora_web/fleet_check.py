"""The start-up check of the lists of agents: each goes through the one selector, which reads all that a row shows.

A list that picks its own columns works until the first agent that differs in the one it forgot (R104). Read from the
source, so that the fault is there at the start and not at the first hire.
"""

import ast
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace

from django.apps import apps
from django.conf import settings
from django.contrib import admin
from django.core.checks import Error, Tags, register

from roster import rows, schemas
from roster.models import Agent

SHOWS = ("roster/api", "roster/views", "roster/live", "roster/templatetags", "roster/queries", "roster/*.py",
         "inbox/api", "inbox/views", "inbox/queries", "inbox/templatetags", "inbox/*.py")  # fmt: skip
THE_LISTS = ("roster/queries/lists.py", "roster/queries/overview.py", "inbox/access.py")
ONE = ("first", "get", "exists", "count", "none")  # what asks for one agent, or for none
MANY = (
    "all",
    "filter",
    "exclude",
    "order_by",
    "values",
    "values_list",
    "annotate",
    "iterator",
    "select_related",
    "in_bulk",
)
EMPLOYMENT = ("lifecycle", "enabled", "disabled", "kind", "modality", "home_node")  # what no list may leave out


@register(Tags.compatibility)
def lists_go_through_the_selector(app_configs, **kwargs):
    """No page, call or push lists agents but through ``roster.selector``, and none leaves out how they are employed."""
    found = [
        f"{name}:{line} lists agents by itself; roster.selector.select is the one way." for name, line in _bypasses()
    ]
    return [Error(why, id="agora.E010") for why in (*found, *_forgotten())]


def _bypasses() -> Iterator[tuple[str, int]]:
    root = Path(settings.BASE_DIR)
    lists = {f"{relation}" for relation in _relations()}
    for place in SHOWS:
        for path in sorted(root.glob(place) if "*" in place else (root / place).rglob("*.py")):
            name = path.relative_to(root).as_posix()
            if name not in THE_LISTS:
                yield from ((name, line) for line in bypasses(path.read_text(), lists))


def _relations() -> set[str]:
    """The names by which other tables lead to many agents, such as a node's ``agents``."""
    models = [model for model in apps.get_models() if model._meta.app_label in ("roster", "inbox")]
    fields = [field for model in models for field in model._meta.get_fields() if field.related_model is Agent]
    return {field.name for field in fields if field.one_to_many or field.many_to_many}


def bypasses(source: str, relations: set[str]) -> list[int]:
    """The lines of ``source`` that read many agents: from ``Agent.objects``, or from one of ``relations``."""
    if "Agent.objects" not in source and not any(f".{name}." in source for name in relations):
        return []
    tree = ast.parse(source)
    above = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    begins = [node for node in above if isinstance(node, ast.Attribute) and _is_many(node, above, relations)]
    return sorted(node.lineno for node in begins if not _ends_well(node, above))


def _is_many(node: ast.Attribute, above: dict, relations: set[str]) -> bool:
    """Whether ``node`` is the manager of all agents, or of those that another row leads to."""
    asked = above[node].attr if isinstance(above[node], ast.Attribute) else ""
    return ast.unparse(node) == "Agent.objects" or node.attr in relations and asked in MANY


def _ends_well(node: ast.AST, above: dict) -> bool:
    """Whether the chain of calls that begins at ``node`` asks for one agent, or is what the selector is given."""
    last = ""
    while isinstance(up := above.get(node), ast.Attribute | ast.Call | ast.Subscript) and node is not _argument(
        up, node
    ):
        last = up.attr if isinstance(up, ast.Attribute) else last
        node = up
    is_given = isinstance(up, ast.Call) and ast.unparse(up.func).rpartition(".")[2] == "select"
    return last in ONE or is_given or not isinstance(node, ast.Call | ast.Subscript)


def _argument(call: ast.AST, node: ast.AST) -> ast.AST | None:
    """``node`` where it is an argument of ``call``, or the index of a subscript, rather than what is called."""
    is_given = (
        isinstance(call, ast.Call) and node is not call.func or isinstance(call, ast.Subscript) and node is call.slice
    )
    return node if is_given else None


def _forgotten() -> Iterator[str]:
    """What the selector, the API's list or the admin's list leaves out."""
    empty = SimpleNamespace(
        **{name: Agent._meta.get_field(name).get_default() for name in _stored()}, home_slug=None, pk=1
    )
    try:
        row = rows.of_agent(empty, datetime(2000, 1, 1, tzinfo=UTC))
    except AttributeError as lacking:
        yield f"roster.rows.STORED lacks a column that a row shows: {lacking.name}."
        return
    yield from (f"The API's agent lacks '{name}'." for name in EMPLOYMENT if name not in schemas.agent(row))
    if "lifecycle" not in admin.site.get_model_admin(Agent).list_display:
        yield "The admin's list of agents lacks 'lifecycle'."


def _stored() -> list[str]:
    return [name for name in rows.STORED if name not in ("pk", "home_slug")]
