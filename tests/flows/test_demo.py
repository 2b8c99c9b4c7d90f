"""`manage.py demo`: a fleet to look at, that says it is one, comes over the real API and leaves again."""

from __future__ import annotations

import subprocess
import sys

from tests import hubs
from tests.services import wait_until


def fleet(hub) -> list[dict]:
    """The demo's agents that are on the roster now."""
    with hub.client() as client:
        return client.get("/api/agents", params={"q": "demo-", "limit": 500}).json()["agents"]


def test_the_demo_moves_the_roster_is_labelled_and_signs_off_again(hub):
    command = [sys.executable, "manage.py", "demo"]
    env = hubs.environment(hub.data)
    running = subprocess.Popen(command, cwd=hubs.ROOT, env=env, stdout=subprocess.PIPE, text=True)
    try:
        wait_until(lambda: len(fleet(hub)) == 6, 20, "the demo's fleet")
        for each in fleet(hub):
            assert (each["liveness_mode"], each["presence"], each["meta"]) == ("ephemeral", "live", {"demo": True})
        wait_until(lambda: any(each["status"] != "idle" for each in fleet(hub)), 20, "a heartbeat with news")
    finally:
        running.terminate()
        said, _ = running.communicate(timeout=20)
    assert running.returncode == 0 and "signed off" in said
    assert fleet(hub) == []
