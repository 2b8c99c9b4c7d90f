"""agora_node runs where nothing is installed: the standard library and itself, never Django, never the hub's rooms."""

import ast
import subprocess
import sys

import pytest


@pytest.fixture
def files(kit):
    return sorted((kit.ROOT / "agora_node").rglob("*.py"))


def imported(file):
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}: imports are written in full"
            yield node.module


def test_every_import_is_the_standard_library_or_its_own(files):
    own_roots = {"agora_node"} | sys.stdlib_module_names
    foreign = {(file.name, name) for file in files for name in imported(file) if name.split(".")[0] not in own_roots}
    assert foreign == set()


def test_every_module_loads_with_django_and_all_installed_packages_blocked(kit, files):
    names = [".".join(file.relative_to(kit.ROOT).with_suffix("").parts) for file in files]
    modules = [name.removesuffix(".__init__") for name in names if not name.endswith("__main__")]
    code = f"import sys, importlib; sys.modules['django'] = None; [importlib.import_module(n) for n in {modules!r}]"
    done = subprocess.run([sys.executable, "-S", "-c", code], cwd=kit.ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_starting_loads_neither_the_network_nor_the_other_commands(kit):
    code = (
        "import sys\nfrom agora_node.cli import main\ntry: main(['--version'])\nexcept SystemExit: pass\n"
        "print([n for n in ('http.client', 'ssl', 'tomllib', 'json', 'email') if n in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=kit.ROOT, capture_output=True, text=True)
    assert done.stdout.splitlines()[1] == "[]"


def test_without_an_outbox_no_other_command_waits_for_sqlite(agora, hub, kit):
    agora.log_in(hub)
    hub.answers("POST", "/api/heartbeat", (200, kit.beat_answer()))
    code = "import sys\nfrom agora_node.cli import main\nmain(['heartbeat'])\nprint('sqlite3' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], env=agora.env, capture_output=True, text=True)
    assert done.stdout.splitlines()[1:] == ["False"], done.stderr
    assert not agora.outbox.parent.exists()
