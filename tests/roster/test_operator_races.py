"""An operator's act and an agent's own call at the same instant: no fault, and the operator's act holds (F021)."""

from __future__ import annotations

from functools import partial

import pytest

from roster.errors import HubError
from roster.models import Agent, Event, Node
from roster.services import hiring, lifecycle, nodes, registry, switch
from tests import make
from tests.inbox import post
from tests.together import at_once

from .fleet import minutes
from .staff import ADMIN, MANAGER, hire

pytestmark = pytest.mark.django_db(transaction=True)


def code(act) -> str:
    """ "done", or the code of the refusal; whatever else is raised fails the test."""
    try:
        getattr(act(), "home_slug", None)  # told of whoever moved meanwhile, too
    except HubError as why:
        return why.code
    return "done"


ACTS = {
    "retire": (lambda slug, at: lifecycle.force_retire(ADMIN, slug, "gone", slug, at), {"lifecycle": "retired"}),
    "drain": (lambda slug, at: lifecycle.drain(MANAGER, slug, "", at), {"lifecycle": "draining"}),
    "disable": (lambda slug, at: switch.disable(MANAGER, slug, "stop", at), {"enabled": False}),
    "mode": (
        lambda slug, at: registry.edit(Agent.objects.get(slug=slug), {"liveness_mode": "always-on"}, by="ada", now=at),
        {"liveness_mode": "always-on"},
    ),
    "cap": (lambda slug, at: hiring.change_terms(MANAGER, slug, {"max_sessions": 7}, None, at), {"max_sessions": 7}),
}


@pytest.mark.parametrize("act", ACTS)
def test_a_heartbeat_beside_an_operators_act_undoes_nothing_f021(now, soak, act):
    """With news and without, from its session and its mail: 200 rounds with --soak. At most one heartbeat is counted
    after a retirement, and it came before."""
    do, expected = ACTS[act]
    for turn in range(200 if soak else 6):
        slug, at = f"{act}-{turn}", now + minutes(turn)
        raw = make.agent(slug, at, liveness_mode="async")[1]
        beat = partial(make.beat, raw, at, status=f"working: {turn}" if turn % 2 else None)
        outcomes = at_once(
            *(partial(code, each) for each in (partial(do, slug, at), beat, partial(post.drain, raw, slug, at)))
        )
        assert outcomes[0] == "done" and set(outcomes[1:]) <= {"done", "retired"}
        agent = Agent.objects.get(slug=slug)
        assert {name: getattr(agent, name) for name in expected} == expected
        if act == "retire":
            seen = agent.last_seen
            assert code(partial(make.beat, raw, at + minutes(1), status="idle")) == "retired"
            assert Agent.objects.get(slug=slug).last_seen == seen


def test_two_operators_each_hear_what_became_of_the_other(now, soak):
    """Retire, force, disable and move at once: every one is done or told the state that it met, and the journal has those
    that were done, no others."""
    make.node("alder", now)
    for turn in range(50 if soak else 5):
        slug, at = f"scribe-{turn}", now + minutes(turn)
        hire(slug, at)
        make.node(f"birch-{turn}", at)
        acts = (
            partial(lifecycle.drain, MANAGER, slug, "", at),
            partial(lifecycle.force_retire, ADMIN, slug, "gone", slug, at),
            partial(switch.disable, MANAGER, slug, "stop", at),
            partial(hiring.reassign, MANAGER, slug, f"birch-{turn}", at),
        )
        outcomes = at_once(*(partial(code, act) for act in acts))
        assert outcomes[1] == "done" and set(outcomes) <= {"done", "draining", "retired"}
        kinds = ("draining", "force_retired", "disabled", "reassigned")
        written = [Event.objects.filter(agent__slug=slug, kind=kind).count() for kind in kinds]
        assert written == [outcome == "done" for outcome in outcomes]


def test_nobody_comes_to_live_on_a_node_that_is_being_retired(now, soak):
    """A node's end, a hire onto it and a move to it at once: whoever comes first keeps the other out."""
    for turn in range(50 if soak else 6):
        slug, at = f"node-{turn}", now + minutes(turn)
        make.node(slug, at)
        make.agent(f"mover-{turn}", at)
        acts = (
            partial(nodes.retire, MANAGER, slug, "", at),
            partial(hire, f"hired-{turn}", at, node=slug, ready=False),
            partial(hiring.reassign, MANAGER, f"mover-{turn}", slug, at),
        )
        ended, *came = at_once(*(partial(code, act) for act in acts))
        living = Agent.objects.filter(home_node__slug=slug, kind="employee").exclude(lifecycle="retired").count()
        if ended == "done":
            assert came == ["node_retiring"] * 2 and living == 0
        else:
            assert ended == "employees" and living == came.count("done") > 0
        assert Node.objects.get(slug=slug).lifecycle == ("retiring" if ended == "done" else "enrolled")
