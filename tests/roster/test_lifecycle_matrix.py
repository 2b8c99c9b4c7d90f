"""Every verb in every state, of an employee, of a node's own agent and of a person: done, or refused with what is possible
instead (P35)."""

from __future__ import annotations

from datetime import datetime

import pytest

from roster import employment, states
from roster.errors import Conflict, HubError
from roster.models import Agent, Event
from roster.services import hiring, lifecycle, nodes, switch
from tests import make
from tests.web.calls import stored

from .staff import ADMIN, MANAGER, hire, of_node, sweep

pytestmark = pytest.mark.django_db
EMPLOYED = ("workspace", "reassign", "drain", "retire", "dismiss", "force-retire")
SWITCH = {True: ("disable",), False: ("enable",)}
# what each state of an employee allows, but for the switch; written out here a second time on purpose
ALLOWS = {"hired": EMPLOYED, "active": EMPLOYED, "draining": ("workspace", "retire", "force-retire"), "retired": ()}
LEADS = {
    ("hired", "workspace"): "active", ("active", "workspace"): "active", ("hired", "reassign"): "hired",
    ("active", "reassign"): "active", **dict.fromkeys([("hired", "drain"), ("active", "drain")], "draining"),
    **dict.fromkeys([(state, "retire") for state in ("hired", "active", "draining")], "draining"),
    **dict.fromkeys([(state, "force-retire") for state in ("hired", "active", "draining")], "retired"),
}  # fmt: skip
ACTS = {
    "workspace": lambda slug, now: hiring.report_workspace(of_node(_home(slug)), slug, "ready", "/srv", "", now),
    "reassign": lambda slug, now: hiring.reassign(MANAGER, slug, "birch", now),
    "drain": lambda slug, now: lifecycle.drain(MANAGER, slug, "", now),
    "retire": lambda slug, now: lifecycle.retire(MANAGER, slug, "", None, now),
    "force-retire": lambda slug, now: lifecycle.force_retire(ADMIN, slug, "it hangs", slug, now),
    "disable": lambda slug, now: switch.disable(MANAGER, slug, "it is wrong", now),
    "enable": lambda slug, now: switch.enable(MANAGER, slug, now),
}
VERBS = [verb for verb in (*employment.VERBS, *employment.SWITCHES) if verb in ACTS]


def _home(slug: str) -> str:
    home = Agent.objects.values_list("home_node__slug", flat=True).get(slug=slug)
    return home or "alder"


def agent_in(state: str, enabled: bool, now: datetime) -> Agent:
    """An employee brought into ``state`` by the services that bring one there."""
    hire("echo", now, ready=state != "hired")
    if not enabled:
        switch.disable(MANAGER, "echo", "it is wrong", now)
    if state in ("draining", "retired"):
        lifecycle.drain(MANAGER, "echo", "", now)
    if state == "retired":
        sweep(now)
    return Agent.objects.get(slug="echo")


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("enabled", [True, False])
@pytest.mark.parametrize("state", states.LIFECYCLES)
def test_each_verb_is_done_or_refused_with_what_is_allowed_p35(now, state, enabled, verb):
    make.node("birch", now)
    agent = agent_in(state, enabled, now)
    assert agent.lifecycle == state and agent.enabled == enabled
    allowed = (*ALLOWS[state], *(SWITCH[enabled] if state != "retired" else ()))
    before, events = stored(), Event.objects.count()
    if verb in allowed:
        assert ACTS[verb]("echo", now).lifecycle == LEADS.get((state, verb), state)
        assert Event.objects.count() > events or verb == "workspace"
        return
    with pytest.raises(Conflict) as why:
        ACTS[verb]("echo", now)
    assert why.value.allowed == list(allowed) and stored() == before
    assert why.value.state == ({"disable": "disabled", "enable": "enabled"}.get(verb, state) if allowed else state)
    already = {"disable": "already_disabled", "enable": "already_enabled"} if allowed else {}
    assert why.value.code == already.get(verb, state)


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("enabled", [True, False])
def test_a_nodes_own_agent_has_a_switch_and_no_other_verb_p34_p35(now, enabled, verb):
    make.node("alder", now), make.node("birch", now)
    if not enabled:
        switch.disable(MANAGER, "alder", "it is wrong", now)
    before = stored()
    if verb in SWITCH[enabled]:
        assert ACTS[verb]("alder", now).enabled != enabled
        return
    with pytest.raises(Conflict) as why:
        ACTS[verb]("alder", now)
    assert why.value.allowed == list(SWITCH[enabled]) and stored() == before
    if verb in employment.VERBS:
        assert (why.value.code, why.value.detail["rule"]) == ("node_agent", employment.OF_ITS_NODE)


@pytest.mark.parametrize("verb", VERBS)
def test_a_nodes_own_agent_goes_with_its_node_and_no_other_way_p35(now, verb):
    """Draining it has its switch; retired it has nothing."""
    make.node("alder", now), make.node("birch", now)
    nodes.retire(MANAGER, "alder", "", now)
    if verb != "disable":
        with pytest.raises(Conflict) as why:
            ACTS[verb]("alder", now)
        assert why.value.allowed == ["disable"]
    sweep(now)
    with pytest.raises(Conflict) as why:
        ACTS[verb]("alder", now)
    assert (why.value.state, why.value.allowed) == ("retired", [])


@pytest.mark.parametrize("verb", VERBS)
def test_a_person_has_no_verb_at_all_p35(now, verb):
    make.node("alder", now), make.node("birch", now), make.person("vera")
    before = stored()
    with pytest.raises(HubError) as why:
        ACTS[verb]("vera", now)
    assert why.value.code == ("not_yours" if verb == "workspace" else "person") and stored() == before
