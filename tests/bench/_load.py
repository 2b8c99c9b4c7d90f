"""A small load client: keep-alive connections to 127.0.0.1 that each send the next request when an answer is whole."""

from __future__ import annotations

import asyncio
import itertools
import re
import statistics
import time
from collections import Counter
from dataclasses import dataclass, field

HOST = "127.0.0.1"
LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
PATIENCE = 120  # seconds a round may take before it is given up


@dataclass
class Round:
    """What one round of requests took: seconds as a whole and for each answer, and how many of each status."""

    seconds: float = 0.0
    answers: list[float] = field(default_factory=list)
    statuses: Counter = field(default_factory=Counter)
    last_body: bytes = b""

    @property
    def rate(self) -> float:
        return len(self.answers) / self.seconds

    def percentile(self, share: float) -> float:
        """Milliseconds within which ``share`` of the answers came."""
        return statistics.quantiles(self.answers, n=1000, method="inclusive")[round(share * 1000) - 1] * 1000


def request(method: str, path: str, token: str, body: bytes, *headers: str) -> bytes:
    """One HTTP request as bytes."""
    lines = [f"{method} {path} HTTP/1.1", f"Host: {HOST}", f"Authorization: Bearer {token}",
             "Content-Type: application/json", f"Content-Length: {len(body)}", *headers]  # fmt: skip
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def run(port: int, requests: list[bytes], count: int, connections: int = 32, expect: int = 200) -> Round:
    """Sends ``count`` requests, taken from ``requests`` in turn, over ``connections`` lines.

    Raises RuntimeError where an answer has another status than ``expect``: a refusal is quick and would flatter.
    """
    counted = itertools.islice(itertools.cycle(requests), count)
    taken = asyncio.run(asyncio.wait_for(_run(port, counted, connections), PATIENCE))
    if set(taken.statuses) != {expect}:
        raise RuntimeError(f"expected only {expect}, got {dict(taken.statuses)}: {taken.last_body[:300]!r}")
    return taken


async def _run(port: int, requests, connections: int) -> Round:
    loop, taken = asyncio.get_running_loop(), Round()
    begun = time.perf_counter()
    lines = [(await loop.create_connection(lambda: _Line(requests, taken), HOST, port))[1] for _ in range(connections)]
    await asyncio.gather(*(line.done for line in lines))
    taken.seconds = time.perf_counter() - begun
    return taken


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
