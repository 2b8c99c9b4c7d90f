"""Makes sure that the process runs inside an environment that holds the pinned packages."""

import importlib.util
import os
import re
import sys
from pathlib import Path

from .environment import Environment, running_version

PIN = re.compile(r"^([A-Za-z0-9._-]+)==(\S+)$", re.MULTILINE)


def ensure(root: Path, requirements: str) -> None:
    """Return inside a Python that has everything in the file `requirements`; otherwise make one and start over in it.

    root: the checkout's folder. `requirements`: the pinned file's name there.
    Raises Refusal, one sentence, when the environment cannot be made.
    """
    file = root / requirements
    environment = Environment(place(root), running_version())
    if not environment.is_running() and has_everything(file):
        return
    if not environment.fits(file):
        _prepare(environment, file)
    elif environment.is_running():
        return
    _enter(environment)


def place(root: Path) -> Path:
    """The environment's folder: `.venv` in the checkout, unless AGORA_VENV names another."""
    return Path(os.environ.get("AGORA_VENV") or root / ".venv").absolute()


def has_everything(requirements: Path) -> bool:
    """Whether the running Python holds each pinned package, as in an image that was built with them."""
    if importlib.util.find_spec("django") is None:
        return False
    from importlib import metadata

    # Lines with a marker are left to the installer: the standard library cannot evaluate markers.
    pins = PIN.findall(requirements.read_text(encoding="utf-8"))
    try:
        return all(metadata.version(name) == version for name, version in pins)
    except metadata.PackageNotFoundError:
        return False


def _prepare(environment: Environment, requirements: Path) -> None:
    with environment.installing():
        if environment.fits(requirements):
            return
        # Remaking would pull the packages from under a running hub, so its environment is used as it is.
        if not environment.is_usable() and environment.is_held():
            return
        from .install import fill

        fill(environment, requirements)


def _enter(environment: Environment) -> None:
    sys.stdout.flush()
    sys.stderr.flush()
    os.execv(environment.python, [str(environment.python), *sys.argv])
