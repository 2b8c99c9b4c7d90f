"""Makes an environment and installs the pinned packages: with uv where it can be had, else with pip."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

from .environment import INSTALL_LOCK, USE_LOCK, Environment
from .errors import Refusal
from .progress import Outcome, step

UV = "0.13.9"
NO_VENV = (
    "this Python cannot make an environment, because its `venv` or `ensurepip` module is missing: install it "
    "(on Debian and Ubuntu: `apt-get install python3-venv`) and start again."
)
NO_NETWORK = (
    "the packages could not be fetched, because no package index answered: check the network, the proxy or the "
    "index that pip is set up for, and start again."
)
OFFLINE = re.compile(
    r"No matching distribution|Failed to establish|name resolution|Network is unreachable|Connection refused"
    r"|error sending request|dns error|Max retries|timed out|Could not connect|ProxyError",
    re.IGNORECASE,
)


def fill(environment: Environment, requirements: Path, base: str = "") -> None:
    """Install the file `requirements` into the environment, making or repairing the environment first.

    base: the Python to make it with; the running one's own base when empty.
    Raises Refusal with one sentence (and, for an unknown fault, the installer's last words).
    """
    base = base or getattr(sys, "_base_executable", "") or sys.executable
    fresh = not environment.is_usable()
    environment.unstamp()
    if fresh:
        _create(environment, base)
    outcome = _install(environment, requirements, base)
    if not outcome.ok and not fresh and not OFFLINE.search(outcome.text):
        # What was there may be the half of an earlier, interrupted start: begin again from nothing.
        _create(environment, base)
        outcome = _install(environment, requirements, base)
    if not outcome.ok:
        raise Refusal(_explain(outcome))
    environment.stamp(*_covered(requirements))


def _create(environment: Environment, base: str) -> None:
    _clear(environment.folder)
    outcome = step("making a Python environment", [base, "-m", "venv", "--without-pip", str(environment.folder)])
    if not outcome.ok:
        if "No module named venv" in outcome.text:
            raise Refusal(NO_VENV)
        raise Refusal(f"the environment could not be made in {environment.folder}:\n{outcome.last_words()}")


def _clear(folder: Path) -> None:
    for entry in folder.iterdir():
        if entry.name in (INSTALL_LOCK, USE_LOCK):
            continue
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        else:
            entry.unlink()


def _install(environment: Environment, requirements: Path, base: str) -> Outcome:
    pip = _pip(environment, base)
    uv = _uv(environment, pip)
    if not pip and not uv:
        raise Refusal(NO_VENV)
    what = "installing the packages (only at the first start and after an update)"
    if uv:
        target = ["--python", str(environment.python), "--compile-bytecode", "-r", str(requirements)]
        outcome = step(what, [uv, "pip", "install", *target])
        if outcome.ok or not pip:
            return outcome
    return step(f"{what}, with pip", [*pip, "install", "--retries", "2", "-r", str(requirements)])


def _pip(environment: Environment, base: str) -> list[str]:
    """The command that reaches a pip for the environment, or an empty list."""
    own = [str(environment.python), "-m", "pip"]
    if _works([*own, "--version"]):
        return own
    if step("adding pip to it", [str(environment.python), "-m", "ensurepip", "--upgrade"]).ok:
        return own
    outside = [base, "-m", "pip", "--python", str(environment.python)]
    return outside if _works([*outside, "--version"]) else []


def _uv(environment: Environment, pip: list[str]) -> str:
    """The path of a uv, the pinned one where it can be had, or an empty string."""
    own = environment.folder / "bin" / "uv"
    if _works([str(own), "--version"], f"uv {UV}"):
        return str(own)
    if pip and step("fetching the installer (uv)", [*pip, "install", "--retries", "2", f"uv=={UV}"]).ok:
        return str(own)
    return shutil.which("uv") or ""


def _works(command: list[str], says: str = "") -> bool:
    try:
        done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    except OSError:
        return False
    return done.returncode == 0 and says in done.stdout


def _explain(outcome: Outcome) -> str:
    if OFFLINE.search(outcome.text):
        return NO_NETWORK
    return f"installing the packages failed; the installer's last words:\n{outcome.last_words()}"


def _covered(requirements: Path) -> list[Path]:
    """The files that are now installed: the tests' file holds all of the hub's own."""
    if requirements.name == "requirements-test.txt":
        return [requirements, requirements.with_name("requirements.txt")]
    return [requirements]
