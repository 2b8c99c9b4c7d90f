"""Entering the registry, and what old and new writers may say there (R1 to R49, R68 to R71, as services show)."""

import pytest

from roster import access, beats, errors, queries, schemas
from roster.models import Agent, Event, Token
from roster.services import registry, tokens
from tests import make

from .fleet import edges, hours, listed, minutes, seconds, shown, word

pytestmark = pytest.mark.django_db


def caller(raw: str) -> access.Caller:
    return access.caller(access.digest(raw))


def put(**body) -> dict:
    """What a PUT with ``body`` says, in the words of a registration."""
    said = schemas.Put(**{"status": "idle"} | body).said()
    return {name: getattr(said, name) for name in said.__slots__ if name != "replace"}


# body of an old or a new writer -> mode, permanent (R11 to R19)
BODIES = [
    ({}, "ephemeral", False),
    ({"permanent": False}, "ephemeral", False),
    ({"permanent": True}, "always-on", True),
    ({"liveness_mode": "async"}, "async", False),
    ({"liveness_mode": "always-on"}, "always-on", True),
    ({"liveness_mode": "async", "permanent": True}, "async", False),
    ({"permanent": True, "liveness_mode": "async"}, "async", False),
    ({"permanent": True, "liveness_mode": "ephemeral"}, "ephemeral", False),
    ({"permanent": False, "liveness_mode": "always-on"}, "always-on", True),
]


@pytest.mark.core
@pytest.mark.parametrize(("body", "mode", "permanent"), BODIES, ids=str)
def test_an_old_body_and_a_new_one_register_the_mode_that_they_mean(body, mode, permanent, now):
    """R12 to R15, R68: ``permanent: true`` is always-on, the explicit mode wins, and ``permanent`` is given back."""
    make.agent("echo", now, **put(**body))
    told = shown("echo", now)
    assert (told["liveness_mode"], told["permanent"]) == (mode, permanent)


@pytest.mark.parametrize("stored", ["ephemeral", "async", "always-on"])
@pytest.mark.parametrize("body", [{}, {"permanent": False}])
def test_an_old_heartbeat_demotes_nobody(stored, body, now):
    """R17, D5."""
    _, token = make.agent("echo", now, liveness_mode=stored)
    make.beat(token, now + minutes(1), "echo", status="busy", **body)
    assert shown("echo", now + minutes(1))["liveness_mode"] == stored


def test_a_later_body_can_change_the_mode_and_it_is_recorded(now):
    _, token = make.agent("echo", now, liveness_mode="async")
    make.beat(token, now + minutes(1), "echo", status="idle", permanent=True)
    assert shown("echo", now + minutes(1))["permanent"]
    told = Event.objects.get(kind="settings")
    assert (told.before["liveness_mode"], told.after["liveness_mode"]) == ("async", "always-on")


@pytest.mark.parametrize("mode", ["", "permanent", "ASYNC", "always_on", "dormant"])
def test_any_other_mode_is_refused(mode):
    """R11."""
    with pytest.raises(ValueError, match="ephemeral"):
        schemas.Put(status="idle", liveness_mode=mode)


@pytest.mark.django_db(transaction=True)
async def test_an_interval_in_meta_is_lifted_into_its_field_which_wins_where_both_are_given(api, enrolment):
    """R71; what is refused there is in the tests of bad input."""
    body, headers = {"status": "idle", "meta": {"expected_interval": 600}}, make.bearer(enrolment)
    lifted = await api.put("/api/agents/a", json=body, headers=headers)
    assert lifted.json()["expected_interval"] == 600
    both = await api.put("/api/agents/b", json=body | {"expected_interval": 60}, headers=headers)
    assert both.json()["expected_interval"] == 60


def test_an_interval_is_per_agent_shown_and_decides_the_window(now):
    """R70, R80."""
    make.agent("quick", now, liveness_mode="async", expected_interval=60)
    make.agent("slow", now, liveness_mode="async")
    assert [shown(slug, now)["expected_interval"] for slug in ("quick", "slow")] == [60, 1800]
    assert [word(slug, now + minutes(3)) for slug in ("quick", "slow")] == ["dormant", "live"]


def test_an_interval_can_be_declared_later_by_a_heartbeat(now):
    _, token = make.agent("echo", now, liveness_mode="async")
    make.beat(token, now + minutes(1), expected_interval=60)
    assert Agent.objects.get().deadline == now + minutes(3)
    make.beat(token, now + minutes(2))
    assert Agent.objects.get().expected_interval == 60


def test_dormancy_can_be_told_from_drop_out_and_from_an_unknown_id(now):
    """R7, R1: entry and dormant; no entry but a time; nothing at all."""
    make.agent("member", now, liveness_mode="async")
    make.agent("short", now)
    later = now + hours(2)
    assert listed(later) == ["member"]
    assert (word("member", later), word("short", later)) == ("dormant", "expired")
    assert queries.one("short", later).last_seen == now
    assert queries.one("nobody", later) is None


def test_the_walk_of_the_analyst(now):
    """R6, as far as there is no mail yet: registers async, beats, falls silent, is shown dormant, comes back idle."""
    _, token = make.agent("analyst", now, liveness_mode="async")
    make.beat(token, now + minutes(30), status="working: the report")
    assert shown("analyst", now + minutes(31))["status"] == "working: the report"
    away = shown("analyst", now + hours(2))
    assert (away["status"], away["task"], away["last_seen"]) == ("dormant", None, schemas.stamp(now + minutes(30)))
    make.beat(token, now + hours(9))
    back = shown("analyst", now + hours(9))
    assert (back["status"], back["presence"]) == ("idle", "live")


# ---- who may enter --------------------------------------------------------------------------------------------------


def test_a_new_id_needs_an_enrolment_token_or_a_manager(now):
    _, own = make.agent("echo", now)
    _, _, node = make.node("alder", now)
    viewer = make.person_token("vera")
    manager = make.person_token("mira", "manager")
    said = beats.Said(status="idle", replace=True)
    for raw, refusal in ((own, errors.NotRegistered), (node, errors.NotRegistered), (viewer, errors.Forbidden)):
        with pytest.raises(refusal):
            registry.register(caller(raw), "newcomer", said, now)
    assert not Agent.objects.filter(slug="newcomer").exists()
    assert registry.register(caller(manager), "newcomer", said, now)[0].slug == "newcomer"
    enrolment = make.enrolment_token()
    for slug in ("one", "two"):  # any number of times, until it is revoked
        registry.register(caller(enrolment), slug, said, now)
    tokens.revoke(tokens.by_prefix(enrolment), by="mira", now=now)
    with pytest.raises(errors.Unauthorized):
        caller(enrolment)


def test_the_token_given_at_registration_speaks_for_this_agent_only(now):
    """R77."""
    _, echo = make.agent("echo", now)
    make.agent("other", now)
    assert make.beat(echo, now + seconds(1)).agent.slug == "echo"
    with pytest.raises(errors.Forbidden):
        make.beat(echo, now + seconds(1), "other")
    with pytest.raises(errors.NotRegistered):
        make.beat(echo, now + seconds(1), "nobody")


def test_a_taken_id_is_refused_in_any_spelling(now):
    make.agent("echo", now)
    make.node("alder", now)
    for slug in ("echo", "Echo", "ECHO", "alder"):
        with pytest.raises(errors.Conflict, match="is taken"):
            make.agent(slug, now)
    with pytest.raises(errors.Conflict):
        make.node("echo", now)
    assert Agent.objects.count() == 2 and Token.objects.count() == 2


@pytest.mark.parametrize("slug", ["node:alder", "a/b", "élan", "agent 7", 'x"y', "", "-x", "a" * 65, "a\x00b"])
def test_an_id_that_is_none_is_refused_saying_which_are_and_stores_nothing(slug, now):
    with pytest.raises(errors.Invalid, match="lower-case letters, digits"):
        make.agent(slug, now)
    assert not Agent.objects.exists() and not Event.objects.filter(kind="registered").exists()


def test_the_first_heartbeat_is_an_edge_and_the_registration_is_on_record(now):
    make.agent("echo", now, liveness_mode="async", status="working: notes", task=None)
    assert edges("echo") == [("dormant", "live")]
    told = Event.objects.get(kind="registered")
    assert (told.agent.slug, told.after["liveness_mode"]) == ("echo", "async")
    assert shown("echo", now)["task"] == "notes"


def test_posture_follows_from_how_an_agent_lives(now):
    """R58: always-on agents run on hosts we know, others do not."""
    make.agent("watcher", now, permanent=True)
    make.agent("guest", now, liveness_mode="async")
    node = make.node("alder", now)[1]
    assert [shown(slug, now)["trust_posture"] for slug in ("watcher", "guest", node.slug)] == [
        "hardened", "untrusted-host", "hardened",
    ]  # fmt: skip


# ---- the retired ----------------------------------------------------------------------------------------------------


def test_a_retired_agent_is_read_but_never_written(now):
    """Design rule 4; the verb that retires is a later issue's, so the column is set here."""
    _, token = make.agent("echo", now, liveness_mode="async")
    Agent.objects.update(lifecycle="retired")
    for write in (lambda: make.beat(token, now), lambda: registry.sign_off(caller(token), "echo", None, now)):
        with pytest.raises(errors.Retired):
            write()
    assert shown("echo", now)["lifecycle"] == "retired"
    assert (listed(now), listed(now, lifecycle="retired")) == ([], ["echo"])


def test_a_node_speaks_for_whoever_lives_there_or_nowhere(now):
    """Design rule 15."""
    alder, _, raw = make.node("alder", now)
    birch, _, _ = make.node("birch", now)
    for slug, home in (("here", alder), ("there", birch), ("free", None)):
        make.agent(slug, now)
        Agent.objects.filter(slug=slug).update(home_node=home)
    make.person("mira")
    for slug in ("here", "free", "alder"):
        assert make.beat(raw, now + seconds(1), slug).agent.slug == slug
        registry.sign_off(caller(raw), slug, None, now + seconds(2), slug)
    for slug in ("there", "birch", "mira"):
        with pytest.raises(errors.Forbidden):
            make.beat(raw, now + seconds(1), slug)
        with pytest.raises(errors.Forbidden):
            registry.sign_off(caller(raw), slug, None, now + seconds(2), slug)
