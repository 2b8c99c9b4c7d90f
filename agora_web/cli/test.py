"""`manage.py test`: finds what the tests need, runs them all, then the small set on a newer Python."""

import glob
import os
import shutil
import subprocess
import sys
from pathlib import Path

from .environment import Environment
from .pythons import is_newer, newer_python

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
NO_TESTS = 5
# Three files at a time: most tests wait for a browser or for a hub of their own. Each side has its own of everything.
# tests/conftest.py says in which order.
SIDE_BY_SIDE = ("-n", "3", "--dist", "loadfile", "--no-loadscope-reorder")


def run(root: Path, argv: list[str]) -> int:
    """Run the tests and return pytest's exit code, the first one that is not 0.

    root: the checkout. argv: `--strict` (a skip for want of a browser or PostgreSQL is a failure; also
    AGORA_TEST_STRICT=1), `--soak` and anything else for pytest. The newer Python's set runs only without arguments
    for pytest.
    """
    passed_on = [word for word in argv if word != "--strict"]
    env = _environment(strict="--strict" in argv)
    code = _pytest(sys.executable, root, env, passed_on or list(SIDE_BY_SIDE))
    if code == 0 and not [word for word in passed_on if word != "--soak"]:
        code = _newer(root, env)
    return code


def find_browser() -> str:
    """The path of a Chromium: AGORA_CHROMIUM, else one on PATH, else an empty string."""
    named = os.environ.get("AGORA_CHROMIUM")
    return named or next(filter(None, map(shutil.which, BROWSERS)), "")


def find_postgres() -> str:
    """The folder that holds both initdb and postgres, or an empty string."""
    on_path = shutil.which("initdb")
    # A wrapper or a link on PATH may stand apart from the other programs.
    folders = [os.path.dirname(os.path.realpath(on_path))] if on_path else []
    folders += sorted(glob.glob("/usr/lib/postgresql/*/bin"), reverse=True)
    for folder in folders:
        if all(os.access(os.path.join(folder, program), os.X_OK) for program in ("initdb", "postgres")):
            return folder
    return ""


def _environment(strict: bool) -> dict[str, str]:
    browser, postgres = find_browser(), find_postgres()
    env = os.environ | {"AGORA_CHROMIUM": browser, "AGORA_POSTGRES_BIN": postgres}
    if strict:
        env["AGORA_TEST_STRICT"] = "1"
    strict = env.get("AGORA_TEST_STRICT") == "1"
    missing = f"none found: its tests {'fail' if strict else 'are skipped'}"
    _say(f"browser: {browser or missing}")
    _say(f"PostgreSQL: {postgres or missing}")
    return env


def _newer(root: Path, env: dict[str, str]) -> int:
    if is_newer():
        _say("the whole suite ran on the newer Django; there is no other set to run")
        return 0
    python, version = newer_python()
    if not python:
        _say("skipped: the small set on the newer Django (no Python 3.12 or newer with venv was found)")
        return 0
    _say(f"the small set on Python {version} and the newer Django")
    environment = Environment(root / f".venv-{version}", version)
    requirements = root / "requirements-test.txt"
    with environment.installing():
        if not environment.fits(requirements):
            from .install import fill

            fill(environment, requirements, python)
    return _pytest(str(environment.python), root, env, [*SIDE_BY_SIDE, "-m", "core"])


def _pytest(python: str, root: Path, env: dict[str, str], arguments: list[str]) -> int:
    code = subprocess.run([python, "-m", "pytest", *arguments], cwd=root, env=env, check=False).returncode
    if code == NO_TESTS:
        _say("pytest ran no test at all, which counts as a failure")
    return code


def _say(text: str) -> None:
    print(f"agora: {text}", flush=True)
