"""Membership rests on the profile, reachability on the registry: what each says when the other is missing."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from roster import directory, explain, queries, rows, schemas
from roster.models import Agent, Event, Profile
from roster.services import profiles, registry
from tests import make

from .fleet import hours, listed, minutes, seconds, shown, sweep, sweep_all, word

pytestmark = pytest.mark.django_db


def test_a_member_that_was_never_heard_is_listed_dormant_from_its_profile(now):
    """R37, R39, R42: synthesized, said to be so, without a trace and without a registry row."""
    make.profile("scribe", now, title="Scribe", liveness_mode="async", expected_interval=600)
    told = shown("scribe", now)
    assert listed(now) == ["scribe"]
    assert (told["presence"], told["status"], told["last_seen"]) == ("dormant", "dormant", None)
    assert (told["synthesized"], told["source"]) == (True, "kb_profile")
    assert (told["display_name"], told["liveness_mode"], told["expected_interval"]) == ("Scribe", "async", 600)
    assert not Agent.objects.exists()


@pytest.mark.parametrize("mode", [None, "ephemeral"])
def test_a_profile_without_a_lasting_mode_has_a_page_and_no_place_in_the_list(mode, now):
    """R41, D6: the detail answers, the list does not; an id nobody knows is neither."""
    make.profile("scribe", now, liveness_mode=mode)
    assert listed(now) == []
    assert shown("scribe", now)["presence"] == "unknown"
    assert queries.one("nobody", now) is None


def test_a_live_entry_wins_over_its_profile_and_no_id_appears_twice(now):
    """R40."""
    make.profile("scribe", now, liveness_mode="async")
    make.agent("scribe", now)
    assert listed(now) == ["scribe"]
    told = shown("scribe", now)
    assert (told["presence"], told["synthesized"], told["liveness_mode"]) == ("live", False, "async")


def test_a_lapsed_ephemeral_entry_leaves_the_member_dormant_with_its_last_trace(now):
    """R37, R38: last_seen comes from what the registry last knew."""
    make.agent("scribe", now, liveness_mode="ephemeral", ttl=60)
    make.profile("scribe", now, liveness_mode="async")
    later = now + minutes(5)
    assert sweep_all(later) == 1
    told = shown("scribe", later)
    assert (told["presence"], told["synthesized"], told["source"]) == ("dormant", True, "kb_profile")
    assert told["last_seen"] == schemas.stamp(now)
    assert listed(later) == ["scribe"]


def test_a_profile_that_cannot_be_read_is_shown_with_its_error_and_breaks_no_list(now):
    """R47, P54: nobody vanishes because of a bad file."""
    Profile.objects.create(slug="broken", parse_error="line 3: a tab")
    make.agent("echo", now)
    assert listed(now) == ["broken", "echo"]
    assert shown("broken", now)["profile_error"] == "line 3: a tab"
    assert sum(tally.n for tally in queries.counts(now)) == 2


def test_after_the_first_list_no_profile_is_read_again(now):
    """R44: hundreds of lists, one read of the profiles."""
    for i in range(20):
        make.profile(f"member-{i:02}", now, liveness_mode="async")
    assert len(listed(now)) == 20
    with CaptureQueriesContext(connection) as asked:
        for _ in range(50):
            assert len(listed(now)) == 20
    table = Profile._meta.db_table
    from_it = [each["sql"] for each in asked if f'FROM "{table}"' in each["sql"]]
    whole = [sql for sql in from_it if "EXISTS" not in sql]
    assert whole == []


def test_an_edit_shows_with_the_next_list_and_in_every_process(now):
    """R45, R46: the version is asked for with every list, so a process that heard of no edit sees it too."""
    profile = make.profile("scribe", now, title="Scribe", liveness_mode="async")
    assert [row.display_name for row in queries.page(queries.Selection(), now).rows] == ["Scribe"]
    kept = directory._kept
    profile.title = "Second Scribe"
    profiles.save(profile, by="mira", now=now)
    assert directory._kept is kept  # nobody told this process
    assert [row.display_name for row in queries.page(queries.Selection(), now).rows] == ["Second Scribe"]


def test_an_edit_of_a_profile_is_recorded_and_never_counts_as_being_seen(now):
    """R32, P39: who changed what is in the journal, and last_seen stays."""
    make.agent("scribe", now, liveness_mode="async")
    profile = make.profile("scribe", now + minutes(1), title="Scribe")
    profile.title = "Second"
    profiles.save(profile, by="mira", now=now + minutes(2))
    event = Event.objects.filter(kind="profile_edited").latest("pk")
    assert (event.by, event.before, event.after) == ("mira", {"title": "Scribe"}, {"title": "Second"})
    assert Agent.objects.get().last_seen == now


def test_a_new_agent_takes_mode_interval_and_name_from_its_profile_where_it_says_nothing(now):
    """D5, D28."""
    make.profile("scribe", now, title="Scribe", liveness_mode="always-on", expected_interval=60)
    agent, _ = make.agent("scribe", now)
    assert (agent.liveness_mode, agent.expected_interval, agent.display_name) == ("always-on", 60, "Scribe")
    other, _ = make.agent("other", now)
    assert (other.liveness_mode, other.expected_interval, other.display_name) == ("ephemeral", 1800, "")


def test_what_the_first_heartbeat_says_wins_over_the_profile(now):
    make.profile("scribe", now, liveness_mode="always-on", expected_interval=60)
    agent, _ = make.agent("scribe", now, liveness_mode="async", expected_interval=30)
    assert (agent.liveness_mode, agent.expected_interval) == ("async", 30)


def test_registry_entry_and_profile_each_survive_alone(now):
    """R48, R5: an agent without a profile stands, a profile without an agent stands, and neither makes the other."""
    make.agent("echo", now)
    make.profile("scribe", now, liveness_mode="async")
    assert listed(now) == ["echo", "scribe"]
    assert not Profile.objects.filter(slug="echo").exists() and not Agent.objects.filter(slug="scribe").exists()


def test_the_page_of_a_member_tells_who_and_how_we_know_apart(now):
    """R49, R8: the evidence that lost is listed beside the one that won."""
    make.profile("scribe", now, liveness_mode="async")
    make.agent("scribe", now)
    questions = {each.question: each for each in explain.questions(queries.one("scribe", now))}
    reachable = questions["reachable?"]
    assert (reachable.answer, reachable.winner.source, reachable.winner.as_of) == ("live", "heartbeat", now)
    assert [each.source for each in reachable.losers] == ["kb_profile"]
    assert questions["who?"].answer == "persona"


def test_a_claim_that_lapsed_is_explained_as_lapsed(now):
    make.agent("scribe", now, liveness_mode="async", status="working: notes")
    doing = explain.questions(queries.one("scribe", now + hours(2)))[1]
    assert (doing.answer, doing.winner.value) == ("unknown", "unknown")
    assert [(each.raw, each.value) for each in doing.losers] == [("working: notes", "working")]


def test_a_month_of_silence_takes_nothing_from_a_member(now):
    """R5, R7: entry, token, profile and history are as they were; the same token brings it back."""
    make.profile("analyst", now, liveness_mode="async", title="Analyst")
    _, token = make.agent("analyst", now)
    later = now + hours(24 * 30)
    sweep(now + minutes(61))
    assert (word("analyst", later), shown("analyst", later)["last_seen"]) == ("dormant", schemas.stamp(now))
    make.beat(token, later)
    assert (word("analyst", later + seconds(1)), Profile.objects.get().title) == ("live", "Analyst")


def test_a_synthesized_row_answers_every_question_that_a_row_answers(now):
    make.profile("scribe", now, liveness_mode="async")
    row = queries.one("scribe", now)
    assert isinstance(row, rows.Row) and row.dom_id.startswith("profile-")
    assert [each.answer for each in explain.questions(row)] == ["dormant", "unknown", "async", "persona"]


def test_registering_a_member_leaves_its_profile_alone(now):
    make.profile("scribe", now, liveness_mode="async", body="# Scribe")
    agent, _ = make.agent("scribe", now)
    registry.edit(agent, {"display_name": "Other"}, by="mira", now=now)
    assert Profile.objects.get().body == "# Scribe"
