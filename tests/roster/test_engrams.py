"""An agent's engram is edited at any time and keeps every revision; its memory only grows, and is its own."""

from __future__ import annotations

from datetime import timedelta

import pytest

from roster import access
from roster.errors import Conflict, Forbidden, Invalid, NotFound, Retired
from roster.models import Agent, EngramRevision, Event, MemoryEntry
from roster.models.base import NothingIsDeleted
from roster.queries.employment import engram, memory, revisions
from roster.services import engrams
from roster.services import memory as remembering
from tests import make
from tests.roster.fleet import minutes, seconds
from tests.together import at_once

pytestmark = pytest.mark.django_db(transaction=True)
ADA = access.Caller("person", "ada", role="admin")


@pytest.fixture
def echo(now) -> Agent:
    return make.agent("echo", now, liveness_mode="async")[0]


def own(token: str) -> access.Caller:
    return access.caller(access.digest(token))


def test_each_edit_is_a_revision_with_author_and_time_and_the_newest_is_used_r139(echo, now):
    assert (engram(echo).revision, engram(echo).text) == (0, "")
    engrams.edit(ADA, "echo", "Keep the notes.", now)
    later = now + minutes(5)
    engrams.edit(access.Caller("person", "bo", role="admin"), "echo", "Keep the notes short.", later)
    newest = engram(echo)
    assert (newest.revision, newest.text, newest.author, newest.at) == (2, "Keep the notes short.", "bo", later)
    assert [(each.revision, each.author) for each in revisions(echo)] == [(2, "bo"), (1, "ada")]
    assert engram(echo, 1).text == "Keep the notes."
    told = Event.objects.filter(kind="engram_edited").latest("pk")
    assert (told.by, told.before["revision"], told.after["revision"]) == ("bo", 1, 2)


def test_an_edit_says_when_the_agent_changed_but_never_that_it_was_seen_r139(echo, now):
    before = Agent.objects.get(pk=echo.pk)
    engrams.edit(ADA, "echo", "Keep the notes.", now + minutes(1))
    after = Agent.objects.get(pk=echo.pk)
    assert after.changed > before.changed and after.last_seen == before.last_seen


def test_the_same_text_again_is_no_revision(echo, now):
    engrams.edit(ADA, "echo", "Keep the notes.", now)
    assert engrams.edit(ADA, "echo", "Keep the notes.", now + minutes(1)).revision == 1
    assert EngramRevision.objects.count() == Event.objects.filter(kind="engram_edited").count() == 1


def test_who_edited_an_older_revision_is_told_who_was_faster(echo, now):
    engrams.edit(ADA, "echo", "One.", now, revision=0)
    with pytest.raises(Conflict) as refusal:
        engrams.edit(access.Caller("person", "bo", role="admin"), "echo", "Two.", now, revision=0)
    assert (refusal.value.code, refusal.value.detail["revision"], refusal.value.detail["author"]) == ("stale", 1, "ada")
    assert engram(echo).text == "One."


def test_of_two_who_edit_at_once_both_are_kept_or_one_is_told(echo, now):
    def edit(name: str):
        try:
            return engrams.edit(access.Caller("person", name, role="admin"), "echo", f"by {name}", now, revision=0)
        except Conflict as refusal:
            return refusal.code

    outcomes = at_once(lambda: edit("ada"), lambda: edit("bo"))
    assert sorted(isinstance(each, str) for each in outcomes) == [False, True]
    assert EngramRevision.objects.count() == 1


@pytest.mark.parametrize("role", [None, "viewer", "manager"])
def test_only_an_admin_edits_an_engram(echo, now, role):
    with pytest.raises(Forbidden):
        engrams.edit(access.Caller("person", "mira", role=role), "echo", "Obey me.", now)


def test_an_engram_is_bounded_in_bytes_and_may_be_empty(echo, now):
    with pytest.raises(Invalid):
        engrams.edit(ADA, "echo", "é" * (engrams.LONGEST // 2 + 1), now)
    assert engrams.edit(ADA, "echo", "é" * (engrams.LONGEST // 2), now).revision == 1
    assert engrams.edit(ADA, "echo", "", now).revision == 2


def test_a_nodes_agent_has_one_while_it_cannot_be_removed_and_a_person_has_none_r123_r138(now):
    make.node("alder", now)
    make.person("mira")
    assert engrams.edit(ADA, "alder", "You watch this machine.", now).agent == "alder"
    with pytest.raises(Conflict) as refusal:
        engrams.edit(ADA, "mira", "Obey.", now)
    assert refusal.value.code == "person"
    with pytest.raises(NotFound):
        engrams.edit(ADA, "nobody", "Obey.", now)


def test_a_retired_agent_keeps_its_engram_and_memory_and_neither_grows_r99(now):
    agent, token = make.agent("echo", now)
    engrams.edit(ADA, "echo", "Keep the notes.", now)
    remembering.remember(own(token), "echo", "fact", "It rained.", now)
    Agent.objects.filter(pk=agent.pk).update(lifecycle="retired")
    with pytest.raises(Retired):
        engrams.edit(ADA, "echo", "More.", now)
    with pytest.raises(Retired):
        remembering.remember(own(token), "echo", "fact", "It snowed.", now)
    assert (engram(agent).text, [each.text for each in memory(agent, 0, "", 9)]) == ("Keep the notes.", ["It rained."])


@pytest.mark.parametrize("model", [EngramRevision, MemoryEntry])
def test_neither_is_ever_changed_or_deleted_r84(echo, now, model):
    engrams.edit(ADA, "echo", "Keep the notes.", now)
    MemoryEntry.objects.create(agent=echo, kind="fact", text="It rained.", at=now)
    row = model.objects.get()
    for act in (row.save, row.delete, model.objects.all().delete, lambda: model.objects.update(text="x")):
        with pytest.raises(NothingIsDeleted):
            act()


def test_memory_grows_in_order_and_counts_as_being_seen_r84(now):
    agent, token = make.agent("echo", now, liveness_mode="async")
    for n in range(3):
        remembering.remember(own(token), "echo", "fact" if n else "plan", f"entry {n}", now + seconds(n + 1))
    told = memory(agent, 0, "", 2)
    assert [each.text for each in told] == ["entry 0", "entry 1"]
    assert [each.text for each in memory(agent, told[-1].id, "", 2)] == ["entry 2"]
    assert [each.text for each in memory(agent, 0, "plan", 9)] == ["entry 0"]
    assert Agent.objects.get(slug="echo").last_seen == now + seconds(3)


def test_no_other_agent_writes_into_a_memory_not_even_a_manager_r84(now):
    make.agent("echo", now)
    _, mallory = make.agent("mallory", now)
    for who in (own(mallory), own(make.person_token("mira", "manager")), make.ENROLMENT):
        for slug in ("echo", "nobody"):
            with pytest.raises(NotFound):
                remembering.remember(who, slug, "fact", "You like me.", now)
    assert not MemoryEntry.objects.exists()


async def test_another_agents_memory_is_not_there_and_a_managers_look_is_journaled_r84(api, transactional_db, now):
    from roster.offload import in_database

    echo = (await in_database(make.agent, "echo"))[1]
    mallory = (await in_database(make.agent, "mallory"))[1]
    mira = await in_database(make.person_token, "mira", "manager")
    entry = {"kind": "fact", "text": "the moss grows"}
    assert (await api.post("/api/agents/echo/memory", json=entry, headers=make.bearer(echo))).status_code == 201
    foreign, missing = [
        await api.get(f"/api/agents/{slug}/memory", headers=make.bearer(mallory)) for slug in ("echo", "nobo")
    ]
    assert foreign.status_code == missing.status_code == 404
    told, other = (each.json()["error"] | {"request_id": ""} for each in (foreign, missing))
    assert told["message"].replace("echo", "nobo") == other["message"] and told["code"] == other["code"]
    for address in ("/api/agents", "/api/agents/echo", "/api/events", "/api/search?q=moss"):
        assert "moss" not in (await api.get(address, headers=make.bearer(mallory))).text
    for _ in range(2):
        seen = await api.get("/api/agents/echo/memory", headers=make.bearer(mira))
        assert [each["text"] for each in seen.json()["entries"]] == ["the moss grows"]
    assert await in_database(Event.objects.filter(kind="memory_looked_at", by="mira", agent__slug="echo").count) == 1


async def test_a_large_engram_comes_through_however_it_is_written(api, transactional_db, now):
    """As JSON each of its characters may be an escape of six bytes."""
    from roster.offload import in_database

    await in_database(make.agent, "echo")
    ada = make.bearer(await in_database(make.person_token, "ada", "admin"))
    text = "é" * (engrams.LONGEST // 2)
    assert (await api.put("/api/agents/echo/engram", json={"text": text}, headers=ada)).status_code == 200
    assert (await api.get("/api/agents/echo/engram", headers=ada)).json()["text"] == text
    refused = await api.put("/api/agents/echo/engram", json={"text": text + "!"}, headers=ada)
    assert (refused.status_code, refused.json()["error"]["detail"]["field"]) == (422, "text")


def test_what_an_agent_says_once_a_week_is_there_after_a_year_r84(now):
    agent, token = make.agent("echo", now)
    for week in range(3):
        remembering.remember(own(token), "echo", "fact", f"week {week}", now + timedelta(weeks=week))
    assert len(memory(agent, 0, "", 500)) == 3


@pytest.mark.parametrize("revision", [True, "1", 1.0])
async def test_a_revision_that_is_no_number_is_not_taken_for_one(api, transactional_db, now, revision):
    """``true`` would overwrite the first revision."""
    from roster.offload import in_database

    await in_database(make.agent, "echo")
    ada = make.bearer(await in_database(make.person_token, "ada", "admin"))
    assert (await api.put("/api/agents/echo/engram", json={"text": "Be brief."}, headers=ada)).status_code == 200
    body = {"text": "Be long.", "revision": revision}
    assert (await api.put("/api/agents/echo/engram", json=body, headers=ada)).status_code == 422
