"""What a look into an inbox reads: what is pending, and not all that ever was."""

from __future__ import annotations

import pytest
from django.db import connection

from inbox import queries, rules
from roster.models import Agent
from tests import make

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL chooses by how many rows there are"),
]


@pytest.mark.parametrize("state", [queries.PENDING, rules.WAITING, rules.DEAD])
def test_a_peek_finds_the_pending_by_their_state_and_not_along_all_old_mail(state, now):
    """An index in the order of the numbers would spare a sort and cost the whole inbox."""
    make.agent("echo", now)
    asked = []

    def note(execute, sql, params, *rest):
        asked.append((sql, params))
        return execute(sql, params, *rest)

    with connection.execute_wrapper(note):
        queries.peek(Agent.objects.get(slug="echo"), now, state=state)
    (listed,) = [each for each in asked if "addressed_as" in each[0]]
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN QUERY PLAN {listed[0]}", listed[1])
        plan = " ".join(row[-1] for row in cursor.fetchall())
    assert "inbox_delivery USING INDEX delivery_box (recipient_id=? AND state=?" in plan, plan
