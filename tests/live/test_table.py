"""What one changed row does to the table of an open page, in every order it can be listed in."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest

from roster import queries
from roster.live.feed import Rendered
from roster.live.table import Table

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


def row(slug: str, minutes: int = 0, **over):
    """A row of the id ``slug``, last seen ``minutes`` before noon; its key is the number in its id."""
    pk = int("".join(filter(str.isdigit, slug)) or 0)
    given = {"id": slug, "pk": pk, "dom_id": f"agent-{pk}", "display_name": "", "lifecycle": "active", "listed": True,
             "enabled": True, "mode": "async", "home_node": None, "attention": "none",
             "presence": SimpleNamespace(word="live"), "last_seen": NOON - timedelta(minutes=minutes)}  # fmt: skip
    return SimpleNamespace(**given | over)


def table(rows, following=None, **asked):
    selection = queries.Selection(**asked)
    listed = sorted(filter(selection.matches, rows), key=selection.order.key)
    return Table(selection, queries.Page(listed, following, 1, 1))


def step(shown: Table, changed) -> tuple[str, str] | None:
    """Target and kind of the step that ``changed`` causes, or None."""
    said = shown.step(Rendered(changed, "<tr>")).split('"')
    return (said[1], said[3]) if len(said) > 1 else None


def test_by_id_a_row_comes_where_it_belongs_changes_there_and_leaves():
    shown = table([row("a1"), row("c3")])
    assert step(shown, row("b2")) == ("#agent-1", "afterend")
    assert step(shown, row("0-4")) == ("#rows", "afterbegin")
    assert step(shown, row("b2", 3)) == ("#agent-2", "outerMorph")
    assert step(shown, row("b2", listed=False)) == ("#agent-2", "delete")
    assert step(shown, row("b2", listed=False)) is None
    assert step(shown, row("b2")) == ("#agent-1", "afterend")
    assert shown.agents() == {1, 2, 3, 4}


def test_a_member_that_entered_the_registry_takes_the_place_of_its_profiles_row():
    shown = table([row("a1"), row("b2", dom_id="profile-9")])
    assert shown.agents() == {1}
    assert step(shown, row("b2")) == ("#profile-9", "outerHTML")
    assert step(shown, row("b2")) == ("#agent-2", "outerMorph")
    assert shown.agents() == {1, 2}


@pytest.mark.parametrize(
    ("asked", "slug", "belongs"),
    [
        ({}, "d4", False),  # behind the page's last row
        ({}, "b2", True),
        ({"after": "a1"}, "a0", False),
        ({"after": "a1"}, "a11", True),
    ],
)
def test_what_belongs_to_another_page_stays_away(asked, slug, belongs):
    shown = table([row("a5"), row("c3")], following="c3", **asked)
    assert (step(shown, row(slug)) is not None) is belongs


@pytest.mark.parametrize(("sort", "follows"), [("seen", "#agent-2"), ("-seen", "#agent-1")])
def test_by_last_seen_a_row_keeps_its_place_while_it_changes_and_a_new_one_comes_where_it_belongs(sort, follows):
    """Ten and five minutes ago; the older one beats, which would take it to the other end."""
    shown = table([row("a1", 5), row("b2", 10)], sort=sort)
    assert step(shown, row("b2", 0)) == ("#agent-2", "outerMorph")
    assert step(shown, row("c3", 7)) == (follows, "afterend")
    assert step(shown, row("d4", 0, last_seen=None)) == ("#agent-1" if sort == "seen" else "#agent-2", "afterend")
    assert step(shown, row("b2", listed=False)) == ("#agent-2", "delete")


def test_a_message_of_bare_times_names_rows_on_show_only():
    shown = table([row("a1"), row("b2")], following="b2")
    assert shown.among({"agent-1": "x", "agent-7": "y"}) == {"agent-1": "x"}
