"""The arrows of the design (section 7), read from the imports: which part may know which.

``states`` <- ``models`` <- reads <- ``services`` <- edges <- ``agora_web``; ``roster`` never imports ``inbox`` or
``agora_web``; ``agora_node`` imports nothing of ours; ``agora_web/cli`` and ``manage.py`` run before Django is there.

Imports inside functions count too. A new module has to be given its layer here: that is the moment to think about it.
"""

from __future__ import annotations

import ast
import sys
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
OURS = ("roster", "inbox", "agora_web", "agora_node", "tests")

# The layers of ``roster``, lowest first. A module may import lower layers and its own, never a higher one.
LAYERS = {
    # pure: standard library only, testable without Django. ``states`` and ``heard`` import nothing of ours at all
    "pure": ("states", "heard", "employment", "contact", "tools", "beats", "errors", "timeline", "stamps"),
    # tools that know no table: they could serve any other room as well
    "tools": ("clock", "groupcommit", "limits", "offload", "metrics", "body", "events"),
    "tables": ("models", "migrations"),
    # questions to the tables. ``access`` is here: services ask it whose row a caller may touch
    "reads": ("access", "directory", "rows", "selector", "queries", "explain", "work"),
    "writers": ("services",),
    # the services' numbers from the settings; the one place where a service meets a setting
    "plans": ("plans",),
    # the pages' contexts: reads, plus two facts that only a service knows, namely how often a sweep should run
    # (``plans``) and under which name the guard holds (``services.guard``). It calls no service.
    "contexts": ("drawing", "glance", "showing"),
    # what meets the outside. ``schemas`` is an edge as well: it builds the line of a batch that a service takes, and
    # no service knows it. Edges may use each other (the admin's and the pages' words are the API's).
    "edges": ("schemas", "listing", "auth", "replies", "api", "views", "health", "urls", "tasks", "admin", "live", "templatetags",
              "management", "apps"),
}  # fmt: skip
RANK = {module: rank for rank, names in enumerate(LAYERS.values()) for module in names}


def files(room: str) -> list[Path]:
    return sorted((ROOT / room).rglob("*.py"))


@cache
def imports(path: Path) -> frozenset[str]:
    """Every module that ``path`` imports, by its full dotted name; ``from x import y`` gives x and x.y."""
    package = path.relative_to(ROOT).parts[:-1]
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else ()
            base = ".".join((*above, *filter(None, [node.module])))
            found |= {base, *(f"{base}.{alias.name}" for alias in node.names)}
    return frozenset(found)


def tops(path: Path) -> set[str]:
    return {name.partition(".")[0] for name in imports(path)}


def of_roster(path: Path) -> set[str]:
    """The modules of ``roster`` that a file imports, by their first name: ``roster.services.guard`` is services."""
    known = {each.stem for each in (ROOT / "roster").iterdir()}
    parts = (name.split(".") for name in imports(path) if name.startswith("roster."))
    return {part[1] for part in parts if part[1] in known}


def module(path: Path) -> str:
    """The first name inside ``roster`` of a file there."""
    return path.relative_to(ROOT / "roster").with_suffix("").parts[0]


def outside_stdlib(path: Path) -> set[str]:
    return {top for top in tops(path) if top not in sys.stdlib_module_names and top != "__future__"}


ROSTER = [path for path in files("roster") if path != ROOT / "roster/__init__.py"]


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def test_every_module_of_the_roster_has_its_layer():
    assert {module(path) for path in ROSTER} == set(RANK)


@pytest.mark.parametrize("path", ROSTER, ids=name)
def test_a_module_imports_lower_layers_and_its_own_only(path):
    own = RANK[module(path)]
    higher = {each for each in of_roster(path) if RANK[each] > own}
    assert not higher, f"{name(path)} may not know {sorted(higher)}"


@pytest.mark.parametrize("pure", ["states", "heard"])
def test_the_rules_import_the_standard_library_and_nothing_of_ours(pure):
    path = ROOT / f"roster/{pure}.py"
    assert outside_stdlib(path) == set() and of_roster(path) == set()


@pytest.mark.parametrize("pure", LAYERS["pure"])
def test_what_is_pure_needs_no_django(pure):
    assert outside_stdlib(ROOT / f"roster/{pure}.py") <= {"roster"}


def test_tables_know_the_words_and_nothing_else():
    for path in files("roster/models"):
        assert of_roster(path) <= {"states", "employment", "models"}, name(path)


def test_reads_never_reach_a_service_except_for_two_names_of_the_contexts():
    for read in LAYERS["reads"]:
        for path in files(f"roster/{read}") or [ROOT / f"roster/{read}.py"]:
            assert "services" not in of_roster(path), name(path)
    contexts = [ROOT / f"roster/{each}.py" for each in LAYERS["contexts"]]
    services = {each for path in contexts for each in imports(path) if each.startswith("roster.services.")}
    assert services <= {"roster.services.guard"}


def test_services_never_know_an_edge_or_a_setting():
    """Their numbers come as arguments, so that a test can pass others."""
    edges = {*LAYERS["edges"], *LAYERS["contexts"], "plans"}
    for path in files("roster/services"):
        assert not of_roster(path) & edges, name(path)
        assert "django.conf" not in imports(path), name(path)
        assert "django.utils.timezone" not in imports(path), f"{name(path)}: time comes as `now`"


def test_no_rule_looks_at_the_clock():
    """States, heartbeats, reads and services take ``now`` (R226)."""
    for layer in ("pure", "reads", "writers"):
        for part in LAYERS[layer]:
            for path in files(f"roster/{part}") or [ROOT / f"roster/{part}.py"]:
                calls = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]
                asked = {ast.unparse(call.func) for call in calls}
                assert not asked & {"clock.now", "timezone.now", "datetime.now", "datetime.utcnow", "time.time"}, name(
                    path
                )


def test_the_roster_imports_neither_the_inbox_nor_the_wiring():
    for path in ROSTER:
        assert not tops(path) & {"inbox", "agora_web", "agora_node", "tests"}, name(path)


def test_the_inbox_may_know_the_roster_but_not_the_wiring():
    for path in files("inbox"):
        assert not tops(path) & {"agora_web", "agora_node", "tests"}, name(path)


def test_the_node_imports_nothing_of_ours_and_no_django():
    """It runs where nothing is installed: the standard library, and psutil where there is no /proc."""
    for path in files("agora_node"):
        assert outside_stdlib(path) <= {"agora_node", "psutil"}, name(path)


@pytest.mark.parametrize("path", [ROOT / "manage.py", *files("agora_web/cli")], ids=name)
def test_the_command_line_runs_before_anything_is_installed(path):
    """Only the standard library at import. Django is reached in one place, ``main._django``, inside the environment."""
    tree = ast.parse(path.read_text())
    early = {each for node in tree.body for each in ast.walk(node) if isinstance(node, ast.Import | ast.ImportFrom)}
    named = {alias.name.partition(".")[0] for node in early if isinstance(node, ast.Import) for alias in node.names}
    named |= {node.module.partition(".")[0] for node in early if isinstance(node, ast.ImportFrom) and not node.level}
    assert all(each in sys.stdlib_module_names or each in ("__future__", "agora_web") for each in named), named
    later = tops(path) & {"django", "roster", "inbox"}
    assert not later or (path == ROOT / "agora_web/cli/main.py" and later == {"django"})


def test_the_tests_are_imported_by_tests_only():
    for room in ("roster", "inbox", "agora_web", "agora_node"):
        for path in files(room):
            assert "tests" not in tops(path) or path == ROOT / "agora_web/cli/test.py", name(path)


def test_only_one_module_sends_into_the_channel_layer():
    """Design section 7: ``events.py`` is the only group_send."""
    senders = [name(path) for room in OURS[:3] for path in files(room) if ".group_send(" in path.read_text()]
    assert senders == ["roster/events.py"]


def test_the_reader_of_imports_reads_them_right():
    """The test's own eyes: relative, absolute, nested and aliased imports are all seen."""
    path = ROOT / "roster/services/presence.py"
    assert {"roster.beats", "roster.models", "roster.services.journal"} <= imports(path)
    assert {"access", "beats", "models", "services"} <= of_roster(path)
    assert "django" in outside_stdlib(path)
