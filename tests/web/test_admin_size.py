"""The admin over a long journal: as many queries and as much work as over a short one (P52, F110).

Work is counted in instructions of SQLite's virtual machine, so that no clock and no other load is in it; seconds and
PostgreSQL are the benchmark's (``tests/bench/bench_admin.py``).
"""

from __future__ import annotations

from contextlib import contextmanager
from datetime import datetime, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from tests import admin_pages, make, volume

pytestmark = pytest.mark.django_db
AGENTS, EVENTS = (1_000, 10_000), (20_000, 200_000)
QUERIES = 12
GRAIN = 100  # instructions between two counts
SLACK = 10_000  # instructions; a pass over the longer journal takes half a million
A_MEMBER = 60  # instructions that a list may spend on each member of the fleet: one look, not two


@contextmanager
def worked():
    """Counts the instructions of all statements inside."""
    counted = [0]

    def note():
        counted[0] += GRAIN

    connection.connection.set_progress_handler(note, GRAIN)
    try:
        yield counted
    finally:
        connection.connection.set_progress_handler(None, 0)


@pytest.fixture
def boss(client):
    client.force_login(make.person("boss", "admin"))
    return client


def grown(agents: range, edges: int, since: datetime) -> None:
    """More agents and edges of theirs, 20 s apart; with no act among them the acts are ever longer ago."""
    volume.members(agents, since)
    volume.edges(edges, agents, since, timedelta(seconds=20))


def measured(boss, addresses: list[str]) -> dict[str, tuple[int, int]]:
    """Queries and instructions of each page."""
    found = {}
    for address in addresses:
        boss.get(address)  # what a process keeps is kept by now
        with CaptureQueriesContext(connection) as queries, worked() as steps:
            answer = boss.get(address)
        assert answer.status_code == 200, address
        found[address] = (len(queries), steps[0])
    return found


@pytest.mark.skipif(connection.vendor != "sqlite", reason="counts SQLite's instructions")
def test_a_journal_ten_times_as_long_costs_no_page_of_the_admin_more_P52_F110(boss):
    now = timezone.now()
    volume.members(range(100), now)
    volume.acts(400, now - timedelta(days=60))
    grown(range(100, AGENTS[0]), EVENTS[0], now - timedelta(days=50))
    addresses = admin_pages.of_history()
    before = measured(boss, addresses)
    grown(range(*AGENTS), EVENTS[1] - EVENTS[0], now - timedelta(days=44))
    after, members = measured(boss, addresses), measured(boss, admin_pages.of_members())
    assert {page: count for page, (count, _) in (after | members).items() if count > QUERIES} == {}
    dearer = {page: (before[page][1], steps) for page, (_, steps) in after.items() if steps > before[page][1] + SLACK}
    assert dearer == {}
    assert {page: steps for page, (_, steps) in members.items() if steps > A_MEMBER * AGENTS[1]} == {}
