"""The roster sorted by when agents were last seen: both ways, page after page, and who was never seen comes last."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from roster import queries
from roster.models import Agent
from tests import make

pytestmark = [pytest.mark.django_db, pytest.mark.core]


@pytest.fixture
def fleet(now):
    """Two that were seen, two hired that never were, one profile without any row."""
    for n, slug in enumerate(("old", "young")):
        make.agent(slug, now - timedelta(minutes=20 - n), liveness_mode="async")
    for slug in ("a-hired", "z-hired"):
        Agent.objects.create(slug=slug, liveness_mode="async")
    make.profile("m-member", now, liveness_mode="async")
    return now


@pytest.mark.parametrize("limit", [1, 2, 10])
@pytest.mark.parametrize(
    ("sort", "expected"),
    [
        ("", ["a-hired", "m-member", "old", "young", "z-hired"]),
        ("seen", ["old", "young", "a-hired", "m-member", "z-hired"]),
        ("-seen", ["young", "old", "a-hired", "m-member", "z-hired"]),
    ],
)
def test_who_was_never_seen_comes_last_both_ways_F070(fleet, sort, expected, limit):
    """On SQLite and, with the core set, on PostgreSQL: the two sort nulls differently when left to themselves."""
    selection, found = queries.Selection(sort=sort, limit=limit), []
    while True:
        page = queries.page(selection, fleet)
        found += [row.id for row in page.rows]
        if page.next is None:
            break
        selection = replace(selection, after=page.next)
    assert found == expected


BENT = ("~", "nonsense", "2026-13-45~x", "~old", "2026-03-02T00:00:00~x", "x~y~z")
BEYOND_ALL_YEARS = ("9999-12-31T23:59:59-12:00~x", "0001-01-01T00:00:00+12:00~x")


@pytest.mark.parametrize("cursor", BENT + BEYOND_ALL_YEARS)
@pytest.mark.parametrize("sort", ["", "seen", "-seen"])
def test_a_bent_cursor_is_an_empty_or_a_whole_page_and_no_error(fleet, sort, cursor):
    page = queries.page(queries.Selection(sort=sort, after=cursor, limit=10), fleet)
    assert len(page.rows) <= 5
