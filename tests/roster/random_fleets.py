"""Random rows for the generated tests: any mix of facts, also such as the constraints would refuse."""

from __future__ import annotations

from contextlib import contextmanager
from datetime import datetime, timedelta

from django.db import connection, transaction
from hypothesis import strategies as st

from roster import directory, glance, states
from roster.models import Agent, Node, Profile

# Offsets in seconds from the moment of the look: the deadline itself, a microsecond beside it, and anything.
OFFSETS = st.sampled_from([0, 1e-6, -1e-6, 60, -60]) | st.integers(-(10**6), 10**6)
SECONDS = st.sampled_from([5, 60, 1800, 3600, states.LONGEST])
BAD_SECONDS = st.sampled_from([0, -5, 4, states.LONGEST + 1, 10**12])
MODES = st.sampled_from(states.MODES)
TIMES = ("evidence_at", "deadline", "signed_off_at", "last_seen", "heartbeat_at")


@st.composite
def agents(draw, broken: bool) -> dict:
    """The columns of one agent row, its times as offsets."""
    evidence = draw(st.one_of(OFFSETS, OFFSETS, st.none()))
    seconds = SECONDS | BAD_SECONDS if broken else SECONDS
    return {
        "liveness_mode": draw(MODES | st.just("weird") if broken else MODES),
        "expected_interval": draw(seconds),
        "ttl": draw(seconds),
        "evidence_at": evidence,
        "last_seen": evidence,
        "last_seen_source": "" if evidence is None else draw(st.sampled_from(["heartbeat", "own_call"])),
        "heartbeat_at": draw(st.none() | OFFSETS),
        "deadline": draw(st.none() | OFFSETS if broken or evidence is None else OFFSETS),
        "signed_off_at": draw(st.one_of(st.none(), st.none(), OFFSETS, st.just(evidence))),
        "status": draw(
            st.sampled_from(
                ["", "idle", "busy", "error", " ERROR ", "error: disk", "working: the 50% job", "compiling"]
            )
        ),
        "task": draw(st.none() | st.just("the 50% job")),
        "lifecycle": draw(st.sampled_from(["active", "active", "draining", "retired"])),
        "enabled": draw(st.booleans()),
        "display_name": draw(st.sampled_from(["", "", "Echo", "50% done_"])),
        "recorded": draw(st.sampled_from(states.PRESENCES)),
        "at_node": draw(st.booleans()),
    }


@st.composite
def profiles(draw) -> list[dict]:
    """Profiles: some belong to an agent row, some stand alone."""
    slugs = st.sampled_from(["a-0", "a-0", "a-1", "p-1"])
    columns = st.fixed_dictionaries({
        "slug": slugs,
        "title": st.sampled_from(["", "Echo the Second", "Scribe"]),
        "liveness_mode": st.none() | MODES,
        "parse_error": st.sampled_from(["", "line 3: what is this?"]),
    })  # fmt: skip
    return draw(st.lists(columns, max_size=4, unique_by=lambda each: each["slug"]))


def fleets(broken: bool = False):
    return st.tuples(st.lists(agents(broken), min_size=1, max_size=5), profiles())


@contextmanager
def stored(fleet: tuple[list[dict], list[dict]], now: datetime):
    """The fleet in the database as seen from ``now``, written past services and constraints; gone afterwards."""
    with transaction.atomic():
        _write(*fleet, now)
        directory._kept = glance._kept = None
        yield
        transaction.set_rollback(True)


def _write(members: list[dict], written: list[dict], now: datetime) -> None:
    node = Node.objects.create(slug="alder")
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("PRAGMA ignore_check_constraints = ON")
        try:
            for i, columns in enumerate(members):
                rest = {name: value for name, value in columns.items() if name not in (*TIMES, "at_node")}
                times = {name: _moment(columns[name], now) for name in TIMES}
                home = node if columns["at_node"] else None
                Agent.objects.create(slug=f"a-{i}", home_node=home, **times, **rest)
        finally:
            if connection.vendor == "sqlite":
                cursor.execute("PRAGMA ignore_check_constraints = OFF")
    Profile.objects.bulk_create(Profile(**columns) for columns in written)


def _moment(offset: float | None, now: datetime) -> datetime | None:
    return None if offset is None else now + timedelta(seconds=offset)
