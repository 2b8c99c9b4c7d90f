"""A small load client over keep-alive connections to 127.0.0.1: as fast as answers come, or at a steady pace."""

from __future__ import annotations

import asyncio
import itertools
import re
import statistics
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

HOST = "127.0.0.1"
LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
CONNECTIONS = 32
PATIENCE = 120  # seconds a round may take before it is given up


@dataclass
class Round:
    """What one round of requests took: seconds as a whole and for each answer, and how many of each status.

    ``due`` says for each answer of a paced round when its request was due, in seconds since the epoch.
    """

    seconds: float = 0.0
    answers: list[float] = field(default_factory=list)
    due: list[float] = field(default_factory=list)
    statuses: Counter = field(default_factory=Counter)
    last_body: bytes = b""

    @property
    def rate(self) -> float:
        return len(self.answers) / self.seconds

    def percentile(self, share: float) -> float:
        """Milliseconds within which ``share`` of the answers came."""
        return percentile(self.answers, share)

    def expect(self, status: int) -> Round:
        """Raises RuntimeError where an answer has another status: a refusal is quick and would flatter."""
        if set(self.statuses) != {status}:
            raise RuntimeError(f"expected only {status}, got {dict(self.statuses)}: {self.last_body[:300]!r}")
        return self


def percentile(seconds: list[float], share: float) -> float:
    """Milliseconds that ``share`` of the ``seconds`` do not exceed."""
    return statistics.quantiles(seconds, n=1000, method="inclusive")[round(share * 1000) - 1] * 1000


def request(method: str, path: str, token: str, body: bytes, *headers: str) -> bytes:
    """One HTTP request as bytes."""
    lines = [f"{method} {path} HTTP/1.1", f"Host: {HOST}", f"Authorization: Bearer {token}",
             "Content-Type: application/json", f"Content-Length: {len(body)}", *headers]  # fmt: skip
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def run(port: int, requests: list[bytes], count: int, connections: int = CONNECTIONS, expect: int = 200) -> Round:
    """Sends ``count`` requests, taken from ``requests`` in turn, over ``connections`` lines.

    Raises RuntimeError where an answer has another status than ``expect``.
    """
    return asyncio.run(send(port, requests, count, connections)).expect(expect)


async def send(port: int, requests: list[bytes], count: int, connections: int = CONNECTIONS) -> Round:
    """What ``run`` does, inside a running loop."""
    counted = itertools.islice(itertools.cycle(requests), count)
    async with asyncio.timeout(PATIENCE):
        return await _send(port, counted, connections)


async def _send(port: int, requests, connections: int) -> Round:
    loop, taken = asyncio.get_running_loop(), Round()
    begun = time.perf_counter()
    lines = [(await loop.create_connection(lambda: _Line(requests, taken), HOST, port))[1] for _ in range(connections)]
    await asyncio.gather(*(line.done for line in lines))
    taken.seconds = time.perf_counter() - begun
    return taken


async def paced(port: int, make: Callable[[int, float], bytes], rate: float, numbers: Iterable[int]) -> Round:
    """Sends a request for each of ``numbers``, ``rate`` a second, however long the answers take.

    ``make`` gets the number and when the request is due, in seconds since the epoch; the time of an answer counts
    from then, so that whatever keeps a request waiting is in it.
    """
    taken, waiting, begun = Round(), asyncio.Queue(), time.time()
    lines = [asyncio.create_task(_line(port, waiting, taken)) for _ in range(CONNECTIONS)]
    for at, number in enumerate(numbers):
        due = begun + at / rate
        await asyncio.sleep(max(0, due - time.time()))
        waiting.put_nowait((due, make(number, due)))
    for _ in lines:
        waiting.put_nowait(None)
    async with asyncio.timeout(PATIENCE):
        await asyncio.gather(*lines)
    taken.seconds = time.time() - begun
    return taken


async def _line(port: int, waiting: asyncio.Queue, taken: Round) -> None:
    reader, writer = await asyncio.open_connection(HOST, port)
    while (item := await waiting.get()) is not None:
        due, asked = item
        writer.write(asked)
        head = await reader.readuntil(b"\r\n\r\n")
        taken.last_body = await reader.readexactly(int(LENGTH.search(head).group(1)))
        taken.answers.append(time.time() - due)
        taken.due.append(due)
        taken.statuses[int(head[9:12])] += 1
    writer.close()


class _Line(asyncio.Protocol):
    def __init__(self, requests, taken: Round):
        self._requests, self._taken = requests, taken
        self._rest = b""
        self.done = asyncio.get_running_loop().create_future()

    def connection_made(self, transport):
        self._transport = transport
        self._next()

    def data_received(self, data):
        self._rest += data
        head = self._rest.find(b"\r\n\r\n")
        if head < 0:
            return
        end = head + 4 + int(LENGTH.search(self._rest, 0, head).group(1))
        if len(self._rest) < end:
            return
        self._taken.answers.append(time.perf_counter() - self._begun)
        self._taken.statuses[int(self._rest[9:12])] += 1
        self._taken.last_body, self._rest = self._rest[head + 4 : end], self._rest[end:]
        self._next()

    def connection_lost(self, why):
        if not self.done.done():
            self.done.set_exception(why or ConnectionError("the server closed a connection"))

    def _next(self):
        following = next(self._requests, None)
        if following is None:
            self.done.set_result(None)
            self._transport.close()
            return
        self._begun = time.perf_counter()
        self._transport.write(following)
