"""Walk 2 of the design through the real processes: mail to a dormant agent, which drains and acks when it is back."""

from __future__ import annotations

import re
import time

import httpx
import pytest

from tests.services import wait_until

SOON = 5.0  # seconds after the end of a lease within which its mail is back (P20)


@pytest.fixture
def away(hub):
    """A registered async agent that has signed off, with a client for its calls, and somebody who writes to it."""
    with (
        hub.client(hub.register("sleeper-two", liveness_mode="async", expected_interval=60)) as sleeper,
        hub.client(hub.register("writer-two")) as writer,
    ):
        sleeper.post("/api/agents/sleeper-two/sign-off", json={}).raise_for_status()
        yield sleeper, writer


def row(hub) -> str:
    """The row of the agent on the roster page."""
    with httpx.Client(base_url=hub.url, follow_redirects=True) as person:
        person.get(hub.command("sign-in", "admin"))
        return re.search(r'<tr id="agent-\d+">.*?</tr>', person.get("/?q=sleeper-two").text, re.DOTALL)[0]


def box(verb: str, client: httpx.Client, **body) -> dict:
    return client.post(f"/api/agents/sleeper-two/inbox/{verb}", json=body).raise_for_status().json()


def test_mail_to_a_dormant_agent_waits_is_leased_comes_back_by_the_sweep_and_is_acked_P20(hub, away):
    sleeper, writer = away
    sent = writer.post("/api/messages", json={"to": "sleeper-two", "body": "Notes, please."}).raise_for_status().json()
    (line,) = sent["deliveries"]
    assert (line["state"], line["recipient_presence"]) == ("waiting", "dormant")
    assert "dormant since" in line["note"]
    assert re.search(r"c-mail.*?1<span class=\"vh\"> waiting", row(hub), re.DOTALL)

    assert sleeper.post("/api/heartbeat", json={"status": "busy"}).json()["waiting"] == 1
    taken = box("drain", sleeper, lease_seconds=1)
    assert [each["body"] for each in taken["messages"]] == ["Notes, please."] and taken["waiting"] == 0
    ended = time.monotonic() + 1
    # nobody drains or peeks meanwhile: what brings it back is beat, the worker and the sweep
    wait_until(lambda: sleeper.get("/api/agents/sleeper-two").json()["waiting"] == 1, 30, "the lapsed mail")
    assert time.monotonic() - ended <= SOON

    late = sleeper.post("/api/agents/sleeper-two/inbox/ack", json={"lease": taken["lease"], "seqs": [sent["seq"]]})
    assert (late.status_code, late.json()["error"]["code"]) == (409, "lease_expired")
    again = box("drain", sleeper)
    assert [each["delivery_count"] for each in again["messages"]] == [2]
    acked = box("ack", sleeper, lease=again["lease"], seqs=[sent["seq"]])
    assert acked == {"results": [{"seq": sent["seq"], "result": "acked"}], "waiting": 0}
    assert "waiting" not in re.search(r'<td class="c-mail".*?</td>', row(hub), re.DOTALL)[0]
    assert writer.get(f"/api/messages/{sent['seq']}").json()["deliveries"][0]["state"] == "acked"
