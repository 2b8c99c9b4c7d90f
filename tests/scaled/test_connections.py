"""Nothing that many callers leave behind: database connections, descriptors, threads."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import httpx
import psutil
import psycopg
import pytest

from agora_web.database import POOL
from roster.live.consumers import COME_BACK
from tests.flows.outside import lasting
from tests.make import bearer
from tests.scaled.pages import open_page, open_pages
from tests.services import wait_until

pytestmark = pytest.mark.postgres
MOST = 20  # connections to the database at any time (F094)
RESTING = 5  # the pool's one for each of three processes, and one more where heartbeats are written
COUNT = "select count(*) from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()"


class Watch:
    """Counts the database's connections, other than its own, for as long as it is open."""

    def __init__(self, url: str):
        self._line, self.most = psycopg.connect(url, autocommit=True), 0

    def now(self) -> int:
        count = self._line.execute(COUNT).fetchone()[0]
        self.most = max(self.most, count)
        return count

    def close(self) -> None:
        self._line.close()

    @contextmanager
    def watching(self):
        """Meanwhile counts every few milliseconds."""
        over = threading.Event()

        def look():
            while not over.wait(0.01):
                self.now()

        thread = threading.Thread(target=look)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()


@pytest.fixture
def watch(pair):
    watching = Watch(pair.hub.postgres.url())
    yield watching
    watching.close()


async def test_sockets_and_calls_leave_no_connections_behind_F094(pair, watch, soak):
    """Sockets that come and go beside API calls and pages, on one web process, while the whole hub runs."""
    sockets, rounds, calls = (200, 5, 1000) if soak else (60, 2, 200)
    with watch.watching():
        async with httpx.AsyncClient(base_url=pair.one.url, timeout=60) as client:
            for _ in range(rounds):
                async with open_pages(*[(pair.one, pair.cookie, "q=nobody")] * sockets):
                    await _call(client, pair, calls // rounds)
    assert RESTING < watch.most <= MOST
    wait_until(lambda: watch.now() <= RESTING, 60, "the baseline")


async def _call(client: httpx.AsyncClient, pair, count: int) -> None:
    """``count`` calls, 40 at once: most of them reads of the API, every fourth a page."""
    gate = asyncio.Semaphore(40)
    headers = bearer(pair.hub.admin_token), {"Cookie": pair.cookie}

    async def one(n: int):
        async with gate:
            answer = await client.get("/" if n % 4 == 0 else "/api/agents", headers=headers[n % 4 == 0])
            assert answer.status_code in (200, 429), answer.text

    await asyncio.gather(*(one(n) for n in range(count)))


@pytest.mark.parametrize("path", ["/api/agents", "/"])
def test_calls_one_after_another_leave_nothing_behind_F162(pair, watch, path):
    """100 on one kept connection. The first ten open what the process keeps for good."""
    process = psutil.Process(pair.one.processes[0].pid)
    with httpx.Client(base_url=pair.one.url, headers={**bearer(pair.hub.admin_token), "Cookie": pair.cookie}) as client:

        def calls(count: int) -> tuple[int, int]:
            assert {client.get(path).status_code for _ in range(count)} == {200}
            return process.num_fds(), process.num_threads()

        before, after = calls(10), calls(100)
    assert watch.now() <= POOL["max_size"]
    assert after <= tuple(n + 2 for n in before), "a pool may have grown by one"


def test_a_restart_of_postgresql_fails_nobody_who_calls_after_it(pair):
    """The connections that it ended are found out before they are used, that of the heartbeats' writer too."""
    token = pair.hub.register(pair.one, "steadfast")
    with pair.one.client(token) as agent, ThreadPoolExecutor(8) as pool:

        def calls() -> set[int]:
            beat = agent.post("/api/heartbeat", json={}).status_code
            return {beat, *(read.status_code for read in pool.map(agent.get, ["/api/agents"] * 8))}

        assert calls() == {200}
        pair.hub.postgres.halt()
        pair.hub.postgres.start()
        wait_until(lambda: accepts(pair.hub.postgres.url()), what="PostgreSQL's return")
        assert calls() == {200}


def test_while_postgresql_is_away_callers_are_told_so_and_soon_after_it_is_back_they_are_answered(pair, soak):
    """A page that opens meanwhile is let in and told to come back; a broken handshake would tell it nothing."""
    token = pair.hub.register(pair.one, "restarted")
    with (
        pair.one.client(pair.hub.admin_token) as reader,
        pair.one.client(token) as agent,
        ThreadPoolExecutor(8) as pool,
    ):

        def calls() -> set[int]:
            beat = pool.submit(agent.post, "/api/heartbeat", json={})
            reads = pool.map(reader.get, ["/api/agents/restarted"] * 7)
            return {beat.result().status_code, *(read.status_code for read in reads)}

        assert calls() == {200}
        pair.hub.postgres.halt()
        page = pool.submit(asyncio.run, _closed_with(pair))
        assert calls() == {503}
        assert page.result() == COME_BACK
        lasting(60 if soak else 0)
        pair.hub.postgres.start()
        wait_until(lambda: calls() == {200}, 10, "answers")


async def _closed_with(pair) -> int:
    return await (await open_page(pair.one, pair.cookie)).closed_with()


def accepts(url: str) -> bool:
    try:
        psycopg.connect(url).close()
    except psycopg.OperationalError:
        return False
    return True
