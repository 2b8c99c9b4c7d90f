"""The environment is made once, remade when it must be, and trusted by its stamp alone."""

import ast
import multiprocessing
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from agora_web.cli.environment import Environment, running_version
from agora_web.cli.errors import Refusal
from agora_web.cli.install import fill

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def requirements(tmp_path) -> Path:
    file = tmp_path / "requirements.txt"
    file.write_text("one==1\n")
    return file


@pytest.fixture
def environment(tmp_path) -> Environment:
    """A folder that looks like an environment, without the seconds that a real one takes."""
    folder = tmp_path / "env"
    (folder / "bin").mkdir(parents=True)
    (folder / "bin" / "python").symlink_to(sys.executable)
    (folder / "pyvenv.cfg").write_text(f"home = /somewhere\nversion = {running_version()}.99\n")
    return Environment(folder, running_version())


@pytest.fixture
def checkout(tmp_path) -> Path:
    """The two commands without the hub, and no packages to install."""
    root = tmp_path / "checkout"
    (root / "agora_web").mkdir(parents=True)
    shutil.copy(ROOT / "manage.py", root)
    shutil.copytree(ROOT / "agora_web" / "cli", root / "agora_web" / "cli")
    (root / "agora_web" / "__init__.py").touch()
    (root / "requirements.txt").touch()
    return root


def start(checkout: Path, **more: str) -> subprocess.CompletedProcess:
    """`manage.py up --help` from another folder, by the Python that has none of our packages."""
    kept = {name: value for name, value in os.environ.items() if name not in ("AGORA_VENV", "PYTHONPATH")}
    command = [sys._base_executable, str(checkout / "manage.py"), "up", "--help"]
    return subprocess.run(command, cwd="/", env=kept | more, capture_output=True, text=True, timeout=120, check=False)


def test_a_stamp_fits_until_the_file_or_the_python_changes(environment, requirements):
    assert not environment.fits(requirements)
    environment.stamp(requirements)
    assert environment.fits(requirements)
    assert not Environment(environment.folder, "3.99").fits(requirements)
    requirements.write_text("one==2\n")
    assert not environment.fits(requirements)


def test_a_stamp_counts_for_nothing_without_a_python_that_can_be_started(environment, requirements):
    environment.stamp(requirements)
    environment.python.unlink()
    environment.python.symlink_to("/nowhere/python")
    assert not environment.fits(requirements)


def test_a_spoilt_stamp_is_no_stamp(environment, requirements):
    (environment.folder / ".agora-stamp.json").write_text('["half')
    assert not environment.fits(requirements)


def test_an_environment_that_a_hub_runs_out_of_is_known_to_be_held(environment):
    assert not environment.is_held()
    lock = environment.hold()
    assert environment.is_held()
    os.close(lock)
    assert not environment.is_held()


def _enter(folder: Path, entered) -> None:
    with Environment(folder, running_version()).installing():
        entered.set()


def test_two_starts_at_once_do_not_install_at_once(environment):
    processes = multiprocessing.get_context("spawn")
    entered = processes.Event()
    other = processes.Process(target=_enter, args=(environment.folder, entered))
    with environment.installing():
        other.start()
        assert not entered.wait(1)
    assert entered.wait(10)
    other.join()


def test_a_half_made_environment_is_made_anew_and_the_next_start_does_nothing(checkout):
    half = checkout / ".venv"
    half.mkdir()
    (half / "pyvenv.cfg").write_text("version = 3.1.0\n")
    (half / "leftover").touch()
    first = start(checkout)
    assert first.returncode == 0, first.stderr
    assert "making a Python environment: done in" in first.stderr
    assert "usage: manage.py up" in first.stdout
    assert not (half / "leftover").exists()
    second = start(checkout)
    assert (second.returncode, second.stderr) == (0, "")


def test_without_a_network_one_sentence_says_so(checkout):
    (checkout / "requirements.txt").write_text("agora-no-such-package==1\n")
    nowhere = "http://127.0.0.1:9/simple"
    done = start(
        checkout,
        PIP_CONFIG_FILE=os.devnull,
        PIP_INDEX_URL=nowhere,
        PIP_FIND_LINKS="",
        UV_DEFAULT_INDEX=nowhere,
        UV_HTTP_RETRIES="0",
        UV_NO_CONFIG="1",
    )
    assert done.returncode == 1
    assert "no package index answered" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (checkout / ".venv" / ".agora-stamp.json").exists()


def test_a_python_without_venv_is_told_which_package_to_install(tmp_path, requirements):
    bare = tmp_path / "python"
    bare.write_text("#!/bin/sh\necho 'python: No module named venv' >&2\nexit 1\n")
    bare.chmod(0o755)
    folder = tmp_path / "env"
    folder.mkdir()
    with pytest.raises(Refusal, match="apt-get install python3-venv"):
        fill(Environment(folder, running_version()), requirements, str(bare))


def test_an_old_python_can_read_manage_py_and_is_told_that_it_is_too_old():
    source = (ROOT / "manage.py").read_text()
    ast.parse(source, feature_version=(3, 4))
    path = str(ROOT / "manage.py")
    code = f"import sys, runpy; sys.version_info = (3, 10, 1); runpy.run_path({path!r}, None, '__main__')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("The Agora hub needs Python 3.11 or newer and this is Python 3.10")
    assert done.stderr.count("\n") == 1


def test_the_commands_never_import_django():
    code = "import sys; from agora_web.cli import main, up, test, install; print('django' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
