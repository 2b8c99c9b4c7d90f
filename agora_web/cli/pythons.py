"""Finds a newer Python on this machine, for the small set of tests on the newer Django."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Iterator

# Django 6.0 begins with 3.12; what was measured ends with 3.14.
NEWER = ("3.12", "3.13", "3.14")


def newer_python() -> tuple[str, str]:
    """The path and version of the first Python of NEWER that starts and can make environments, else two empty words."""
    for version in NEWER:
        for path in _candidates(version):
            if _answers(path, version):
                return path, version
    return "", ""


def _candidates(version: str) -> Iterator[str]:
    if found := shutil.which(f"python{version}"):
        yield found
    # A version manager's commands on PATH only work for the versions that are switched on; the folders always do.
    home = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    yield from (str(path) for path in sorted(home.glob(f"versions/{version}.*/bin/python")))


def _answers(path: str, version: str) -> bool:
    question = "import sys, venv, ensurepip; print('%d.%d' % sys.version_info[:2])"
    try:
        done = subprocess.run(
            [path, "-c", question], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=20, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0 and done.stdout.strip() == version


def is_newer() -> bool:
    """Whether the running Python is itself one that gets the newer Django."""
    return sys.version_info >= (3, 12)
