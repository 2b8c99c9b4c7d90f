"""`manage.py test` finds what the tests need and passes pytest's verdict on."""

from pathlib import Path

import pytest

from agora_web.cli import test as command
from agora_web.cli.pythons import newer_python

QUIET = ["-p", "no:cacheprovider", "-p", "no:django", "-q", "."]


@pytest.fixture
def checkout(tmp_path, monkeypatch) -> Path:
    monkeypatch.delenv("DJANGO_SETTINGS_MODULE", raising=False)
    return tmp_path


def write_test(checkout: Path, body: str) -> None:
    (checkout / "test_one.py").write_text(f"import os\ndef test_one():\n    {body}\n")


def test_pytests_exit_code_is_passed_on(checkout):
    write_test(checkout, "pass")
    assert command.run(checkout, QUIET) == 0
    write_test(checkout, "assert False")
    assert command.run(checkout, QUIET) == 1


def test_a_run_without_any_test_is_a_failure_and_says_so(checkout, capfd):
    assert command.run(checkout, QUIET) != 0
    assert "ran no test at all" in capfd.readouterr().out


def test_strict_reaches_the_tests_only_when_asked_for(checkout, monkeypatch):
    monkeypatch.delenv("AGORA_TEST_STRICT", raising=False)
    write_test(checkout, "assert os.environ.get('AGORA_TEST_STRICT') == '1'")
    assert command.run(checkout, ["--strict", *QUIET]) == 0
    assert command.run(checkout, QUIET) == 1


def test_a_named_browser_wins_and_the_tests_hear_of_it(checkout, monkeypatch, capfd):
    monkeypatch.setenv("AGORA_CHROMIUM", "/opt/browser")
    write_test(checkout, "assert os.environ['AGORA_CHROMIUM'] == '/opt/browser'")
    assert command.run(checkout, QUIET) == 0
    assert "browser: /opt/browser" in capfd.readouterr().out


def test_what_is_missing_is_named(checkout, monkeypatch, capfd):
    monkeypatch.delenv("AGORA_CHROMIUM", raising=False)
    monkeypatch.delenv("AGORA_TEST_STRICT", raising=False)
    monkeypatch.setenv("PATH", str(checkout))
    write_test(checkout, "pass")
    command.run(checkout, QUIET)
    assert "browser: none found: its tests are skipped" in capfd.readouterr().out


def test_a_newer_python_is_one_that_starts(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path))
    assert newer_python() == ("", "")
    shim = tmp_path / "python3.12"
    shim.write_text("#!/bin/sh\nexit 127\n")
    shim.chmod(0o755)
    assert newer_python() == ("", "")
    shim.write_text("#!/bin/sh\necho 3.12\n")
    assert newer_python() == (str(shim), "3.12")
