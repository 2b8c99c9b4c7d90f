"""A stand-in hub that answers from a script, and the command run as its own process against it."""

import json
import os
import select
import socket
import subprocess
import sys
import threading
import time
from collections import namedtuple
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import pytest

ROOT = Path(__file__).resolve().parents[2]
DEADLINE = 20.0

Call = namedtuple("Call", "method path query headers body at left")
Script = namedtuple("Script", "status body headers", defaults=({},))
IDLE = {"value": "idle", "raw": "idle", "source": "heartbeat", "verified": False, "as_of": None}
HANGS_UP = Script(0, None)


def until(condition, what="the condition", deadline=DEADLINE):
    """Poll until `condition()` is true and return its value; fails after `deadline` seconds."""
    end = time.monotonic() + deadline
    while time.monotonic() < end:
        if found := condition():
            return found
        time.sleep(0.01)
    raise AssertionError(f"{what} did not come true within {deadline} s")


class _Handler(BaseHTTPRequestHandler):
    def _any(self):
        parts = urlsplit(self.path)
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        call = Call(
            self.command,
            parts.path,
            dict(parse_qsl(parts.query)),
            self.headers,
            json.loads(raw) if raw else None,
            time.monotonic(),
            self._left,
        )
        self.server.hub.calls.append(call)
        script = self.server.hub.next_for(self.command, parts.path)
        self._reply(Script(*script.body(call)) if callable(script.body) else script)

    do_GET = do_POST = do_PUT = _any

    def _reply(self, script):
        if script == HANGS_UP:
            return
        raw = script.body if isinstance(script.body, bytes) else json.dumps(script.body).encode()
        self.send_response_only(script.status)
        usual = {"Content-Type": "application/json", "Date": self.date_time_string()}
        for name, value in {**usual, **script.headers}.items():
            if value is not None:
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def _left(self):
        """Whether the caller has hung up."""
        heard, _, _ = select.select([self.connection], [], [], 0.02)
        return bool(heard) and not self.connection.recv(1, socket.MSG_PEEK)

    def log_message(self, *args):
        pass


class StandIn:
    """`answers(method, path, *scripts)` sets what comes next; the last one stays. `calls` holds what was asked.

    A script is a status, a body and perhaps headers; a body that can be called makes the script from the call.
    """

    def __init__(self):
        self.calls, self._scripts, self._lock = [], {}, threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        self._server.hub = self
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def answers(self, method, path, *scripts):
        with self._lock:
            self._scripts[method, path] = [Script(*script) for script in scripts]

    def next_for(self, method, path):
        with self._lock:
            left = self._scripts.get((method, path))
            if not left:
                return Script(404, refusal("not_found", "nothing here"))
            return left.pop(0) if len(left) > 1 else left[0]

    def to(self, path):
        return [call for call in self.calls if call.path == path]

    def close(self):
        self._server.shutdown()
        self._server.server_close()


class PostOffice:
    """Takes letters for a StandIn as the hub does: one for each key, numbered as they come; `letters` holds them.

    `loses` answers: that many letters are taken and the connection is dropped. `away` takes nothing.
    """

    def __init__(self, hub):
        self.letters, self.loses, self.away, self.refuses = [], 0, False, {}
        self._receipts, self._lock = {}, threading.Lock()
        hub.answers("POST", "/api/messages", (200, self._take))

    def _take(self, call):
        key, to = call.headers["Idempotency-Key"], call.body["to"]
        with self._lock:
            if self.away or str(to) in self.refuses:
                return (503, refusal("unavailable", "away")) if self.away else self.refuses[str(to)]
            if key not in self._receipts:
                self.letters.append(call.body)
                self._receipts[key] = receipt(len(self.letters), to)
            self.loses -= 1
            return HANGS_UP if self.loses >= 0 else (201, self._receipts[key])

    @property
    def bodies(self):
        return [letter["body"] for letter in self.letters]


class Desk:
    """Hands the prompts to `agent` out for a StandIn, one at a time as the hub does, and holds a claim until there is one.

    `ends` holds what was handed in, as pairs of a number and the call's body. `claims(script)` sets what a claim meets
    instead.
    """

    def __init__(self, hub, agent="echo"):
        self.hub, self.ends, self._waiting, self._asked = hub, [], [], 0
        self.path = f"/api/agents/{agent}/queue/claim"
        self.claims((200, self._claim))
        hub.answers("POST", "/api/heartbeat", (200, beat_answer()))
        hub.answers("POST", f"/api/agents/{agent}/sign-off", (200, {}))

    def claims(self, *scripts):
        self.hub.answers("POST", self.path, *scripts)

    def ask(self, *bodies, ends=None):
        """Queue prompts; what hands them in, and extends, is answered by the scripts `ends`, else as the hub does."""
        for body in bodies:
            self._asked += 1
            for verb in ("answer", "fail", "extend"):
                scripts = (ends or {}).get(verb) or [(200, self._end)]
                self.hub.answers("POST", f"/api/exchanges/{self._asked}/{verb}", *scripts)
            self._waiting.append({"exchange": self._asked, "prompt": {"body": body, "caller": "mira"}})

    def _claim(self, call):
        end = time.monotonic() + int(call.query["wait"])
        while not self._waiting and time.monotonic() < end and not call.left():
            pass
        if not self._waiting:
            return 204, b"", {"Agora-State": "open"}
        told = {"engram": "Be brief.", "tools": ["read"], "history": []}
        return 200, {**self._waiting.pop(0), **told, "lease": "the-key", "until": "2026-08-01T12:00:00Z"}

    def _end(self, call):
        if not call.path.endswith("/extend"):
            self.ends.append((int(call.path.split("/")[3]), call.body))
        return 200, {}

    def to(self, number, verb):
        return self.hub.to(f"/api/exchanges/{number}/{verb}")


def receipt(seq, to):
    note = f"queued; {to} is dormant since 2026-08-01T09:00:00Z"
    delivery = {"to": to, "addressed_as": to, "state": "waiting", "recipient_presence": "dormant", "note": note}
    return {"seq": seq, "thread": seq, "deliveries": [delivery]}


def refusal(code, message, **detail):
    return {"error": {"code": code, "message": message, "detail": detail, "request_id": "req-7"}}


def beat_answer(**changes):
    return {
        "presence": "live",
        "waiting": 0,
        "enabled": True,
        "disabled": None,
        "next_heartbeat_in": 1800,
        "server_time": "2026-08-01T12:00:00Z",
        **changes,
    }


def an_agent(name, **changes):
    return {
        "id": name,
        "kind": "employee",
        "lifecycle": "active",
        "enabled": True,
        "disabled": None,
        "presence": "live",
        "presence_since": None,
        "last_seen": None,
        "task": None,
        "home_node": None,
        "waiting": 0,
        "activity": IDLE,
        **changes,
    }


class Command:
    """Runs `python -m agora_node` in a home of its own; `start` leaves it running, `__call__` waits for its end."""

    def __init__(self, home):
        self.home, self.running = home, []
        self.env = {
            "HOME": str(home),
            "XDG_CONFIG_HOME": str(home / "config"),
            "XDG_STATE_HOME": str(home / "state"),
            "PYTHONPATH": str(ROOT),
            "PATH": os.environ["PATH"],
            "PYTHONIOENCODING": "utf-8",
        }

    @property
    def config(self):
        return self.home / "config" / "agora" / "config.toml"

    @property
    def outbox(self):
        return self.home / "state" / "agora" / "agora.db"

    def __call__(self, *args, stdin="", **env):
        return subprocess.run(
            self._line(args),
            env={**self.env, **env},
            input=stdin,
            cwd=self.home,
            capture_output=True,
            text=True,
            timeout=60,
        )

    def start(self, *args, stdout=subprocess.PIPE, **env):
        process = subprocess.Popen(
            self._line(args), env={**self.env, **env}, cwd=self.home, stdout=stdout, stderr=subprocess.PIPE, text=True
        )
        self.running.append(process)
        return process

    def _line(self, args):
        return [sys.executable, "-m", "agora_node", *args]

    def log_in(self, hub, kind="agent", agent="echo"):
        self.config.parent.mkdir(parents=True)
        chosen = f'agent = "{agent}"\n' if agent else ""
        self.config.write_text(f'hub = "{hub.url}"\ntoken = "stored-token"\nkind = "{kind}"\n{chosen}')


@pytest.fixture
def hub():
    standing_in = StandIn()
    yield standing_in
    standing_in.close()


@pytest.fixture
def other_hub():
    standing_in = StandIn()
    yield standing_in
    standing_in.close()


@pytest.fixture
def post(hub):
    return PostOffice(hub)


@pytest.fixture
def desk(hub):
    return Desk(hub)


@pytest.fixture
def agora(tmp_path):
    command = Command(tmp_path)
    yield command
    for process in command.running:
        process.kill()
        process.communicate()


@pytest.fixture
def kit():
    """The helpers of this file, for tests that cannot import a conftest."""
    return sys.modules[__name__]
