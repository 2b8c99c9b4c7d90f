"""Hubs for tests that hurt them: one for all files that kill, lock and stop what belongs to it."""

from __future__ import annotations

import socket
import subprocess
import sys

import httpx
import pytest

from tests import hubs
from tests.services import wait_until


@pytest.fixture(scope="package")
def sturdy(tmp_path_factory):
    """A hub that is mistreated and has to be well again after each test."""
    with hubs.running(tmp_path_factory.mktemp("sturdy")) as running:
        yield running


@pytest.fixture(scope="module")
def second_web(hub):
    """The address of a second web process beside the one of ``hub``, on the same database and broker."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        descriptor = str(listener.fileno())
        command = [sys.executable, "-m", "daphne", "-v", "0", "--fd", descriptor, "agora_web.asgi:application"]
        env = hubs.environment(hub.data, REDIS_URL=f"unix://{hub.data / 'run' / 'valkey.sock'}")
        process = subprocess.Popen(command, cwd=hubs.ROOT, env=env, pass_fds=(listener.fileno(),))
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        wait_until(lambda: httpx.get(f"{url}/healthz", timeout=20).is_success, 30, "a second web process")
        yield url
        process.terminate()
        process.wait(10)
