"""The large form of the hub: PostgreSQL and a Valkey with a password over TCP; two addresses are all that differs."""

from __future__ import annotations

import re
import subprocess
import sys

import httpx
import pytest

from roster.plans import PERIODS
from tests import hubs
from tests.scaled.pages import all_show, open_pages, until
from tests.services import wait_until

pytestmark = pytest.mark.postgres


def test_the_core_tests_pass_on_postgresql(scaled, soak):
    """The small set, on the other database: a run of its own, and one that ran something. Full counts with --soak."""
    command = [sys.executable, "-m", "pytest", "-m", "core", "-q", "tests", *["--soak"] * soak]
    ran = subprocess.run(command, cwd=hubs.ROOT, env=scaled.env, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout[-6000:]
    assert int(re.search(r"(\d+) passed", ran.stdout)[1]) > 0


def test_heartbeat_page_and_sweep_work_scaled_out(pair):
    """An agent that left returns through the other web process; all sweeps run; a person sees it on a page."""
    token = pair.hub.register(pair.one, "tall")
    with pair.one.client(token) as one, pair.two.client(token) as two:
        assert one.post("/api/agents/tall/sign-off", json={}).json()["presence"] == "dormant"
        beaten = two.post("/api/heartbeat", json={"status": "working: on the large one"})
        assert beaten.json()["presence"] == "live" and beaten.json()["rejoined"]["was"] == "dormant"
        swept = r'agora_sweep_age_seconds\{sweep="(\w+)"\}'
        wait_until(lambda: len(set(re.findall(swept, one.get("/metrics").text))) == len(PERIODS), 30, "each sweep")
        wait_until(lambda: {each.get("/readyz").status_code for each in (one, two)} == {200}, 30, "/readyz")
    assert "on the large one" in httpx.get(f"{pair.two.url}/?q=tall", headers={"Cookie": pair.cookie}).text


async def test_what_changes_through_one_web_process_is_on_the_pages_of_the_other(pair):
    token = pair.hub.register(pair.one, "crossing")
    watched = [(web, pair.cookie, "q=crossing") for web in (pair.one, pair.two)]
    async with open_pages(*watched) as pages:
        for n, web in enumerate([pair.one, pair.two]):
            with web.client(token) as client:
                client.post("/api/heartbeat", json={"status": f"working: through number {n}"})
            await all_show(pages, f"through number {n}")


async def test_an_edge_that_the_worker_records_is_on_the_pages_of_both_web_processes(pair):
    """The window of two agents is ended in the database, so that the sweep finds them due now."""
    for slug in ("swept-a", "swept-b"):
        pair.hub.register(pair.one, slug)
    async with open_pages((pair.one, pair.cookie, "q=swept-"), (pair.two, pair.cookie, "q=swept-")) as pages:
        pair.hub.rows(
            "update roster_agent set deadline = now() - interval '1 s', check_after = now() - interval '1 s' "
            "where starts_with(slug, 'swept-')"
        )
        pair.hub.task("dormancy_and_silence")
        gone = {"swept-a": "dormant", "swept-b": "dormant"}
        await until(lambda: all(page.words == gone for page in pages), what="the edges on both pages")
        edges = (
            "select slug from roster_event e join roster_agent a on a.id = e.agent_id "
            "where starts_with(slug, 'swept-') and e.kind = 'presence' and e.after = '\"dormant\"' order by slug"
        )
        await until(lambda: pair.hub.rows(edges) == [("swept-a",), ("swept-b",)], what="each edge, recorded once")
