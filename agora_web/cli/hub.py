"""The hub's own processes and the order in which they start."""

import json
import os
import socket
import sys
from pathlib import Path

from . import address, valkey
from .child import Spec
from .errors import Refusal
from .handle import Claim, usable
from .output import Output
from .probe import Probe, http_probe, valkey_probe
from .supervise import Supervisor

PREPARE_SECONDS, VALKEY_SECONDS, WEB_SECONDS = 600, 60, 60
WORKER_THREADS = 4
PUBLISH_AGAIN = 10.0


class Hub:
    """Valkey, the preparation, web, worker and beat on one data folder and one listening socket."""

    def __init__(self, root: Path, claim: Claim, listener: socket.socket, host: str, output: Output):
        """root: the checkout. claim: the held data folder. host: what --host said."""
        self.root, self.data, self.claim, self.listener = root, claim.data, claim, listener
        self.address, self.port = address.local_address(listener)
        self.url = f"http://{address.in_url(self.address)}:{self.port}"
        self.env = self._environment(host)
        self.output = output
        self.supervisor = Supervisor(output, self._publish_again)
        self.secrets: dict[str, str] = {}

    def start(self) -> None:
        """Start everything in order and return when a page can be read.

        Raises Refusal when a part cannot be started, Stopped when a signal came first.
        """
        if "REDIS_URL" not in self.env:
            self._start_valkey()
        said = self._prepare()
        for spec in (self._web(), self._celery("worker"), self._celery("beat")):
            self.supervisor.start(spec)
        where, host = (self.address, self.port), address.in_url(self.address)
        probe = http_probe(self.supervisor.loop, self.listener.family, where, host, "/healthz")
        self._await(probe, WEB_SECONDS, "the web process")
        self.secrets = {
            "enrolment_token": said["enrolment_token"],
            "sign_in_url": self.url + said["sign_in_path"],
        }
        self._publish(self.supervisor.processes())

    def stop(self) -> None:
        """End everything and leave nothing behind but the data."""
        self.secrets = {}
        self.claim.withdraw()
        self.supervisor.stop()
        valkey.remove_socket(self.data)

    def _environment(self, host: str) -> dict[str, str]:
        env = os.environ | {"AGORA_DATA": str(self.data), "PYTHONUNBUFFERED": "1"}
        if not env.get("REDIS_URL"):
            env.pop("REDIS_URL", None)
        names = [*filter(None, env.get("AGORA_HOSTS", "").split(",")), *address.host_names(host)]
        env["AGORA_HOSTS"] = ",".join(dict.fromkeys(names))
        return env

    def _start_valkey(self) -> None:
        with usable(self.data):
            valkey.make_folders(self.data)
        self.supervisor.start(self._spec("valkey", valkey.command(self.data), foundation=True))
        probe = valkey_probe(self.supervisor.loop, str(valkey.socket_path(self.data)))
        self._await(probe, VALKEY_SECONDS, "valkey")
        self.env["REDIS_URL"] = valkey.address(self.data)

    def _prepare(self) -> dict[str, str]:
        command = [sys.executable, str(self.root / "manage.py"), "prepare"]
        answer = self.supervisor.finish(self._spec("prepare", command), PREPARE_SECONDS)
        try:
            return json.loads(answer)
        except ValueError:
            raise Refusal("`manage.py prepare` did not answer with one line of JSON.") from None

    def _web(self) -> Spec:
        descriptor = self.listener.fileno()
        options = ["-v", "0", "--fd", str(descriptor), "agora_web.asgi:application"]
        command = [sys.executable, "-m", "agora_web.server", *options]
        return self._spec("web", command, pass_fds=(descriptor,))

    def _celery(self, name: str) -> Spec:
        options = {
            "worker": ["-P", "threads", f"--concurrency={WORKER_THREADS}", "--without-mingle", "--without-gossip"],
            "beat": ["--pidfile=", "-s", str(self.data / "beat")],
        }[name]
        return self._spec(
            name, [sys.executable, "-m", "celery", "-q", "-A", "agora_web", name, "-l", "WARNING", *options]
        )

    def _spec(self, name: str, command: list[str], **more) -> Spec:
        return Spec(name, command, self.env, self.root, **more)

    def _await(self, probe: Probe, seconds: float, what: str) -> None:
        try:
            if not self.supervisor.wait(probe.is_ready, seconds):
                raise Refusal(f"{what} was not ready within {seconds} s (last answer: {probe.last}).")
        finally:
            probe.close()

    def _publish(self, processes: dict[str, int]) -> None:
        # Before everything is ready there is nothing to tell, and while stopping no longer.
        if self.secrets:
            self.claim.publish({"url": self.url, "pid": os.getpid(), **self.secrets, "processes": processes})

    def _publish_again(self, processes: dict[str, int]) -> None:
        # A full disk may be what ended the child: it must not end the hub as well.
        try:
            self._publish(processes)
        except Refusal as why:
            self.output.say(f"agora: up.json is out of date: {why}")
            self.supervisor.loop.after(PUBLISH_AGAIN, lambda: self._publish_again(self.supervisor.processes()))
