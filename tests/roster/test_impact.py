"""What a verb's page says before it acts, for whoever has much to do, a little, or nothing."""

from __future__ import annotations

import pytest

from roster.models import Agent
from roster.views import impact
from roster.work import Held

AGENT = Agent(slug="echo", disabled_by="mira", disabled_reason="maintenance")
IDLE, ONE = Held(), Held(queued=1, running=1, leased=1, waiting=1)
BUSY = Held(queued=3, running=2, leased=1, waiting=4)


@pytest.mark.parametrize(
    ("says", "held", "words"),
    [
        (impact.finishes, BUSY, "2 running prompts and 3 waiting prompts are finished first."),
        (impact.finishes, BUSY, "5 messages lie in its inbox."),
        (impact.finishes, Held(running=1), "1 running prompt is finished first."),
        (impact.finishes, Held(waiting=1), "1 message lies in its inbox."),
        (impact.finishes, IDLE, "New prompts are refused from now on."),
        (impact.finishes, IDLE, "Mail reaches it until it is retired."),
        (impact.cuts_off, BUSY, "2 running prompts are cut off"),
        (impact.cuts_off, BUSY, "3 waiting prompts are refused."),
        (impact.cuts_off, ONE, "1 running prompt is cut off"),
        (impact.cuts_off, IDLE, "Retire does the same, and needs no force."),
        (impact.moves, BUSY, "It is busy now (2 running prompts, 1 taken message)"),
        (impact.moves, Held(queued=1, waiting=2), "goes with it: 1 waiting prompt, 2 waiting messages."),
        (impact.moves, IDLE, "goes with it: no waiting prompts, no waiting messages."),
        (impact.answers_disabled, BUSY, "3 waiting prompts are answered at once that it is disabled."),
        (impact.answers_disabled, BUSY, "2 running prompts are finished."),
        (impact.runs_again, IDLE, "mira disabled it: maintenance"),
    ],
)
def test_what_a_verb_brings_about_is_counted_and_said(says, held, words):
    assert words in " ".join(says(AGENT, held))


@pytest.mark.parametrize("says", [impact.finishes, impact.cuts_off])
def test_whatever_ends_an_employment_says_that_the_name_is_gone(says):
    assert impact.FOR_GOOD in says(AGENT, IDLE)


def test_a_node_ends_with_its_agent():
    said = " ".join(impact.ends_with_its_node(BUSY))
    assert "5 open prompts are finished first." in said and "retired with it" in said
    assert "disable it as well" in said
    idle = " ".join(impact.ends_with_its_node(IDLE))
    assert "open prompt" not in idle and "disable it" not in idle
