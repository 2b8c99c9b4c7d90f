"""What the benchmarks share: stores filled in bulk, one server on 127.0.0.1, the CPU of processes, tables.

Importing it puts the checkout on the path, since a benchmark is run as a script of this folder.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT))

import psutil  # noqa: E402

from tests.services import Postgres, Valkey, postgres_folder, wait_until  # noqa: E402

HUB, NAIVE = "agora_web.asgi:application", "naive.asgi:application"
PLENTY = "1000000000"  # a second: the benchmark measures the hub, not its rate limits


@dataclass
class Store:
    """One database with a data folder and a Valkey of its own, and the processes that keep it."""

    name: str
    folder: Path
    env: dict[str, str]
    pids: list[int]


@contextmanager
def store(name: str, agents: int):
    """A fresh store on ``sqlite`` or ``postgres`` with ``agents`` live agents, each with a token (see ``token``)."""
    folder = Path(tempfile.mkdtemp(prefix="agora-bench-"))
    valkey = Valkey(folder)
    cluster = Postgres() if name == "postgres" else None
    mine = ("DJANGO_SETTINGS_MODULE", "DATABASE_URL", "AGORA_SECRET_KEY")
    env = {key: value for key, value in os.environ.items() if key not in mine}
    env |= {"AGORA_DATA": str(folder), "REDIS_URL": valkey.url}
    env |= {"AGORA_RATE_HEARTBEAT": PLENTY, "AGORA_RATE_API": PLENTY}
    env["PYTHONPATH"] = os.pathsep.join(filter(None, (str(ROOT), str(HERE), env.get("PYTHONPATH"))))
    pids = [valkey.process.pid]
    if cluster:
        env["DATABASE_URL"] = cluster.url()
        pids.append(cluster.process.pid)
    try:
        (folder / "static").mkdir()
        subprocess.run([sys.executable, str(HERE / "_fill.py"), str(agents)], env=env, cwd=ROOT, check=True)
        yield Store(name, folder, env, pids)
    finally:
        valkey.stop()
        if cluster:
            cluster.stop()
        shutil.rmtree(folder, ignore_errors=True)


def stores() -> list[str]:
    """The stores that can be had here; says which cannot."""
    if postgres_folder():
        return ["sqlite", "postgres"]
    print("PostgreSQL: not on this machine, left out")
    return ["sqlite"]


def servers() -> list[str]:
    """The ASGI servers that can be imported here; says which cannot."""
    if importlib.util.find_spec("uvicorn"):
        return ["daphne", "uvicorn"]
    print("uvicorn: not installed, left out")
    return ["daphne"]


@dataclass
class Server:
    port: int
    pid: int


@contextmanager
def server(kind: str, app: str, on: Store, settings: str = "agora_web.settings"):
    """One process of the ASGI server ``kind`` that serves ``app`` on a free port of 127.0.0.1."""
    port = _free_port()
    # uvicorn would compress each message anew for each page
    options = {"daphne": ["-v", "0", "-b", "127.0.0.1", "-p", str(port)],
               "uvicorn": ["--log-level", "warning", "--no-access-log", "--ws-per-message-deflate", "false",
                           "--port", str(port)]}[kind]  # fmt: skip
    log = (on.folder / "server.log").open("w+")
    # the hub's daphne is started as `up` starts it, the yardstick's as it comes
    module = "agora_web.server" if (kind, app) == ("daphne", HUB) else kind
    process = subprocess.Popen([sys.executable, "-m", module, *options, app], cwd=ROOT, stdout=log, stderr=log,
                               env=on.env | {"DJANGO_SETTINGS_MODULE": settings})  # fmt: skip
    try:
        wait_until(lambda: _listens(process, port, log), 30, f"the start of {kind}")
        yield Server(port, process.pid)
    finally:
        process.terminate()
        process.wait(20)
        log.close()


def _listens(process: subprocess.Popen, port: int, log) -> bool:
    if process.poll() is not None:
        log.seek(0)
        raise RuntimeError(f"the server ended at its start:\n{log.read()}")
    with socket.socket() as line:
        return line.connect_ex(("127.0.0.1", port)) == 0


def _free_port() -> int:
    with socket.socket() as line:
        line.bind(("127.0.0.1", 0))
        return line.getsockname()[1]


def viewer(on: Store) -> str:
    """Signs a person in at this store, who is one of the agents then, and returns the cookie as ``name=value``."""
    done = subprocess.run([sys.executable, str(HERE / "_viewer.py")], env=on.env, check=True, stdout=subprocess.PIPE,
                          text=True)  # fmt: skip
    return done.stdout.strip()


def tree(pid: int) -> list[psutil.Process]:
    """The process ``pid`` and everything below it."""
    top = psutil.Process(pid)
    return [top, *top.children(recursive=True)]


def cpu(*pids: int) -> float:
    """Seconds of CPU, user and system, that the trees of ``pids`` have used so far, with those in them that ended."""
    return sum(_cpu(each) for pid in pids for each in tree(pid))


def _cpu(process: psutil.Process) -> float:
    try:
        return sum(process.cpu_times()[:4])  # its own, and that of its children that ended
    except psutil.NoSuchProcess:
        return 0.0  # ended a moment ago: its parent has its time now


def set_up_django() -> None:
    """Makes this process one of the hub's, on the store that its environment names."""
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "agora_web.settings")
    django.setup()


def counting(queries: list[str]):
    """A wrapper for a connection that notes each statement but those that only frame a transaction."""

    def note(execute, sql, *rest):
        if not sql.startswith(("BEGIN", "SAVEPOINT", "RELEASE")):
            queries.append(sql)
        return execute(sql, *rest)

    return note


def slug(number: int) -> str:
    return f"agent-{number:06}"


def token(number: int) -> str:
    """The raw token of the agent ``slug(number)``; only its digest is in the store."""
    return f"agora_a_benchmark-{number:06}"


def arguments(what: str, bars: str) -> argparse.Namespace:
    """The command line that every benchmark has."""
    parser = argparse.ArgumentParser(description=what)
    parser.add_argument("--check", action="store_true", help=f"exit 1 below the bar: {bars}")
    parser.add_argument("--quick", action="store_true", help="a tenth of the counts, to try the benchmark itself")
    return parser.parse_args()


def load_note() -> str:
    one, five, _ = os.getloadavg()
    return f"{os.cpu_count()} cores, load {one:.1f} (1 min) and {five:.1f} (5 min)"


def table(heads: tuple[str, ...], lines: list[tuple]) -> None:
    """Prints a table: texts to the left, numbers to the right."""
    texts = [heads, *([_text(value) for value in line] for line in lines)]
    widths = [max(len(line[at]) for line in texts) for at in range(len(heads))]
    numbers = [bool(lines) and not isinstance(lines[0][at], str) for at in range(len(heads))]
    for line in texts:
        cells = (text.rjust(width) if right else text.ljust(width)
                 for text, width, right in zip(line, widths, numbers, strict=True))  # fmt: skip
        print("  ".join(cells).rstrip())


def _text(value) -> str:
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
    return f"{value:,}" if isinstance(value, int) else str(value or "")


def verdict(failures: list[str], check: bool) -> int:
    """The exit code; says what stayed below its bar."""
    for each in failures:
        print(f"below the bar: {each}")
    return 1 if check and failures else 0
