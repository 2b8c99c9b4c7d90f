"""Everybody comes back at once, and a web process goes while agents beat: agents are heard all the same."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.flows.beating import keep_beating
from tests.scaled.pages import open_pages, until

pytestmark = pytest.mark.postgres
BEATERS, PAUSE = 5, 0.1  # agents, and seconds between two heartbeats of one


async def test_pages_that_return_all_at_once_do_not_hurt_the_agents_P44_F149(pair, soak, record_property):
    """150 pages (--soak; 40 by default) come to the web process that takes the heartbeats, twice, within one moment.

    The promise's p95 of half a second is held with --soak; by default the figure is noted.
    """
    count = 150 if soak else 40
    tokens = [pair.hub.register(pair.one, f"calm-{n}") for n in range(BEATERS)]
    pages = [(pair.one, pair.cookie, "")] * count
    over, beats = threading.Event(), []
    with ThreadPoolExecutor(BEATERS) as pool:
        agents = [pool.submit(_beat_on, pair.one, token, over, beats) for token in tokens]
        try:
            await until(lambda: len(beats) >= BEATERS, what="the first heartbeats")
            for _ in range(2):
                beats.clear()
                async with open_pages(*pages) as opened:
                    assert len(opened) == count and all(page.version for page in opened)
        finally:
            over.set()
    assert [agent.exception() for agent in agents] == [None] * BEATERS
    assert {code for code, _ in beats} == {200}
    spans = sorted(seconds for _, seconds in beats)
    p95 = spans[int(len(spans) * 0.95)]
    record_property("p95_seconds", p95)
    assert p95 < (0.5 if soak else 5)


def _beat_on(web, token: str, over: threading.Event, beats: list[tuple[int, float]]) -> None:
    """Heartbeats at a steady pace, each with its answer and its seconds."""
    with web.client(token) as client:
        while not over.wait(PAUSE):
            began = time.monotonic()
            answer = client.post("/api/heartbeat", json={"status": "idle"})
            beats.append((answer.status_code, time.monotonic() - began))


def test_one_of_two_web_processes_is_restarted_and_no_heartbeat_is_lost(scaled):
    """Both share one listening socket. Whoever was connected to the one that goes has to send once more, and no
    caller is refused; whatever was answered 2xx is in the database."""
    with scaled.web("daphne", 2) as web:
        tokens = {f"restart-{n}": scaled.register(web, f"restart-{n}") for n in range(8)}

        def restart():
            web.processes[0].terminate()
            assert web.processes[0].wait(20) == 0
            web.start()

        told = keep_beating(web, tokens, 60, restart)
        assert len(told.kept) == 8 * 60
        assert told.refused == [] and told.broken <= len(tokens)
        tasks = "select after ->> 'task' from roster_event where kind = 'activity'"
        assert set(told.kept) <= {task for (task,) in scaled.rows(tasks)}
        assert all(process.poll() is None for process in web.processes[1:])
