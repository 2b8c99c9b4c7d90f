"""A page server with one websocket and no hub behind it: what a test puts on the stage is what the browser gets."""

import asyncio
import mimetypes
import threading
from pathlib import Path

from django.template.loader import render_to_string
from django.utils.safestring import mark_safe
from websockets.asyncio.server import serve
from websockets.datastructures import Headers
from websockets.http11 import Response

from . import fakes

ROOT = Path(__file__).parents[2]
POLICY = (
    "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)


def drawn(row):
    """Return a row as the hub would push it."""
    return render_to_string("roster/_row.html", {"row": row, "now": fakes.NOW})


def part(target, swap, *rows):
    """Return one part of a message: what is done to `target`, with these rows."""
    return fakes.Thing(target=target, swap=swap, html=mark_safe("".join(drawn(row) for row in rows)))


class Stage:
    """Serves the roster of `rows` at `/`, the checkout's static files, and every `/live/` address as a websocket."""

    def __init__(self, rows):
        self.rows, self.rev, self.sockets, self.addresses = list(rows), 7, [], []
        self.blocked, self.signed_out, self.over = False, False, {}
        self._loop, ready = asyncio.new_event_loop(), threading.Event()
        self._thread = threading.Thread(target=self._run, args=(ready,), daemon=True)
        self._thread.start()
        ready.wait()

    def push(self, *parts, raw=None, **changes):
        """Send one message (or the text `raw`) to every connected page and return its cursor."""
        if raw is None:
            raw = self._message(parts, **changes)
        self._call(self._send, raw)
        return self.rev

    def close_sockets(self, code):
        """Close every websocket with `code`; 1006 cuts the line without a word."""
        self._call(self._close, code)

    def stop(self):
        """Stop serving."""
        self._loop.call_soon_threadsafe(self._done.set)
        self._thread.join()

    def _message(self, parts=(), summary=None, notices=None):
        self.rev += 1
        given = {"parts": parts, "glance": summary, "notices": notices, "rev": self.rev, "now": fakes.NOW}
        return render_to_string("live/roster_message.html", given)

    def _call(self, function, *arguments):
        return asyncio.run_coroutine_threadsafe(function(*arguments), self._loop).result(10)

    async def _send(self, text):
        for socket in list(self.sockets):
            await socket.send(text)

    async def _close(self, code):
        for socket in list(self.sockets):
            if code == 1006:
                socket.transport.abort()
            else:
                await socket.close(code)

    def _run(self, ready):
        self._loop.run_until_complete(self._serve(ready))

    async def _serve(self, ready):
        self._done = asyncio.Event()
        async with serve(self._socket, "127.0.0.1", 0, process_request=self._page) as server:
            self.url = "http://127.0.0.1:{}".format(server.sockets[0].getsockname()[1])
            ready.set()
            await self._done.wait()

    async def _socket(self, socket):
        self.addresses.append(socket.request.path)
        self.sockets.append(socket)
        await socket.send(self._message())
        await socket.wait_closed()
        self.sockets.remove(socket)

    def _page(self, _, request):
        path = request.path.partition("?")[0]
        if path.startswith("/live/"):
            return _answer(403, b"") if self.blocked else None
        if path.startswith("/static/"):
            return _answer(200, (ROOT / path[1:]).read_bytes(), mimetypes.guess_type(path)[0])
        if path == "/sign-in/":
            return _answer(200, b"<main><input type=password></main>")
        if self.signed_out:
            return _answer(302, b"", location="/sign-in/?next=/")
        given = fakes.roster(self.rows, rev=self.rev, live_url="/live/roster/?q=a", **self.over)
        return _answer(200, render_to_string("roster/roster.html", given).encode())


def _answer(status, body, kind="text/html; charset=utf-8", **more):
    headers = [("Content-Type", kind), ("Content-Length", str(len(body))), ("Connection", "close"), *more.items()]
    return Response(status, "", Headers([*headers, ("Content-Security-Policy", POLICY)]), body)
