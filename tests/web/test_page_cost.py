"""What the roster page asks of the database, whatever the size of the fleet (P53)."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from roster import directory, glance
from roster.models import Agent, Node, Profile
from tests import make

pytestmark = pytest.mark.django_db
MOST, MOST_TO_COUNT = 8, 13
WINDOW = timedelta(hours=1)
PATHS = ("/", "/?q=agent&sort=-seen", "/?presence=silent&mode=always-on&node=alder&retired=1")


@pytest.fixture
def client():
    found = Client()
    found.force_login(make.person("vera", "viewer"))
    return found


def fleet(size: int, have: int = 0) -> None:
    """A fleet in which everything occurs: silent ones, urgent ones, members without a row, others long gone."""
    now, node = timezone.now(), Node.objects.get_or_create(slug="alder")[0]
    kinds = (
        {"liveness_mode": "async", "status": "error", "deadline": now + WINDOW},
        {"liveness_mode": "always-on", "status": "idle", "deadline": now - WINDOW},
        {"liveness_mode": "ephemeral", "status": "idle", "deadline": now - WINDOW},
        {"liveness_mode": "async", "status": "working", "deadline": now + WINDOW, "home_node": node},
    )
    numbers = range(have, size)
    Agent.objects.bulk_create(
        Agent(slug=f"agent-{n:03}", last_seen=now, evidence_at=now, **kinds[n % 4]) for n in numbers
    )
    Profile.objects.bulk_create(Profile(slug=f"member-{n:03}", liveness_mode="async") for n in numbers if n % 5 == 0)


def asked(client, path: str) -> int:
    with CaptureQueriesContext(connection) as queries:
        assert client.get(path).status_code == 200
    return len(queries)


def test_the_roster_page_asks_the_same_few_queries_of_ten_and_of_five_hundred_agents_P53(client, monkeypatch):
    """Once while what stands above the rows is at hand, and once while it is counted anew, which is every five seconds
    at most and for everybody who looks. The promise's eight are the page's own, the count has a bound of its own."""
    counts = {}
    for size in (10, 500):
        monkeypatch.setattr(glance, "_kept", None)
        fleet(size, Agent.objects.filter(slug__startswith="agent-").count())
        for path in PATHS:
            monkeypatch.setattr(directory, "_kept", None)
            client.get(path)  # the profiles of a new version are read once a process
            warm = asked(client, path)
            monkeypatch.setattr(glance, "_kept", None)
            counts[size, path] = (warm, asked(client, path))
    for path in PATHS:
        assert counts[10, path] == counts[500, path], path
        page, anew = counts[500, path]
        assert page <= MOST and anew <= MOST + MOST_TO_COUNT, (path, counts[500, path])
