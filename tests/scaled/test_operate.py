"""What docs/operate.md tells an operator to do, done."""

from __future__ import annotations

import re
import shlex
import socket
import subprocess
import sys
from contextlib import ExitStack, contextmanager

import httpx
import psycopg
import pytest
from django.conf import settings
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from tests import hubs
from tests.make import bearer
from tests.services import postgres_folder, wait_until

pytestmark = pytest.mark.postgres
DOCS = hubs.ROOT / "docs"
PYTHON = "/opt/agora/.venv/bin/python"
PUBLIC = "https://hub.example"
THROUGH_NGINX = {"Host": "hub.example", "X-Forwarded-Proto": "https", "X-Forwarded-For": "203.0.113.7"}


def read(name: str) -> str:
    return (DOCS / "operate" / name).read_text()


def command(unit: str, port: int | str = "") -> list[str]:
    """The command line of a unit, run by the Python of the tests."""
    line = re.findall(r"^ExecStart=(.+)$", read(unit), re.MULTILINE)[-1]
    python, *words = shlex.split(line.replace("%i", str(port)))
    assert python == PYTHON
    return [sys.executable, *words]


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


@pytest.fixture(scope="module")
def operated(scaled, tmp_path_factory):
    """The environment that agora.env gives, with a database and a data folder of its own."""
    with psycopg.connect(scaled.postgres.url(), autocommit=True) as line:
        line.execute("create database operated")
    own = {"AGORA_DATA": str(tmp_path_factory.mktemp("operated")), "REDIS_URL": scaled.broker.url[:-1] + "1",
           "DATABASE_URL": scaled.postgres.url("operated")}  # fmt: skip
    told = dict(line.split("=", 1) for line in read("agora.env").splitlines() if not line.startswith("#"))
    assert told.keys() > own.keys() and told["AGORA_URL"] == PUBLIC
    return hubs.environment(hubs.ROOT, **told | own)


@contextmanager
def running(words: list[str], env: dict[str, str], log):
    process = subprocess.Popen(words, cwd=hubs.ROOT, env=env, stdout=log, stderr=log)
    try:
        yield process
    finally:
        process.terminate()
        process.wait(20)


def answers(url: str) -> bool:
    try:
        return httpx.get(f"{url}/healthz", timeout=20, headers=THROUGH_NGINX).is_success
    except httpx.TransportError:
        return False


async def test_the_commands_of_the_units_make_a_hub_that_works_behind_the_proxy(operated, tmp_path):
    """prepare, a web process of each server, the worker and beat, asked as nginx asks."""
    subprocess.run(command("agora-prepare.service"), cwd=hubs.ROOT, env=operated, check=True, capture_output=True)
    ports = free_port(), free_port()
    urls = [f"http://127.0.0.1:{port}" for port in ports]
    log = tmp_path / "hub.log"
    with ExitStack() as started, log.open("w") as output:
        for words in (command("agora-web@.service", ports[0]), command("uvicorn.conf", ports[1]),
                      command("agora-worker.service"), command("agora-beat.service")):  # fmt: skip
            started.enter_context(running(words, operated, output))
        token = manage(operated, "token", "create", "person", "admin")
        link = manage(operated, "sign-in", "admin").removeprefix(PUBLIC)
        for url in urls:
            wait_until(lambda url=url: answers(url), 30, "a web process")
            told = httpx.get(f"{url}/sign-in/", headers=THROUGH_NGINX)
            assert told.headers["strict-transport-security"] and "Secure" in told.headers["set-cookie"]
            assert httpx.get(f"{url}/api/agents", headers=bearer("agora_a_wrong", **THROUGH_NGINX)).status_code == 401
            assert httpx.get(f"{url}/api/agents", headers=bearer(token, **THROUGH_NGINX)).status_code == 200
            await _only_own_pages_get_a_websocket(url)
        wait_until(lambda: httpx.get(f"{urls[0]}/readyz", headers=THROUGH_NGINX).is_success, 30, "/readyz")
        entered = httpx.get(urls[1] + link, headers=THROUGH_NGINX)
        assert (entered.status_code, entered.headers["location"]) == (302, "/")
    assert log.read_text().count("from 203.0.113.7") == 2, "the caller's own address is the one that is limited"


def manage(env: dict[str, str], *words: str) -> str:
    done = subprocess.run([sys.executable, "manage.py", *words], cwd=hubs.ROOT, env=env, check=True,
                          capture_output=True, text=True)  # fmt: skip
    return done.stdout.strip()


async def _only_own_pages_get_a_websocket(url: str) -> None:
    """A page of the public address is let in (and told that nobody is signed in), any other is not."""
    address = url.replace("http", "ws", 1) + "/live/roster/"
    passed_on = {name: value for name, value in THROUGH_NGINX.items() if name != "Host"}
    async with connect(address, origin=PUBLIC, additional_headers=passed_on, proxy=None) as own:
        await own.wait_closed()
        assert own.close_code == 4401
    with pytest.raises(InvalidStatus) as refusal:
        await connect(address, origin="https://evil.example", additional_headers=passed_on, proxy=None)
    assert refusal.value.response.status_code == 403


def test_nginx_asks_the_processes_that_the_target_starts_and_takes_what_the_hub_takes():
    nginx = read("nginx.conf")
    started = set(re.findall(r"agora-web@(\d+)", read("agora.target")))
    for upstream in re.findall(r"upstream \w+ {(.+?)}", nginx, re.DOTALL):
        assert set(re.findall(r"server 127\.0\.0\.1:(\d+)", upstream)) == started
    largest = max(settings.BODY_LIMIT, *settings.BODY_LIMITS.values())
    assert f"client_max_body_size {largest // 1024**2}m;" in nginx and largest % 1024**2 == 0
    assert set(re.findall(r"proxy_pass http://(\w+);", nginx)) == set(re.findall(r"upstream (\w+)", nginx))


def test_every_unit_command_and_setting_that_the_page_names_exists():
    page = (DOCS / "operate.md").read_text()
    units = {path.stem.rstrip("@") for path in (DOCS / "operate").glob("*.service")}
    assert set(re.findall(r"\bagora-(?:web|worker|beat|prepare)\b", page)) == units
    documented = (DOCS / "settings.md").read_text()
    named = set(re.findall(r"^([A-Z_]+)=", read("agora.env"), re.MULTILINE))
    assert [name for name in named if f"`{name}`" not in documented] == []
    metrics = (hubs.ROOT / "roster/metrics.py").read_text()
    counted = {name.removesuffix("_total") for name in re.findall(r"`(agora_[a-z_]+)", page)} - {"agora_web"}
    assert counted and [name for name in counted if f'"{name}"' not in metrics] == []


def line_of_the_page(part: str) -> str:
    (found,) = [
        line for line in (DOCS / "operate.md").read_text().splitlines() if line.startswith("$") and part in line
    ]
    return found.removeprefix("$ ")


def test_the_backup_of_a_running_embedded_hub_is_a_whole_one_and_starts(hub, tmp_path):
    """The copy is taken beside heartbeats; the hub that starts on it knows the agent and holds nothing against it."""
    token = hub.register("backed-up", liveness_mode="async")
    (tmp_path / "backup").mkdir()
    (tmp_path / "data").symlink_to(hub.data)
    with hub.client(token) as client:
        client.post("/api/heartbeat", json={"status": "working: before the backup"})
        subprocess.run(line_of_the_page("VACUUM INTO"), shell=True, cwd=tmp_path, check=True)
        client.post("/api/heartbeat", json={"status": "working: after it"})
    data = tmp_path / "restored"
    data.mkdir()
    (tmp_path / "backup" / "hub.sqlite3").rename(data / "hub.sqlite3")
    with hubs.running(data) as restored, restored.client() as client:
        told = client.get("/api/agents/backed-up").json()
    assert (told["presence"], told["task"]) == ("live", "before the backup")


def test_a_dump_of_postgresql_restores_into_an_empty_database(pair, tmp_path):
    """Every table comes back with all its rows, and the hub's own commands run on it."""
    (tmp_path / "backup").mkdir()
    with psycopg.connect(pair.hub.postgres.url(), autocommit=True) as line:
        line.execute("create database restored")
    pair.hub.register(pair.one, "dumped")
    tools = {"PATH": f"{postgres_folder()}:/usr/bin:/bin"}
    for part, name in (("pg_dump", "postgres"), ("pg_restore", "restored")):
        env = tools | {"DATABASE_URL": pair.hub.postgres.url(name)}
        subprocess.run(line_of_the_page(part), shell=True, cwd=tmp_path, env=env, check=True)
    env = pair.hub.env | {"DATABASE_URL": pair.hub.postgres.url("restored"), "AGORA_DATA": str(tmp_path)}
    assert manage(env, "token", "create", "agent", "dumped").startswith("agora_a_")
