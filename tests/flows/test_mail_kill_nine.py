"""kill -9 of the embedded hub's processes under keyed sends: what was acknowledged is in the inbox, once (P18, P28)."""

from __future__ import annotations

import random
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial

import httpx
import pytest

from tests.flows.outside import killed_and_back, ready
from tests.services import wait_until

GIVE_UP = 40.0  # seconds a client keeps trying one letter
SENDERS = 8


@dataclass
class Posted:
    """What came of a run of sends: the number each letter was answered with, by its body, and every other answer."""

    seqs: dict[str, int] = field(default_factory=dict)
    refused: list[int] = field(default_factory=list)
    broken: int = 0


def keep_posting(hub, tokens: list[str], to: str, count: int, kill) -> Posted:
    """Sends ``count`` letters of each sender at once, each under a key of its own, and each again until it is answered;
    runs ``kill`` once a random share of them was."""
    posted, mark = Posted(), f"{to} {time.monotonic_ns()}"
    share = random.randint(1, len(tokens) * count * 3 // 4)
    with ThreadPoolExecutor(len(tokens)) as pool:
        clients = [
            pool.submit(_client, hub.url, token, to, [f"{mark} {n} {i}" for i in range(count)], posted)
            for n, token in enumerate(tokens)
        ]
        wait_until(lambda: len(posted.seqs) >= share, GIVE_UP, f"{share} sends")
        kill()
        for each in clients:
            each.result()
    assert len(posted.seqs) == len(tokens) * count, posted
    return posted


def _client(url: str, token: str, to: str, bodies: list[str], posted: Posted) -> None:
    with httpx.Client(base_url=url, headers={"Authorization": f"Bearer {token}"}, timeout=25) as client:
        for body in bodies:
            wait_until(partial(_posted, client, to, body, posted), GIVE_UP, "a letter that is taken")


def _posted(client: httpx.Client, to: str, body: str, posted: Posted) -> bool:
    try:
        answer = _post(client, to, body)
    except httpx.TransportError:
        posted.broken += 1
        return False
    if answer.status_code == 201:
        posted.seqs[body] = answer.json()["seq"]
        return True
    posted.refused.append(answer.status_code)
    return False


def _post(client: httpx.Client, to: str, body: str, key: str | None = None) -> httpx.Response:
    headers = {"Idempotency-Key": key or body.replace(" ", "-")}
    return client.post("/api/messages", json={"to": to, "body": body}, headers=headers)


def emptied(client: httpx.Client, slug: str) -> list[tuple[int, str]]:
    """Drains and acks until nothing is left; what it got, as (number, body)."""
    got = []
    while messages := _drained(client, slug):
        got += [(each["seq"], each["body"]) for each in messages]
    return got


def _drained(client: httpx.Client, slug: str) -> list[dict]:
    told = client.post(f"/api/agents/{slug}/inbox/drain", json={"limit": 500}).raise_for_status().json()
    if told["messages"]:
        seqs = [each["seq"] for each in told["messages"]]
        answer = client.post(f"/api/agents/{slug}/inbox/ack", json={"lease": told["lease"], "seqs": seqs})
        assert {each["result"] for each in answer.raise_for_status().json()["results"]} == {"acked"}
    return told["messages"]


@pytest.mark.parametrize(
    "name", ["web", *(pytest.param(name, marks=pytest.mark.soak) for name in ("valkey", "worker"))]
)
def test_every_acknowledged_send_is_in_the_inbox_once_whatever_is_killed_P18(sturdy, name, soak):
    """Eight clients that try again, killed at a random point, then all is drained and acked: for web 20 rounds of 1,000
    sends with --soak, one of 200 otherwise; one of 200 for the others."""
    slug = f"mailed-{name}"
    reader = sturdy.register(slug, liveness_mode="async")
    tokens = [sturdy.register(f"{slug}-by-{n}", liveness_mode="async") for n in range(SENDERS)]
    rounds, count = (20, 125) if soak and name == "web" else (1, 25)
    for _ in range(rounds):
        posted = keep_posting(sturdy, tokens, slug, count, lambda: killed_and_back(sturdy, name))
        assert set(posted.refused) <= {503}
        if name == "web":
            assert posted.broken > 0, "nobody was hurt"
        else:
            assert posted.broken == 0 and posted.refused == []  # mail needs the web process and the database only
        with sturdy.client(reader) as client:
            got = emptied(client, slug)
            assert Counter(body for _, body in got) == Counter(posted.seqs.keys())
            assert dict((body, seq) for seq, body in got) == posted.seqs
            assert [seq for seq, _ in got] == sorted(posted.seqs.values())
            peeked = client.get(f"/api/agents/{slug}/inbox").json()
            assert (peeked["waiting"], peeked["leased"], peeked["messages"]) == (0, 0, [])
    wait_until(lambda: ready(sturdy), 30, "/readyz")
    if name == "web":
        _keys_are_remembered(sturdy, slug, tokens[0], posted)


def _keys_are_remembered(hub, slug: str, token: str, posted: Posted) -> None:
    """By the process that came after, too (P28): the same letter gets the same answer, another one is refused."""
    mine = [body for body in posted.seqs if body.split()[2] == "0"][:5]
    with hub.client(token) as client:
        for body in mine:
            again = _post(client, slug, body)
            assert (again.status_code, again.json()["seq"]) == (201, posted.seqs[body])
            other = _post(client, slug, "another letter", key=body.replace(" ", "-"))
            assert (other.status_code, other.json()["error"]["code"]) == (422, "key_reused")
