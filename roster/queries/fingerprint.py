"""What is stored of a page of the fleet and may change, as texts: while they stay the same, so does what is stored."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache

from django.db import connection
from django.db.models import TextField
from django.db.models.functions import Cast

from .lists import Selection

# ``changed`` moves with everything but a heartbeat without news and the hub's own absence: the others are theirs
MOVING = ("pk", "changed", "last_seen", "evidence_at", "deadline", "heard", "clock_skew", "waiting")
ANY_TIME = datetime(1, 2, 3, 4, 5, 6, 789, tzinfo=UTC)  # stands for the moment in a statement that is kept


def fingerprint(selection: Selection, now: datetime) -> list[tuple]:
    """The moving columns of the agents that a page of ``selection`` is made of at ``now``, in its order.

    It is asked for with every list, so the statement is kept and nothing is read as more than a text.
    """
    statement, values = _statement(selection)
    adapt = connection.ops.adapt_datetimefield_value
    before, moment = adapt(ANY_TIME), adapt(now)
    with connection.cursor() as cursor:
        cursor.execute(statement, [moment if value == before else value for value in values])
        return cursor.fetchall()


@lru_cache(maxsize=64)
def _statement(selection: Selection) -> tuple[str, tuple]:
    order = selection.order
    agents = order.after(selection.agents(ANY_TIME), selection.after).order_by(*order.columns)
    texts = (Cast(name, TextField()) for name in MOVING)
    return agents.values_list(*texts)[: selection.limit + 1].query.sql_with_params()
