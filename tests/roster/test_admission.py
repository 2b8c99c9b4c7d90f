"""Whether an agent may be given work, and whether a node can be reached: the rules themselves."""

from __future__ import annotations

from datetime import timedelta
from types import SimpleNamespace

import pytest
from django.db import connection

from roster.contact import unreachable_since
from roster.employment import admission
from tests import make

from .fleet import TICK, seconds
from .staff import sweep

OPEN = {"lifecycle": "active", "enabled": True, "workspace_state": "ready", "max_sessions": 2}
# what the agent is, how many of its prompts run; then the word, and whether prompts queue, prompts run, mail is given
ADMITS = [
    ({}, 0, "open", True, True, True),
    ({"workspace_state": ""}, 1, "open", True, True, True),
    ({}, 2, "at_capacity", True, False, True),
    ({"max_sessions": 1}, 2, "at_capacity", True, False, True),  # lowered while two ran
    ({"lifecycle": "hired", "workspace_state": "wanted"}, 0, "unready", True, False, True),
    ({"workspace_state": "failed"}, 0, "unready", True, False, True),
    ({"lifecycle": "draining"}, 1, "draining", False, True, True),
    ({"lifecycle": "draining"}, 2, "draining", False, False, True),
    ({"lifecycle": "draining", "workspace_state": "wanted"}, 0, "draining", False, False, True),
    ({"enabled": False}, 0, "disabled", False, False, False),
    ({"enabled": False, "lifecycle": "draining"}, 0, "disabled", False, False, False),
    ({"lifecycle": "retired", "enabled": False}, 0, "retired", False, False, False),
]


@pytest.mark.parametrize(("what", "running", "word", "queues", "runs", "drains"), ADMITS)
def test_who_may_be_given_work(what, running, word, queues, runs, drains):
    found = admission(SimpleNamespace(**OPEN | what), running)
    assert (found.word, found.queues, found.runs, found.drains) == (word, queues, runs, drains)


@pytest.mark.parametrize(("interval", "limit"), [(30, 90), (5, 20), (60, 180)])
def test_a_node_is_out_of_reach_after_three_intervals_and_twenty_seconds_at_least(now, interval, limit):
    called = now - timedelta(seconds=limit)
    assert unreachable_since(called, interval, now) is None
    assert unreachable_since(called - TICK, interval, now) == called - TICK
    assert unreachable_since(None, interval, now) is None and unreachable_since(now + seconds(5), interval, now) is None


@pytest.mark.django_db
@pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL chooses by how many rows there are")
def test_the_employment_sweep_looks_at_no_row_that_is_not_its_own(now):
    """It comes every five seconds, whatever the size of the fleet."""
    make.agent("echo", now)
    asked = []

    def note(execute, sql, params, *rest):
        asked.append((sql, params))
        return execute(sql, params, *rest)

    with connection.execute_wrapper(note):
        sweep(now)
    found = []
    for sql, params in asked:
        if sql.startswith("SELECT") and 'FROM "roster_agent"' in sql:
            with connection.cursor() as cursor:
                cursor.execute(f"EXPLAIN QUERY PLAN {sql}", params)
                found.append(" ".join(row[-1] for row in cursor.fetchall()))
    assert len(found) >= 3 and all("INDEX agent_" in plan or "INDEX one_node_agent" in plan for plan in found), found
