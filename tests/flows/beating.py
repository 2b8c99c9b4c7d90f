"""Clients that send many heartbeats, try again as real ones do, and remember what was acknowledged."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial

import httpx

from tests.flows.outside import rows
from tests.hubs import Hub
from tests.services import wait_until

GIVE_UP = 40.0  # seconds a client keeps trying one heartbeat


@dataclass
class Told:
    """What came of a run of heartbeats: the tasks that were answered 2xx, and every other answer."""

    kept: list[str] = field(default_factory=list)
    refused: list[int] = field(default_factory=list)
    broken: int = 0


def keep_beating(hub: Hub, tokens: dict[str, str], count: int, meanwhile=lambda: None, tries: float = GIVE_UP) -> Told:
    """Sends ``count`` heartbeats of each agent in ``tokens`` (id to token), all agents at once, each with a task of its
    own; runs ``meanwhile`` once a third of them was acknowledged."""
    told = Told()
    with ThreadPoolExecutor(len(tokens) + 1) as pool:
        clients = [pool.submit(_client, hub.url, slug, token, count, told, tries) for slug, token in tokens.items()]
        third = len(tokens) * count / 3
        wait_until(lambda: len(told.kept) >= third, tries, "a third of the heartbeats")
        meanwhile()
        for each in clients:
            each.result()
    return told


def _client(url: str, slug: str, token: str, count: int, told: Told, tries: float) -> None:
    with httpx.Client(base_url=url, headers={"Authorization": f"Bearer {token}"}, timeout=25) as client:
        for n in range(count):
            task = f"{slug} {n} {time.monotonic_ns()}"
            wait_until(partial(_sent, client, task, told), tries, "a heartbeat that is taken")


def _sent(client: httpx.Client, task: str, told: Told) -> bool:
    try:
        answer = client.post("/api/heartbeat", json={"status": "working", "task": task})
    except httpx.TransportError:
        told.broken += 1
        return False
    if answer.is_success:
        told.kept.append(task)
        return True
    told.refused.append(answer.status_code)
    return False


def missing(hub: Hub, told: Told) -> set[str]:
    """The acknowledged tasks that no event remembers."""
    found = rows(hub, "select json_extract(after, '$.task') from roster_event where kind = 'activity'")
    return set(told.kept) - {task for (task,) in found}
