"""The node's mail commands against a real hub, over a line that loses answers and breaks."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx
import pytest

from tests import hubs


class Line(ThreadingHTTPServer):
    """A way to the hub: ``through``; it ``loses`` answers, the hub has acted by then; or it is ``cut`` before that."""

    state, daemon_threads = "through", True

    def __init__(self, target: str):
        super().__init__(("127.0.0.1", 0), _Forward)
        self.target, self.url = target, f"http://127.0.0.1:{self.server_port}"
        threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()


class _Forward(BaseHTTPRequestHandler):
    def _any(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.server.state == "cut":
            return
        kept = {name: self.headers[name] for name in self.headers if name.lower() not in ("host", "connection")}
        answer = httpx.request(self.command, self.server.target + self.path, headers=kept, content=body, timeout=30)
        if self.server.state == "through":
            self.send_response_only(answer.status_code)
            self.send_header("Content-Length", str(len(answer.content)))
            self.end_headers()
            self.wfile.write(answer.content)

    do_GET = do_POST = _any

    def log_message(self, *args):
        pass


@pytest.fixture
def line(hub):
    server = Line(hub.url)
    yield server
    server.shutdown()
    server.server_close()


class Node:
    """The `agora` command of one agent, in a home of its own; returns what it printed."""

    def __init__(self, home: Path, url: str, token: str):
        self.env = {"HOME": str(home), "PATH": os.environ["PATH"], "PYTHONPATH": str(hubs.ROOT)}
        home.mkdir()
        self("login", "--hub", url, "--token-stdin", stdin=token)

    def __call__(self, *words: str, stdin: str = "", code: int = 0) -> str:
        command = [sys.executable, "-m", "agora_node", *words]
        done = subprocess.run(command, env=self.env, input=stdin, capture_output=True, text=True, timeout=60)
        assert done.returncode == code, done.stderr
        return done.stdout + done.stderr


def test_mail_written_while_the_line_was_bad_arrives_in_order_and_once(hub, line, tmp_path):
    writer = Node(tmp_path / "writer", line.url, hub.register("node-writer", liveness_mode="async"))
    reader = Node(tmp_path / "reader", hub.url, hub.register("node-reader", liveness_mode="async"))
    line.state = "loses"
    assert "kept: will be sent when the hub is back" in writer("send", "node-reader", "-m", "1 its answer was lost")
    line.state = "cut"
    assert "kept: " in writer("send", "node-reader", "-m", "2 never left")
    assert "kept: " in writer("send", "node-nobody", "-m", "3 to nobody")
    line.state = "through"
    said = writer("send", "node-reader", "-s", "last", stdin="4 caf\u00e9 \x1b[2J")
    assert "node-reader: queued; node-reader is live" in said
    assert "2 kept messages sent" in said and "there is no agent 'node-nobody'" in said
    assert "refused: Nothing was sent: there is no agent" in writer("outbox")

    box = json.loads(reader("inbox", "--json"))
    assert (box["agent"], box["waiting"], box["unread"]) == ("node-reader", 3, 3)
    numbers = [str(each["seq"]) for each in box["messages"]]
    assert numbers == sorted(numbers, key=int)
    texts = [json.loads(reader("read", seq, "--json"))["body"] for seq in numbers]
    assert texts == ["1 its answer was lost", "2 never left", "4 caf\u00e9 \x1b[2J"]
    assert "inbox of node-reader: 3 waiting\n" in reader("inbox")
    assert "4 caf\u00e9 \\x1b[2J" in writer("read", numbers[2])
    acked = "".join(f"{seq}: acked\n" for seq in numbers)
    assert reader("ack", *numbers) == acked
    assert reader("ack", *numbers) == acked.replace("acked", "already acked")
    assert reader("inbox") == "inbox of node-reader: nothing waits\n"
    assert reader("ack", "999999999", code=1) == "999999999: unknown\n"


def test_what_the_hub_says_no_to_is_the_commands_error(hub, tmp_path):
    node = Node(tmp_path / "node", hub.url, hub.register("node-asker", liveness_mode="async"))
    assert "(did you mean 'node-asker'?)" in node("send", "node-askr", "-m", "x", code=1)
    assert "in_reply_to: there is no message" in node("send", "node-asker", "-m", "x", "--reply", "999999999", code=1)
    assert "There is no message 999999999" in node("read", "999999999", code=1)
    assert node("outbox") == "The outbox is empty.\n"
    assert "node-asker: queued" in node("send", "node-asker", "-m", "x", "--expires", "1h", "--importance", "high")
    assert "waiting, high" in node("inbox")
