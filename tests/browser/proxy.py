"""A TCP proxy before a hub, which a test may let stop forwarding or cut."""

from __future__ import annotations

import asyncio
import threading
from contextlib import suppress
from urllib.parse import urlsplit


class Proxy:
    """Forwards everything to ``target`` (a URL) until told otherwise; ``url`` is where it listens."""

    def __init__(self, target: str):
        self._target = urlsplit(target)
        self._lines: set[Line] = set()
        self._loop, ready = asyncio.new_event_loop(), threading.Event()
        threading.Thread(target=self._loop.run_until_complete, args=(self._serve(ready),), daemon=True).start()
        ready.wait()

    def swallow(self) -> None:
        """From now on the present connections stay open and carry nothing any more; new ones work."""
        self._loop.call_soon_threadsafe(lambda: [line.open.clear() for line in self._lines])

    def cut(self) -> None:
        """Cuts the present connections without a word."""
        self._loop.call_soon_threadsafe(
            lambda: [writer.transport.abort() for line in self._lines for writer in line.ends]
        )

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._done.set)

    async def _serve(self, ready: threading.Event) -> None:
        self._done = asyncio.Event()
        server = await asyncio.start_server(self._forward, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        ready.set()
        await self._done.wait()
        server.close()
        still = asyncio.all_tasks() - {asyncio.current_task()}
        for task in still:
            task.cancel()
        await asyncio.gather(*still, return_exceptions=True)

    async def _forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_connection(self._target.hostname, self._target.port)
        line = Line(writer, back)
        self._lines.add(line)
        await asyncio.gather(line.carry(reader, back), line.carry(there, writer))
        self._lines.discard(line)


class Line:
    """One forwarded connection. While ``open`` is not set, what arrives is kept from the other end."""

    def __init__(self, *ends: asyncio.StreamWriter):
        self.ends, self.open = ends, asyncio.Event()
        self.open.set()

    async def carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while chunk := await reader.read(65536):
                await self.open.wait()
                writer.write(chunk)
                await writer.drain()
        await self.open.wait()
        writer.close()
