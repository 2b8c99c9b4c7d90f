"""Two web processes and their open pages agree with the database, whatever is lost between them."""

from __future__ import annotations

import asyncio
from itertools import cycle

import pytest

from roster import events
from tests.flows.outside import lasting
from tests.scaled.pages import OpenPage, all_show, open_page, open_pages, until
from tests.services import wait_until

pytestmark = pytest.mark.postgres
BETWEEN = 0.05  # seconds between two changes: with the heartbeat itself that makes about ten a second


def test_the_end_of_a_session_that_came_through_one_process_leaves_the_others_session_F142(pair):
    """Presence comes out of the database alone: no web process judges by the callers that it has itself."""
    token = pair.hub.register(pair.one, "divided")
    with pair.one.client(token) as one, pair.two.client(token) as two:
        one.post("/api/heartbeat", json={"status": "idle", "session": "first"})
        two.post("/api/heartbeat", json={"status": "idle", "session": "second"})
        answer = one.post("/api/agents/divided/sign-off", json={"session": "first"})
        assert answer.json()["presence"] == "live"
        told = [client.get("/api/agents/divided").json() for client in (one, two)]
        assert [(each["presence"], each["status"]) for each in told] == [("live", "idle")] * 2
        gone = two.post("/api/agents/divided/sign-off", json={"session": "second"})
        assert gone.json()["presence"] == "dormant"
        assert one.get("/api/agents/divided").json()["presence"] == "dormant"


async def test_a_process_whose_pushes_never_arrive_shows_what_the_database_holds_all_the_same_F102(pair):
    """The channel of the second process is taken out of the broker's group: it hears of nothing, and of no error."""
    token = pair.hub.register(pair.one, "unheard")
    async with open_pages(*[(pair.one, pair.cookie, "q=unheard")] * 2) as pages:
        before = await until(lambda: _listeners(pair), what="the first process's subscription")
        async with open_pages((pair.two, pair.cookie, "q=unheard")) as others:
            (deaf,) = await until(lambda: _listeners(pair) - before, what="the second's")
            pair.hub.broker.client.zrem(f"asgi:group:{events.GROUP}", deaf)
            with pair.one.client(token) as client:
                client.post("/api/heartbeat", json={"status": "working: aloud"})
                await all_show([*pages, *others], "aloud", 60)
                client.post("/api/agents/unheard/sign-off", json={})
            gone = {"unheard": "dormant"}
            await until(lambda: all(page.words == gone for page in (*pages, *others)), 60, "the word on all pages")
            assert deaf not in _listeners(pair)
            assert _metric(pair, pair.two, "agora_unhinted_changes_total") > 0
    assert pair.hub.presences(pair.two, "unheard") == {"unheard": "dormant"}


def _listeners(pair) -> set[str]:
    """The channels that a nudge is sent to: one for each process with open pages."""
    return set(pair.hub.broker.client.zrange(f"asgi:group:{events.GROUP}", 0, -1))


async def test_without_the_broker_joins_and_leaves_are_on_all_pages_before_and_after_its_return_F174(pair, soak):
    """Both web processes lose Valkey, for 5 minutes with --soak. Nobody loads a page again."""
    stay = {f"split-{n}": pair.hub.register(pair.one, f"split-{n}") for n in range(5)}
    async with open_pages(*[(web, pair.cookie, "q=split-") for web in (pair.one, pair.two)]) as pages:
        pair.hub.broker.kill()
        try:
            for slug, token in stay.items():
                with pair.two.client(token) as client:
                    assert client.post(f"/api/agents/{slug}/sign-off", json={}).status_code == 200
            for n in range(5, 10):
                pair.hub.register(pair.one, f"split-{n}")
            await _agree(pair, pages, "split-")
            await asyncio.to_thread(lasting, 300 if soak else 0)
        finally:
            pair.hub.broker.start()
        with pair.one.client(stay["split-0"]) as client:
            client.post("/api/heartbeat", json={"status": "working: healed"})
            wait_until(lambda: client.get("/readyz").status_code == 200, 60, "/readyz")
        await all_show(pages, "healed", 60)
        await _agree(pair, pages, "split-")
        assert [page.words["split-0"] for page in pages] == ["live", "live"]


async def _agree(pair, pages: list[OpenPage], part: str) -> None:
    """All ten agents are on every page as the database has them."""
    words = await asyncio.to_thread(pair.hub.presences, pair.one, part)
    assert len(words) == 10 and set(words.values()) == {"live", "dormant"}
    await until(lambda: all(page.words == words for page in pages), 60, "the same on all pages")


async def test_sockets_that_a_killed_process_held_leave_nothing_for_good_F173(pair, soak):
    """100 sockets (--soak; 20 by default) of a process that is killed without a word, and of the one after it."""
    count = 100 if soak else 20
    with pair.hub.web() as web:
        async with open_pages((web, pair.cookie, "q=nobody")):
            pass  # whoever looks has come to life by now, and that is an event
        await until(lambda: _metric(pair, web, "agora_open_pages") == 0, what="the end of the first page")
        before = _sizes(pair)
        async with open_pages(*[(web, pair.cookie, "q=nobody")] * count) as pages:
            assert _metric(pair, web, "agora_open_pages") == count
            web.processes[0].kill()
            assert [await page.closed_with() for page in pages] == [1006] * count
        await asyncio.to_thread(web.processes[0].wait)
        web.start()
        assert _metric(pair, web, "agora_open_pages") == 0
        async with open_pages((web, pair.cookie, "q=nobody")):
            await until(lambda: _listeners(pair), what="the new process's subscription")
    assert _sizes(pair) == before
    client = pair.hub.broker.client
    lasting_keys = [key for key in client.scan_iter("asgi:*") if client.ttl(key) < 0]
    assert lasting_keys == [], "what a socket left in the broker has to end by itself"
    assert len(_listeners(pair)) <= 4, "one channel a process, however many sockets it had"
    (deadline,) = pair.hub.rows(
        "select deadline - last_seen < interval '2 minutes' from roster_agent where slug = 'admin'"
    )
    assert deadline == (True,), "whoever looked at a page counts as here for minutes at most"


def _sizes(pair) -> dict[str, int]:
    """The rows of each table, but for the sweeps' runs, which come and go by themselves."""
    named = "select table_name from information_schema.tables where table_schema = 'public'"
    names = {name for (name,) in pair.hub.rows(named)} - {"roster_sweeprun"}
    return {name: pair.hub.rows(f"select count(*) from {name}")[0][0] for name in names}


def _metric(pair, web, name: str) -> float:
    with web.client(pair.hub.admin_token) as client:
        lines = client.get("/metrics").text.splitlines()
    return float(next(line for line in lines if line.startswith(f"{name} ")).split()[1])


async def test_pages_that_come_and_go_cost_the_steady_ones_no_version_F143(pair, soak):
    """7 sockets through two processes, 3 of them in a loop of reconnections, while the version rises ten times a
    second, for 10 minutes with --soak. A gap cannot be: a page is sent what the table holds beyond its cursor. So many
    agents change in turn that a change that was missed is made good by no later one.
    """
    agents, seconds = 40, 600 if soak else 5
    tokens = [pair.hub.register(pair.one, f"counting-{n:02}") for n in range(agents)]
    over = asyncio.Event()
    watched = [(web, pair.cookie, "q=counting") for web, _ in zip(cycle([pair.one, pair.two]), range(4), strict=False)]
    async with open_pages(*watched) as steady:
        restless = [asyncio.create_task(_come_and_go(pair, over)) for _ in range(3)]
        for n in range(seconds * 10):
            await asyncio.to_thread(_beat, pair, tokens[n % agents], f"working: at {n}x")
            await asyncio.to_thread(lasting, BETWEEN)
        over.set()
        came_back = await asyncio.gather(*restless)
        for last in range(seconds * 10 - agents, seconds * 10):
            await all_show([*steady, *came_back], f"at {last}x", 10)
        ((version,),) = pair.hub.rows("select value from roster_counter where name = 'roster'")
        await until(lambda: all(page.version >= version for page in (*steady, *came_back)), what="the last version")
        for page in came_back:
            await page.close()
    for page in steady:
        assert page.versions == sorted(page.versions)


async def _come_and_go(pair, over: asyncio.Event) -> OpenPage:
    """Opens a page again and again, each no older than the one before; at last one that opens after it is over."""
    version = 0
    for web in cycle([pair.one, pair.two]):
        last = over.is_set()
        page = await open_page(web, pair.cookie, "q=counting")
        assert page.version >= version
        if last:
            return page
        version = page.version
        await page.close()
    raise AssertionError("a cycle has no end")


def _beat(pair, token: str, status: str) -> None:
    with pair.two.client(token) as client:
        client.post("/api/heartbeat", json={"status": status})
