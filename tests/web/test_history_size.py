"""The pages of the history over a long journal: as many queries and as much work as over a short one."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from roster.models import Event
from tests import make, volume
from tests.web.test_admin_size import SLACK, grown, measured

pytestmark = pytest.mark.django_db
QUERIES = 8
EVENTS = (3_000, 25_000)


def addresses(day: str) -> list[str]:
    """Every filter alone and some together, the first page and one deep below, and the lines above."""
    ids = Event.objects.order_by("pk").values_list("pk", flat=True)
    one, below, newest = volume.slug(120), ids[1_000], ids.last()
    asked = ["", f"agent={one}", "kind=presence", "kind=role_given", "kind=acts", "by=ada", "by=nobody", f"at={below}",
             f"agent={one}&kind=presence", f"agent={one}&by=ada", f"from={day}&to={day}", f"from={day}",
             f"to={day}&at={below}", f"kind=acts&to={day}", f"agent={one}&from={day}"]  # fmt: skip
    lines = [f"after={newest - 5}&from={day}", f"after={newest - 5}&kind=presence", f"after={newest - 5}&agent={one}"]
    pages = [f"/events/?{each}" for each in asked] + [f"/events/newer/?{each}" for each in lines]
    return [*pages, "/anomalies/", "/anomalies/newer/?newest=0&open=0"]


def costs(client, day: str) -> list[tuple[str, int, int]]:
    """Each page with its queries and instructions."""
    return [(page, *cost) for page, cost in measured(client, addresses(day)).items()]


@pytest.mark.skipif(connection.vendor != "sqlite", reason="counts SQLite's instructions")
def test_a_journal_eight_times_as_long_costs_no_page_of_the_history_more(client):
    client.force_login(make.person("vera"))
    now = timezone.now()
    day = f"{now - timedelta(days=50):%Y-%m-%d}"
    volume.members(range(100), now)
    volume.acts(400, now - timedelta(days=60))
    grown(range(100, 200), EVENTS[0], now - timedelta(days=50))
    before = costs(client, day)
    grown(range(200, 300), EVENTS[1] - EVENTS[0], now - timedelta(days=44))
    after = costs(client, day)
    assert [page for page, queries, _ in after if queries > QUERIES] == []
    assert [(was, now) for was, now in zip(before, after, strict=True) if now[2] > was[2] + SLACK] == []
