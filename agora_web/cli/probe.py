"""Asks a server whether it is there, without ever blocking the supervisor's loop for long."""

import socket
from typing import Callable

PAUSE, CONNECT_SECONDS = 0.05, 1.0


class Probe:
    """Connects, sends `request`, and asks again until an answer satisfies `good`.

    While the web process still imports, its connection waits in the supervisor's own backlog, so the first answer
    comes the moment there is one.
    """

    def __init__(self, loop, family: int, address, request: bytes, good: Callable[[bytes], bool]):
        """family, address: as for socket.connect. good(first line): whether this answer means ready."""
        self.ready = False
        self.last = "no answer"
        self._loop, self._family, self._address, self._request, self._good = loop, family, address, request, good
        self._socket: socket.socket | None = None
        self._attempt()

    def is_ready(self) -> bool:
        """Whether a good answer has come."""
        return self.ready

    def close(self) -> None:
        """Stop asking."""
        if self._socket:
            self._loop.unwatch(self._socket.fileno())
            self._socket.close()
            self._socket = None
        self._attempt = lambda: None

    def _attempt(self) -> None:
        connection = socket.socket(self._family, socket.SOCK_STREAM)
        connection.settimeout(CONNECT_SECONDS)
        try:
            connection.connect(self._address)
            connection.sendall(self._request)
        except OSError as error:
            connection.close()
            self._again(str(error))
            return
        connection.setblocking(False)
        self._socket = connection
        self._loop.watch(connection.fileno(), self._hear)

    def _hear(self) -> None:
        connection, self._socket = self._socket, None
        self._loop.unwatch(connection.fileno())
        try:
            # The first line of an answer comes in one piece over a local connection.
            line = connection.recv(1024).partition(b"\r\n")[0]
        except OSError as error:
            line = str(error).encode()
        connection.close()
        self.ready = self._good(line)
        if not self.ready:
            self._again(line.decode(errors="replace") or "connection closed")

    def _again(self, why: str) -> None:
        self.last = why
        # Looked up when the timer fires, so that close() is heeded.
        self._loop.after(PAUSE, lambda: self._attempt())


def http_probe(loop, family: int, address, host: str, path: str) -> Probe:
    """A probe that is ready when GET `path` with the Host header `host` answers 200."""
    request = f"GET {path} HTTP/1.1\r\nHost: {host}\r\nUser-Agent: agora-up\r\nConnection: close\r\n\r\n"
    return Probe(loop, family, address, request.encode(), lambda line: line.startswith(b"HTTP/1.1 200"))


def valkey_probe(loop, path: str) -> Probe:
    """A probe that is ready when the server on the unix socket `path` answers PING (not while it still loads)."""
    return Probe(loop, socket.AF_UNIX, path, b"PING\r\n", lambda line: line == b"+PONG")
