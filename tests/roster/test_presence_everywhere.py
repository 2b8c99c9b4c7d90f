"""What is shown is right even if no sweep has run (P04): the pure function, its SQL rendering, the API, the page and
the admin say the same of random rows, also of rows that no constraint would let in."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta

import pytest
from django.contrib import admin
from django.db import connection
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from roster import directory, queries, rows, schemas, states
from roster.live import feed
from roster.models import Agent, Profile
from tests import make

from .random_fleets import fleets, stored

pytestmark = pytest.mark.django_db
BROKEN = connection.vendor == "sqlite"  # PostgreSQL lets nobody write past its constraints


def facts_of(agent: Agent) -> states.Facts:
    profile = Profile.objects.filter(slug=agent.slug).first()
    return agent.facts(profile.liveness_mode if profile else None)


def on_the_page(row: rows.Row) -> str:
    """The word in the presence cell of the row that page and socket share. That of a disabled agent stands in its
    evidence, and who is gone as well is said to be in the line itself (F132)."""
    html = feed.render([row])[0].html
    cell = re.search(r'<td class="c-presence on-(\w+)".*?<summary>(.*?)</summary>(.*?)</td>', html, re.S)
    if cell[1] != "disabled":
        return cell[1]
    word = re.search(r"<dt>presence</dt><dd>(\w+)</dd>", cell[3])[1]
    assert (", also n" in cell[2]) == (word not in ("live", "unknown"))
    return word


@pytest.mark.core
@given(fleets(broken=BROKEN))
def test_every_surface_shows_the_word_of_the_pure_function_P04(fleet):
    """Compared: states.presence, queries.presence_word (SQL), the API's agent and the page's row. There is no export
    yet. The admin has a test of its own below, since it reads the clock itself."""
    now = timezone.now()
    with stored(fleet, now):
        in_sql = dict(Agent.objects.annotate(word=queries.presence_word(now)).values_list("slug", "word"))
        for agent in Agent.objects.all():
            expected = states.presence(facts_of(agent), now).word
            row = queries.one(agent.slug, now)
            assert in_sql[agent.slug] == expected
            assert schemas.agent(row)["presence"] == expected
            assert on_the_page(row) == expected


@pytest.mark.parametrize("mode", states.MODES)
@pytest.mark.parametrize("profile", [None, *states.MODES])
@pytest.mark.parametrize("over", [-1e-6, 0, 1e-6])
def test_every_surface_turns_at_the_same_microsecond_P04(over, profile, mode, now):
    """The deadline itself and a microsecond around it, with and without a profile."""
    deadline = now - timedelta(seconds=over)
    heard = {"evidence_at": now - timedelta(hours=1), "last_seen": now - timedelta(hours=1), "deadline": deadline}
    agent = Agent.objects.create(slug="a-0", liveness_mode=mode, **heard)
    if profile:
        make.profile("a-0", now, liveness_mode=profile)
    expected = states.presence(facts_of(agent), now).word
    assert expected == "live" if over <= 0 else expected in ("silent", "dormant", "expired")
    row = queries.one("a-0", now)
    assert row.presence.word == on_the_page(row) == expected
    assert queries.Selection(presence=expected).agents(now).get().word == expected


@given(fleets(broken=BROKEN))
def test_the_admins_column_shows_the_same_word_P04(fleet):
    """The admin takes the time itself: its word is the function's at the instant before or after."""
    before = timezone.now()
    with stored(fleet, before):
        agents = admin.site.get_model_admin(Agent)
        for agent in agents.get_queryset(None):
            shown, after = agents.presence(agent), timezone.now()
            assert shown in {states.presence(facts_of(agent), moment).word for moment in (before, after)}


def mostly_any(*values: str):
    """One of ``values``, or nothing in particular: most lists are asked for with few filters at once."""
    return st.one_of(st.just(""), st.just(""), st.sampled_from(values))


SELECTIONS = st.builds(
    queries.Selection,
    presence=mostly_any(*states.PRESENCES, "disabled"),
    lifecycle=mostly_any(*states.LIFECYCLES),
    mode=mostly_any(*states.MODES),
    node=mostly_any("alder", "birch"),
    attention=mostly_any(*states.ATTENTIONS),
    retired=st.booleans(),
    sort=mostly_any("seen", "-seen"),
    q=st.sampled_from(["", "A-", "ECHO", "50%", "_", "scribe"]),
    limit=st.integers(1, 4),
)


def everybody(now) -> list[rows.Row]:
    """Each member that could be listed, one by one and without SQL."""
    entries = directory.at(directory.versions()[1])
    agents = [rows.of_agent(agent, now, entries.by_slug.get(agent.slug)) for agent in Agent.objects.all()]
    taken = {row.id for row in agents}
    alone = [entry for entry in entries.by_slug.values() if entry.slug not in taken]
    listed = [entry for entry in alone if entry.mode in states.PERSISTENT or entry.parse_error]
    return agents + [rows.of_profile(entry, now) for entry in listed]


def walked(selection: queries.Selection, now) -> list[str]:
    """The ids of a selection, page after page."""
    found, after = [], selection.after
    while True:
        page = queries.page(replace(selection, after=after), now)
        assert len(page.rows) <= selection.limit
        found += [row.id for row in page.rows]
        if page.next is None:
            return found
        after = page.next


@given(fleets(broken=BROKEN), SELECTIONS)
def test_a_selection_says_of_one_row_what_the_list_says_in_sql_P04(fleet, selection):
    """A pushed row comes and goes by ``matches``, a page by ``agents`` and ``page``: both must mean the same fleet."""
    now = timezone.now()
    with stored(fleet, now):
        belong = [row.id for row in sorted(filter(selection.matches, everybody(now)), key=selection.order.key)]
        assert walked(selection, now) == belong
        in_sql = set(selection.agents(now).values_list("slug", flat=True))
        assert in_sql == {slug for slug in belong if Agent.objects.filter(slug=slug).exists()}


@pytest.mark.parametrize("asked", ["scribe", "SCRIBE", "a-0", "A-0"])
def test_a_search_finds_an_agent_by_its_id_and_by_the_name_that_is_shown(asked, now):
    """The name shown is the profile's title where the agent has none of its own."""
    make.agent("a-0", now, liveness_mode="async")
    make.profile("a-0", now, title="Scribe")
    row = queries.one("a-0", now)
    assert queries.Selection(q=asked).matches(row)
    assert [each.id for each in queries.page(queries.Selection(q=asked), now).rows] == ["a-0"]
    assert queries.page(queries.Selection(q="other"), now).rows == []


@given(fleets(broken=BROKEN))
def test_the_counts_are_those_of_the_listed_rows_P04(fleet):
    now = timezone.now()
    with stored(fleet, now):
        expected = {word: 0 for word in queries.SHOWN_WORDS}
        for row in everybody(now):
            if queries.Selection().matches(row):
                expected[row.presence.word] += 1
                expected["disabled"] += not row.enabled
        assert {tally.word: tally.n for tally in queries.counts(now)} == expected


@given(fleets(broken=BROKEN))
def test_who_is_gone_has_no_task_in_any_view_and_its_last_word_is_kept_P12(fleet):
    """P12: dormant implies no task, on every surface; what was reported stays readable beside it."""
    now = timezone.now()
    with stored(fleet, now):
        for row in everybody(now):
            told, html = schemas.agent(row), feed.render([row])[0].html
            if row.presence.word in ("live", "silent"):
                continue
            assert (told["task"], told["work_mode"], told["activity"]["value"]) == (None, None, "unknown")
            assert "working" not in told["status"]
            assert "the 50% job" not in html or "as sent" in html
            if not row.synthesized or row.last_seen:
                assert told["activity"]["raw"] == Agent.objects.get(slug=row.id).status
