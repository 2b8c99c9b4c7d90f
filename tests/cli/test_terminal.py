"""The commands beside a running hub: other programs read what they print, so it is one line and nothing else."""

from __future__ import annotations

import subprocess
import sys

import httpx
import pytest

from tests import hubs


def command(data, *words: str) -> subprocess.CompletedProcess:
    line = [sys.executable, "manage.py", *words]
    return subprocess.run(line, cwd=hubs.ROOT, env=hubs.environment(data), capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def owners(hub):
    """An agent and a node, for tokens of their own."""
    hub.register("terminal-agent")
    with hub.client(hub.command("token", "create", "person", "admin")) as admin:
        assert admin.post("/api/nodes", json={"slug": "terminal-node"}).status_code == 201
    return hub


NAMES = {"enrolment": (), "agent": ("terminal-agent",), "node": ("terminal-node",), "person": ("admin",)}


@pytest.mark.parametrize("kind", NAMES)
def test_a_token_is_printed_on_one_line_with_nothing_else_while_the_hub_runs_and_works_at_once(owners, kind):
    said = command(owners.data, "token", "create", kind, *NAMES[kind])
    assert (said.returncode, said.stderr, said.stdout.count("\n")) == (0, "", 1)
    with owners.client(said.stdout.rstrip("\n")) as client:
        assert client.get("/api/whoami").json()["kind"] == kind


@pytest.mark.parametrize("kind", ["agent", "node", "person"])
def test_a_token_for_nobody_is_refused_and_makes_nobody(owners, kind):
    said = command(owners.data, "token", "create", kind, "terminal-nobody")
    assert (said.returncode, said.stdout) == (1, "")
    assert f"There is no {kind} 'terminal-nobody'" in said.stderr
    with owners.client() as client:
        assert client.get("/api/agents/terminal-nobody").status_code == 404


@pytest.mark.parametrize("words", [("token", "create", "enrolment"), ("sign-in", "admin")], ids=" ".join)
def test_on_a_folder_where_no_hub_was_ever_started_one_sentence_says_so(tmp_path, words):
    said = command(tmp_path, *words)
    assert (said.returncode, said.stdout, said.stderr.count("\n")) == (1, "", 1)
    assert f"Was a hub ever started on {tmp_path}?" in said.stderr


def test_two_hubs_never_meet(owners, tmp_path):
    """Another data folder on the same machine: neither agents nor tokens nor sign-ins of one are known to the other."""
    with hubs.running(tmp_path) as other:
        for here, there in ((owners, other), (other, owners)):
            with there.client(here.up["enrolment_token"]) as stranger:
                assert stranger.get("/api/whoami").status_code == 401
            link = here.command("sign-in", "admin").replace(here.url, there.url)
            with there.client() as client:
                assert client.get(link).status_code == 410
        cookies = [set(httpx.get(each.command("sign-in", "admin")).cookies) for each in (owners, other)]
        assert cookies[0] and not cookies[0] & cookies[1], "a browser has one jar for all ports of a host"
        with other.client() as client:
            assert [each["id"] for each in client.get("/api/agents").json()["agents"]] == ["admin"]
        assert command(other.data, "token", "create", "agent", "terminal-agent").returncode == 1


@pytest.mark.parametrize("named", [["--data", "{}"], ["--data={}"]], ids=["two words", "one word"])
def test_a_command_takes_the_data_folder_like_up_does(owners, tmp_path, named):
    words = ["token", "create", "enrolment", *(word.format(owners.data) for word in named)]
    raw = command(tmp_path, *words).stdout.strip()
    with owners.client(raw) as client:
        assert client.get("/api/whoami").json()["kind"] == "enrolment"


def test_an_enrolment_token_registers_and_reads_nothing(owners):
    with owners.client(owners.up["enrolment_token"]) as client:
        assert client.put("/api/agents/enrolled-here", json={"status": "idle"}).status_code == 201
        for address in ("/api/agents", "/api/agents/enrolled-here", "/api/events", "/api/anomalies"):
            refused = client.get(address)
            assert (refused.status_code, refused.json()["error"]["code"]) == (403, "enrolment_only")
