"""Warn first, then propose a dismissal, which a person decides; the same evidence counts once."""

from __future__ import annotations

from datetime import timedelta

import pytest

from inbox.models import Delivery
from roster import access
from roster.errors import Conflict, Forbidden, Invalid, NotFound, Retired
from roster.models import Agent, Anomaly, Event, Rule, Violation, Warning
from roster.queries import needs_you
from roster.queries.employment import proposals, warnings
from roster.services import conduct
from roster.templatetags.wrong import MEANINGS
from tests import make
from tests.make import WARNING_AGE
from tests.roster.fleet import minutes, open_anomalies
from tests.together import at_once

pytestmark = pytest.mark.django_db(transaction=True)
MIRA = make.MANAGER


@pytest.fixture
def echo(now) -> Agent:
    make.rule("review", now)
    make.rule("mail", now)
    return make.agent("echo", now, liveness_mode="async")[0]


def dismiss(now, rule: str = "review", who=MIRA, reason: str = "It happened again.") -> Agent:
    return conduct.dismiss(who, "echo", rule, reason, now, WARNING_AGE)


def withdraw(key: int, now, reason: str = "It had been reviewed.", who=MIRA):
    return conduct.withdraw(who, key, reason, now, WARNING_AGE)


def test_a_merge_without_review_warns_then_proposes_then_dismisses_s13(echo, now):
    """R115 to R121, walked once."""
    first = make.report("echo", "review", "1a2b", now, evidence="Merged 1a2b to main without a review.")
    assert (first.counted, first.proposed) == (True, False)
    letter = Delivery.objects.select_related("message").get(recipient=echo)
    assert (letter.message.kind, letter.message.sender, letter.message.pk) == ("warning", None, first.warning.seq)
    assert "Merged 1a2b" in letter.message.body and "Merge to main only after a review." in letter.message.body
    assert Agent.objects.get(slug="echo").waiting == 1
    assert not [told for told in Event.objects.all() if "Merged 1a2b" in str(told.after)], "everybody reads the journal"

    again = make.report("echo", "review", "1a2b", now + minutes(1))
    assert (again.counted, again.violation, again.warning, again.proposed) == (
        False,
        first.violation,
        first.warning,
        False,
    )
    assert (Violation.objects.count(), Warning.objects.count(), open_anomalies()) == (1, 1, [])

    second = make.report("echo", "review", "3c4d", now + minutes(2))
    assert (second.counted, second.warning, second.proposed) == (True, None, True)
    assert open_anomalies(conduct.PROPOSED) == ["echo"] and conduct.PROPOSED in MEANINGS
    assert [(need.row.id, need.text) for need in needs_you(now)] == [("echo", "dismissal proposed: review")]
    assert Anomaly.objects.get().evidence == {"rules": ["review"], "times": 1}
    assert Agent.objects.get(slug="echo").lifecycle == "active", "nothing is decided by a rule"

    agent = dismiss(now + minutes(3))
    assert (agent.lifecycle, agent.lifecycle_reason) == ("draining", "review: It happened again.")
    assert open_anomalies() == []
    kinds = ["violation", "warned", "violation", "dismissed"]
    assert list(Event.objects.filter(kind__in=kinds).order_by("pk").values_list("kind", flat=True)) == kinds
    told = Event.objects.get(kind="dismissed")
    assert (told.by, told.before["lifecycle"], told.after["lifecycle"]) == ("mira", "active", "draining")


def test_without_a_warning_for_the_same_rule_nobody_is_dismissed_r117(echo, now):
    make.report("echo", "mail", "spam", now)
    with pytest.raises(Conflict) as refusal:
        dismiss(now)
    assert (refusal.value.code, refusal.value.state) == ("no_warning", "active")
    assert "dismiss" not in refusal.value.allowed and "drain" in refusal.value.allowed
    assert Agent.objects.get(slug="echo").lifecycle == "active"


def test_a_withdrawn_warning_counts_no_more_and_the_agent_is_told_r120(echo, now):
    warning = make.report("echo", "review", "1a2b", now).warning
    make.report("echo", "review", "3c4d", now)
    withdraw(warning.pk, now + minutes(1))
    assert open_anomalies() == [], "nothing is proposed without a warning that counts"
    with pytest.raises(Conflict):
        dismiss(now + minutes(2))
    (told,) = warnings(echo, now + minutes(2), WARNING_AGE)
    assert [each.evidence for each in told.again] == ["commit 1a2b"], "what was done while it counted stays beside it"
    assert (told.counts, told.withdrawn_by, told.withdrawn_reason) == (False, "mira", "It had been reviewed.")
    kinds = Delivery.objects.filter(recipient=echo).order_by("message").values_list("message__kind", flat=True)
    assert list(kinds) == ["warning", "system"]
    event = Event.objects.get(kind="warning_withdrawn")
    assert (event.by, event.before["withdrawn"], event.after["withdrawn"]) == ("mira", False, True)
    assert make.report("echo", "review", "5e6f", now + minutes(3)).warning is not None, "the next one warns anew"
    assert [len(each.again) for each in warnings(echo, now + minutes(4), WARNING_AGE)] == [0, 1]


def test_a_warning_is_withdrawn_once_with_a_reason_r120(echo, now):
    warning = make.report("echo", "review", "1a2b", now).warning
    with pytest.raises(Invalid):
        withdraw(warning.pk, now, reason="  ")
    withdraw(warning.pk, now)
    with pytest.raises(Conflict) as refusal:
        withdraw(warning.pk, now + minutes(1), who=access.Caller("person", "bo", role="manager"))
    assert (refusal.value.code, refusal.value.detail["by"]) == ("already_withdrawn", "mira")
    with pytest.raises(NotFound):
        withdraw(10**9, now)


def test_an_old_warning_counts_no_more_and_its_proposal_ends_with_it_r120(echo, now):
    make.report("echo", "review", "1a2b", now)
    make.report("echo", "review", "3c4d", now)
    conduct.review_all(now + WARNING_AGE - timedelta(seconds=1), WARNING_AGE)
    assert open_anomalies() == ["echo"]
    late = now + WARNING_AGE
    conduct.review_all(late, WARNING_AGE)
    assert open_anomalies() == [] and proposals(echo, late, WARNING_AGE) == []
    with pytest.raises(Conflict):
        dismiss(late)
    assert make.report("echo", "review", "5e6f", late).warning is not None


def test_two_rules_are_two_warnings_and_one_proposal_names_both(echo, now):
    for rule in ("review", "mail"):
        assert make.report("echo", rule, "1a2b", now).warning
    for rule in ("review", "mail"):
        make.report("echo", rule, "3c4d", now)
    assert Anomaly.objects.get().evidence == {"rules": ["mail", "review"], "times": 2}
    dismiss(now, rule="mail")


def test_the_same_evidence_reported_by_two_at_once_counts_once_r121(echo, now):
    outcomes = at_once(*[lambda: make.report("echo", "review", "1a2b", now)] * 2)
    assert sorted(each.counted for each in outcomes) == [False, True]
    assert (Violation.objects.count(), Warning.objects.count()) == (1, 1)


@pytest.mark.parametrize(
    ("more", "field"),
    [({"rule": "nonsense"}, "rule"), ({"evidence": " "}, "evidence"), ({"evidence": "x" * 20_000}, "evidence"),
     ({"key": ""}, "evidence_key"), ({"key": "x" * 201}, "evidence_key")],
)  # fmt: skip
def test_a_report_without_its_parts_is_refused(echo, now, more, field):
    asked = {"rule": "review", "evidence": "commit", "key": "1a2b"} | more
    with pytest.raises(Invalid) as refusal:
        make.report("echo", asked["rule"], asked["key"], now, evidence=asked["evidence"])
    assert refusal.value.detail["field"] == field and not Violation.objects.exists()


def test_a_rule_that_is_not_in_force_is_not_broken(echo, now):
    rule = Rule.objects.get(slug="review")
    rule.active = False
    conduct.save_rule(rule, by="ada", now=now)
    with pytest.raises(Invalid):
        make.report("echo", "review", "1a2b", now)
    event = Event.objects.filter(kind="rule_edited").latest("pk")
    assert (event.by, event.before["active"], event.after["active"]) == ("ada", True, False)


def test_a_program_may_report_with_a_grant_but_a_person_dismisses_r103_r118(echo, now):
    from roster.services import grants

    watcher, token = make.agent("watcher", now)
    who = access.caller(access.digest(token))
    with pytest.raises(Forbidden):
        conduct.report(who, "echo", "review", "commit", "1a2b", now, WARNING_AGE)
    grants.give(access.Caller("person", "ada", role="admin"), "watcher", "dismiss", now)
    conduct.report(who, "echo", "review", "commit", "1a2b", now, WARNING_AGE)
    with pytest.raises(Forbidden):
        dismiss(now, who=who)
    assert dismiss(now).lifecycle == "draining"


def test_a_person_is_not_warned_a_nodes_agent_is_and_nobody_warns_the_retired(echo, now):
    make.person("bram")
    make.node("alder", now)
    with pytest.raises(Conflict):
        make.report("bram", "review", "1a2b", now)
    make.report("alder", "review", "1a2b", now)
    assert not make.report("alder", "review", "3c4d", now).proposed, "it cannot be dismissed"
    with pytest.raises(Conflict) as refusal:
        conduct.dismiss(MIRA, "alder", "review", "again", now, WARNING_AGE)
    assert refusal.value.code == "node_agent"
    Agent.objects.filter(slug="echo").update(lifecycle="retired")
    with pytest.raises(Retired):
        make.report("echo", "review", "1a2b", now)


def test_an_agent_on_its_way_out_is_not_proposed_again(echo, now):
    make.report("echo", "review", "1a2b", now)
    dismiss(now)
    assert not make.report("echo", "review", "3c4d", now).proposed
    assert open_anomalies() == []


async def test_a_violation_is_reported_over_http_and_counted_once_r121(api, transactional_db):
    from roster.offload import in_database

    echo = make.bearer((await in_database(make.agent, "echo"))[1])
    await in_database(make.rule, "review")
    mira = make.bearer(await in_database(make.person_token, "mira", "manager"))
    told = {"agent": "echo", "rule": "review", "evidence": "commit 1a2b", "evidence_key": "1a2b"}
    answers = [await api.post("/api/violations", json=told, headers=mira) for _ in range(2)]
    assert [(each.status_code, each.json()["counted"]) for each in answers] == [(201, True), (200, False)]
    (seen,) = (await api.get("/api/agents/echo/warnings", headers=echo)).json()["warnings"]
    assert (await api.get("/api/agents/echo", headers=echo)).json()["employment"]["warnings"] == 1
    assert (seen["rule"], seen["counts"], seen["withdrawn"]) == ("review", True, None)
    body = {"rule": "mail", "reason": "again"}
    refused = await api.post("/api/agents/echo/dismiss", json=body, headers=mira)
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "no_warning")
    done = await api.post("/api/agents/echo/dismiss", json=body | {"rule": "review"}, headers=mira)
    assert (done.status_code, done.json()["lifecycle"]) == (200, "draining")
