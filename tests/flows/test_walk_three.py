"""Walk 3 of the design through the real processes: prompts queue at a node, are run by `agora run-node`, and Disable
answers those that wait."""

from __future__ import annotations

import json
import time

import httpx
import pytest

from tests.flows.running import enrolled
from tests.services import wait_until


@pytest.fixture
def asker(hub):
    """A client for the calls of a registered agent, made by its id."""
    clients = []

    def client(slug: str) -> httpx.Client:
        clients.append(hub.client(hub.register(slug, liveness_mode="async")))
        return clients[-1]

    yield client
    for each in clients:
        each.close()


def ask(client: httpx.Client, node: str, body: str, wait: int = 0) -> dict:
    return client.post(f"/api/nodes/{node}/prompt?wait={wait}", json={"body": body}).raise_for_status().json()


def became(client: httpx.Client, exchange: int, state: str, wait: int = 30) -> dict:
    """The exchange, once it is in ``state``."""

    def look():
        found = client.get(f"/api/exchanges/{exchange}").raise_for_status().json()
        return found if found["state"] == state else None

    return wait_until(look, wait, f"{state} of exchange {exchange}")


def test_disable_answers_what_waits_spares_what_runs_and_enable_lets_the_next_run_s7_s8(hub, asker, tmp_path):
    echo, delta = asker("walker-echo"), asker("walker-delta")
    with hub.client() as admin, enrolled(hub, "walk-alder", tmp_path) as runner:
        admin.put("/api/agents/walk-alder/engram", json={"text": "Be brief."}).raise_for_status()
        process = runner.start()
        first = ask(echo, "walk-alder", "what runs here?", wait=30)
        assert (first["state"], first["outcome"], first["model_invoked"]) == ("answered", "answered", True)
        told = {"engram": "Be brief.", "asked": "what runs here?", "by": "walker-echo", "before": []}
        assert json.loads(first["answer"]) == told

        long = ask(echo, "walk-alder", "wait for me")["exchange"]
        became(echo, long, "running")
        waiting = [ask(delta, "walk-alder", "second"), ask(echo, "walk-alder", "third")]
        assert [each["position"] for each in waiting] == [2, 3] and all(each["reachable"] for each in waiting)
        agent = wait_until(
            lambda: (found := admin.get("/api/agents/walk-alder").json())["task"] == f"exchange {long}" and found,
            what="the beat that tells the work",
        )
        assert (agent["presence"], agent["activity"]["value"]) == ("live", "working")

        off = admin.post("/api/agents/walk-alder/disable", json={"reason": "new disks"}).raise_for_status()
        assert off.json()["enabled"] is False
        for client, each in zip((delta, echo), waiting, strict=True):
            found = client.get(f"/api/exchanges/{each['exchange']}").json()
            assert (found["outcome"], found["model_invoked"], found["disabled"]["reason"]) == (
                "disabled",
                False,
                "new disks",
            )
        begun = time.monotonic()
        new = ask(delta, "walk-alder", "are you there?", wait=30)
        assert (new["outcome"], new["model_invoked"], new["disabled"]["by"]) == ("disabled", False, "admin")
        assert time.monotonic() - begun < 5, "it is not waited for"
        assert echo.get(f"/api/exchanges/{long}").json()["state"] == "running"
        runner.open_gate()
        assert became(echo, long, "answered")["outcome"] == "answered"

        admin.post("/api/agents/walk-alder/enable").raise_for_status()
        process.terminate()  # nothing of the conversation is the process's own
        assert process.wait(20) == 0
        runner.start()
        last = json.loads(ask(delta, "walk-alder", "and now?", wait=30)["answer"])
        assert last["before"][:2] == ["what runs here?", "wait for me"]
        record = admin.get("/api/nodes/walk-alder/record").raise_for_status().json()["exchanges"]
    assert [(each["caller"], each["outcome"]) for each in record] == [
        ("walker-echo", "answered"),
        ("walker-echo", "answered"),
        ("walker-delta", "disabled"),
        ("walker-echo", "disabled"),
        ("walker-delta", "disabled"),
        ("walker-delta", "answered"),
    ]


def test_a_command_and_a_runner_that_die_fail_what_they_ran_and_the_next_starts_r150(hub, asker, tmp_path):
    echo = asker("walker-fox")
    with enrolled(hub, "walk-birch", tmp_path) as runner:
        process = runner.start("--lease", "3s")
        died = ask(echo, "walk-birch", "die", wait=30)
        assert (died["outcome"], died["error"]) == ("failed", "it was ended by SIGKILL")
        left = ask(echo, "walk-birch", "wait for ever")["exchange"]
        next_one = ask(echo, "walk-birch", "still there?")["exchange"]
        became(echo, left, "running")
        process.kill()
        process.wait(10)
        runner.start()
        assert became(echo, next_one, "answered")["outcome"] == "answered"
        lost = became(echo, left, "failed")
        assert "did not answer before its lease ended" in lost["error"]
