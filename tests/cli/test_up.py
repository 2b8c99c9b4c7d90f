"""The whole hub as a person starts it: one second start, kills, and a stop that leaves nothing."""

import os
import signal
import subprocess
import sys
import time

import httpx
import pytest

from agora_web.cli import valkey
from tests import hubs

from .conftest import is_alive, until

NAMES = {"valkey", "web", "worker", "beat"}


def refused(*words: str, data) -> str:
    command = [sys.executable, "manage.py", "up", *words, "--data", str(data)]
    done = subprocess.run(
        command, cwd=hubs.ROOT, env=hubs.environment(data), capture_output=True, text=True, timeout=30, check=False
    )
    assert done.returncode == 1
    return done.stderr


@pytest.fixture(scope="module")
def hub(tmp_path_factory):
    """One hub that the tests of this file share, killed parts and all."""
    with hubs.running(tmp_path_factory.mktemp("up")) as running:
        yield running


@pytest.fixture
def own_hub(tmp_path):
    """A hub of the test's own, to be ended, in a folder whose name holds whatever may mean something to somebody."""
    data = tmp_path / "größe #1, 50%41?x=1"
    data.mkdir()
    with hubs.running(data) as running:
        yield running


@pytest.mark.core
def test_a_started_hub_says_where_it_is_and_how_to_get_in(hub):
    assert set(hub.up["processes"]) == NAMES
    assert hub.up["pid"] == hub.process.pid
    said = hub.log.read_text()
    for part in (hub.url, hub.up["sign_in_url"], hub.up["enrolment_token"], "ready"):
        assert part in said


def test_a_second_hub_on_the_same_data_or_port_is_refused_in_one_line(hub, tmp_path):
    on_data = refused("--port", "0", data=hub.data)
    assert f"process {hub.process.pid}, {hub.url}" in on_data
    on_port = refused("--port", hub.url.rpartition(":")[2], data=tmp_path / "other")
    assert "is taken by another program" in on_port
    assert on_data.count("\n") == on_port.count("\n") == 1


@pytest.mark.parametrize("name", sorted(NAMES))
def test_a_killed_process_comes_back_while_pages_are_answered(hub, name):
    before = hub.up["processes"][name]
    os.kill(before, signal.SIGKILL)
    assert httpx.get(f"{hub.url}/healthz", timeout=20).status_code == 200
    after = until(lambda: pid if (pid := hub.up["processes"][name]) != before else None)
    assert is_alive(after)


@pytest.mark.core
def test_a_data_folder_may_have_any_name_and_holds_all_that_is_written(own_hub):
    """Database and broker are named by an address, in which some of these characters stand for something."""
    assert httpx.get(f"{own_hub.url}/readyz").json()["reasons"] == []
    assert own_hub.command("token", "create", "enrolment").startswith("agora_e_")
    assert (own_hub.data / "hub.sqlite3").stat().st_size > 0
    assert os.listdir(own_hub.data.parent) == [own_hub.data.name]


def test_sigterm_leaves_nothing_behind_within_three_seconds(own_hub):
    pids = own_hub.up["processes"].values()
    started = time.monotonic()
    assert own_hub.stop() == 0
    assert time.monotonic() - started <= 3
    assert not any(map(is_alive, pids))
    assert not (own_hub.data / "up.json").exists()
    assert not valkey.socket_path(own_hub.data).parent.exists()


def test_after_the_supervisors_sigkill_nothing_runs_and_the_next_start_works(own_hub):
    pids = own_hub.up["processes"].values()
    own_hub.process.kill()
    own_hub.process.wait()
    until(lambda: not any(map(is_alive, pids)))
    with hubs.running(own_hub.data) as again:
        until(lambda: _pid(again) == again.process.pid)
        assert httpx.get(f"{again.url}/healthz").status_code == 200


def _pid(hub) -> int | None:
    """The supervisor's pid in up.json; the killed hub's own file may lie there until the next start removes it."""
    try:
        return hub.up["pid"]
    except FileNotFoundError:
        return None
