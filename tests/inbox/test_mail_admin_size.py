"""The admin over much mail: as many queries and as much work as over little (P52, F110).

Work is counted in instructions of SQLite, as in ``tests/web/test_admin_size.py``; two million messages, seconds and
PostgreSQL are the benchmark's.
"""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from roster.admin import paging
from tests import admin_pages, make, volume
from tests.web.test_admin_size import QUERIES, SLACK, measured

pytestmark = pytest.mark.django_db
FLEET = range(100)
LETTERS = 1_000, 10_000
ONE_INBOX = ("of=agent-000000", "to=agent-000000")  # it holds a tenth of all mail
A_LETTER = 40  # instructions that a list may spend on each letter of the one inbox that it shows: one look, not two


@pytest.mark.skipif(connection.vendor != "sqlite", reason="counts SQLite's instructions")
def test_ten_times_the_mail_costs_no_page_of_the_admin_more_p52_f110(client, monkeypatch):
    monkeypatch.setattr(paging, "REACH", 150)
    now = timezone.now()
    client.force_login(make.person("boss", "admin"))
    volume.members(FLEET, now)
    volume.post(
        LETTERS[0], FLEET, now - timedelta(days=40)
    )  # whoever looks for what waits there passes all that follows
    addresses = admin_pages.of_mail()
    before = measured(client, addresses)
    volume.mail(LETTERS[1] - LETTERS[0], FLEET, now - timedelta(days=40), timedelta(minutes=1))
    after = measured(client, addresses)
    assert {page: count for page, (count, _) in after.items() if count > QUERIES} == {}
    dearer = {page: (before[page][1], steps) for page, (_, steps) in after.items() if steps > before[page][1] + SLACK}
    of_one = {page: cost for page, cost in dearer.items() if page.partition("?")[2].startswith(ONE_INBOX)}
    assert {page: cost for page, cost in dearer.items() if page not in of_one} == {}
    assert {page: steps for page, (_, steps) in of_one.items() if steps > A_LETTER * LETTERS[1] // 10} == {}
