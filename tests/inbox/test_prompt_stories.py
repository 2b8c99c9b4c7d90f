"""Whole stories over HTTP: a node that is disabled while it works, three callers at one node, an employee at its cap."""

from __future__ import annotations

import asyncio

import httpx
import pytest

from agora_web.routing import application
from inbox import plans, waiting
from inbox.models import Exchange, Lease
from inbox.services import sweeping
from roster import clock
from roster.models import Agent
from roster.offload import in_database
from tests import make
from tests.inbox import asking
from tests.make import bearer
from tests.roster.staff import hire


class Fleet:
    """Calls as one of those whose raw tokens are known: status and body."""

    def __init__(self, client: httpx.AsyncClient, raws: dict[str, str]):
        self.client, self.raws = client, raws

    async def call(self, who: str, path: str, body: dict | None = None, method: str = ""):
        method = method or ("POST" if body is not None else "GET")
        answer = await self.client.request(method, f"/api/{path}", json=body, headers=bearer(self.raws[who]))
        return answer.status_code, answer.json() if answer.content else dict(answer.headers)

    async def ask(self, who: str, body: str, wait: int = 0, to: str = "nodes/alder"):
        return await self.call(who, f"{to}/prompt?wait={wait}", {"body": body})

    async def claim(self, who: str = "alder", slug: str = "alder", wait: int = 0):
        return await self.call(who, f"agents/{slug}/queue/claim?wait={wait}", {})

    async def held(self, who: str = "alder", slug: str = "alder", wait: int = 30) -> asyncio.Task:
        """A claim that has found nothing and waits."""

        def seen():
            return Agent.objects.values_list("last_seen", flat=True).get(slug=slug)

        before, task = await in_database(seen), asyncio.create_task(self.claim(who, slug, wait))
        await asking.until(lambda: seen() != before)
        return task

    async def answer(self, turn: dict, body: str, who: str = "alder"):
        return await self.call(who, f"exchanges/{turn['exchange']}/answer", {"lease": turn["lease"], "body": body})

    async def queued(self, count: int) -> None:
        """Returns once so many exchanges were recorded."""
        await asking.until(lambda: Exchange.objects.count() >= count)


@pytest.fixture
async def fleet(api) -> Fleet:
    def made() -> dict[str, str]:
        raws = {"alder": make.node("alder")[2], "mira": make.person_token("mira", "manager")}
        return raws | {name: make.agent(name, liveness_mode="async")[1] for name in ("ada", "bo", "cy")}

    return Fleet(api, await in_database(made))


async def test_a_node_is_disabled_while_it_works_s7_r142_r144_r146(fleet):
    """One runs, two wait in their own calls; the switch answers the two, in order, with no model; the one that runs
    finishes; a new one is answered at once; enabled again, the next is run."""
    await fleet.ask("ada", "first")
    _, running = await fleet.claim()
    waits = []
    for n, who in enumerate(("bo", "cy"), 2):
        waits.append(asyncio.create_task(fleet.ask(who, f"question {n}", wait=30)))
        await fleet.queued(n)
    assert (await fleet.call("mira", "agents/alder/disable", {"reason": "it loops"}))[0] == 200
    told = [await each for each in waits] + [await fleet.ask("bo", "later", wait=30)]
    assert [(status, each["outcome"], each["model_invoked"]) for status, each in told] == [(200, "disabled", False)] * 3
    assert all("alder is disabled by mira since" in each["answer"] for _, each in told)
    numbers = [each["exchange"] for _, each in told]
    assert numbers == sorted(numbers)
    assert (await fleet.claim())[0] == 204
    status, finished = await fleet.answer(running, "the first answer")
    assert (status, finished["outcome"]) == (200, "answered")
    assert (await fleet.call("ada", f"exchanges/{running['exchange']}"))[1]["answer"] == "the first answer"
    assert (await fleet.call("mira", "agents/alder/enable", {}))[0] == 200
    status, last = await fleet.ask("cy", "and now?")
    assert (status, last["position"]) == (202, 1)
    assert (await fleet.claim())[1]["exchange"] == last["exchange"]
    record = (await fleet.call("mira", "nodes/alder/record"))[1]["exchanges"]
    assert [each["outcome"] for each in record] == ["answered", *["disabled"] * 3, None]
    assert sum(each["model_invoked"] for each in record) == 2


async def test_three_callers_at_one_node_and_a_restart_in_between_s8_r133_r136_r149(fleet):
    """They see their places; a long answer delays the others visibly; the third answer knows of the first exchange; and a
    hub that starts anew in between, with clients that come anew, has lost none."""
    places = [(await fleet.ask(who, f"I am {who}"))[1] for who in ("ada", "bo", "cy")]
    assert [each["position"] for each in places] == [1, 2, 3]
    _, turn = await fleet.claim()
    assert (await fleet.call("cy", f"exchanges/{places[2]['exchange']}"))[1]["position"] == 3, "it is still running"
    waiting._pollers.clear()
    transport = httpx.ASGITransport(app=application, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        after = Fleet(client, fleet.raws)
        assert (await after.answer(turn, "Welcome, ada."))[0] == 200
        assert (await after.call("cy", f"exchanges/{places[2]['exchange']}"))[1]["position"] == 2
        _, second = await after.claim(wait=5)
        await after.answer(second, "Welcome, bo.")
        _, third = await after.claim(wait=5)
        assert third["prompt"]["caller"] == "cy"
        assert [(each["caller"], each["prompt"], each["answer"]) for each in third["history"]] == [
            ("ada", "I am ada", "Welcome, ada."), ("bo", "I am bo", "Welcome, bo."),
        ]  # fmt: skip
        await after.answer(third, "You are the third.")
        record = (await after.call("mira", "nodes/alder/record"))[1]["exchanges"]
        assert [(each["caller"], each["answer"]) for each in record] == [
            ("ada", "Welcome, ada."), ("bo", "Welcome, bo."), ("cy", "You are the third."),
        ]  # fmt: skip
        for who, place in zip(("ada", "bo", "cy"), places, strict=True):
            assert (await after.call(who, f"exchanges/{place['exchange']}?wait=30"))[1]["state"] == "answered"


async def test_an_employee_at_its_cap_says_so_and_the_cap_moves_at_once_s10_r87_r88_r89(fleet):
    """Two of three run. A third slot is opened by raising the cap, for a claim that waits already; lowering it ends
    nothing, and nothing starts until fewer run."""
    await in_database(lambda: fleet.raws.update(echo=hire("echo", clock.now(), max_sessions=2)[1]))
    for n in range(5):
        status, told = await fleet.ask("ada", f"question {n}", to="agents/echo")
        assert (status, told["cap"], told["position"]) == (202, 2, n + 1)
    turns = [(await fleet.claim("echo", "echo"))[1] for _ in range(2)]
    status, full = await fleet.claim("echo", "echo")
    assert (status, full["agora-state"], full["agora-in-use"], full["agora-cap"]) == (204, "at_capacity", "2", "2")
    told = (await fleet.ask("bo", "one more", to="agents/echo"))[1]
    assert (told["cap"], told["in_use"], told["position"]) == (2, 2, 6)
    waits = await fleet.held("echo", "echo")
    assert (await fleet.call("mira", "agents/echo", {"max_sessions": 3}, "PATCH"))[0] == 200
    status, third = await waits
    assert (status, third["prompt"]["body"]) == (200, "question 2")
    assert (await fleet.call("mira", "agents/echo", {"max_sessions": 1}, "PATCH"))[0] == 200
    for turn in (*turns, third):
        assert (await fleet.claim("echo", "echo"))[1]["agora-state"] == "at_capacity"
        assert (await fleet.answer(turn, "Done.", "echo"))[0] == 200
    assert (await fleet.claim("echo", "echo"))[0] == 200


async def test_prompts_wait_for_the_workspace_of_who_was_hired_r94(fleet):
    """It may be asked before; it answers once its node has made its workspace."""
    await in_database(lambda: fleet.raws.update(echo=hire("echo", clock.now(), ready=False)[1]))
    number = (await fleet.ask("ada", "hello", to="agents/echo"))[1]["exchange"]
    status, headers = await fleet.claim("echo", "echo")
    assert (status, headers["agora-state"]) == (204, "unready")
    waits = await fleet.held("alder", "echo")
    assert (await fleet.call("alder", "agents/echo/workspace", {"state": "ready", "path": "/srv/echo"}))[0] == 200
    assert (await waits)[1]["exchange"] == number


# ---- after the switch ---------------------------------------------------------------------------------------------------


async def drained(fleet: Fleet) -> bool:
    return (await fleet.call("alder", "agents/alder/inbox/drain", {}))[1]["lease"] is not None


async def claimed(fleet: Fleet) -> bool:
    return (await fleet.claim())[0] == 200


async def asked_the_node(fleet: Fleet) -> bool:
    status, told = await fleet.ask("ada", "hello", wait=30)
    return (status, told["outcome"]) != (200, "disabled")


async def asked_the_agent(fleet: Fleet) -> bool:
    status, told = await fleet.ask("ada", "hello", wait=30, to="agents/alder")
    return (status, told["outcome"]) != (200, "disabled")


async def written_to(fleet: Fleet) -> bool:
    sent = await fleet.call("ada", "messages", {"to": "alder", "body": "hello"})
    return sent[1]["deliveries"][0]["state"] != "waiting"


async def beaten(fleet: Fleet) -> bool:
    told = await fleet.call("alder", "heartbeats", {"heartbeats": [{"agent": "alder", "status": "idle"}]})
    return told[1]["refused"] != []


async def swept(fleet: Fleet) -> bool:
    await in_database(sweeping.run, plans.PLAN, clock.now())
    return False


PATHS = (drained, claimed, asked_the_node, asked_the_agent, written_to, beaten, swept)


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.__name__)
async def test_once_it_is_disabled_no_path_hands_out_work_p31_f035(fleet, path):
    """Five prompts and a letter wait; one more runner waits for work. After the switch everything is answered, nothing is
    leased, and the letter is still there."""
    for n in range(5):
        await fleet.ask("ada", f"question {n}")
    await fleet.call("ada", "messages", {"to": "alder", "body": "a letter"})
    await in_database(asking.disable, "alder", clock.now())
    assert not await path(fleet)
    states = await in_database(asking.states, "alder")
    assert {(state, outcome) for _, state, outcome in states} == {("answered", "disabled")} and len(states) >= 5
    assert not await in_database(lambda: Lease.objects.exists() or Exchange.objects.exclude(started_at=None).exists())
    told = (await fleet.call("alder", "agents/alder/inbox/drain", {}))[1]
    assert (told["messages"], told["disabled"]["by"], told["waiting"] >= 1) == ([], "mira", True)


async def test_a_runner_that_waited_before_the_switch_gets_nothing_p31(fleet):
    """Its claim is held; the switch, then a prompt, come while it is."""
    waits = await fleet.held(wait=1)
    await in_database(asking.disable, "alder", clock.now())
    assert (await fleet.ask("ada", "hello"))[1]["outcome"] == "disabled"
    status, headers = await waits
    assert (status, headers["agora-state"]) == (204, "disabled")
