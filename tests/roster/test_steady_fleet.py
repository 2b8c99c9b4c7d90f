"""Hundreds of agents that keep beating: nobody is ever called gone (P06)."""

import random

import pytest

from roster import queries
from roster.models import Agent

from .fleet import Fleet, edges, many, minutes, sweep

pytestmark = pytest.mark.django_db


def test_a_live_agent_is_never_shown_or_recorded_dormant_P06(now, soak):
    """200 agents with an interval of 5 min, jitter +-20 %, one request in a hundred dropped and sent again a minute
    later; 24 h with --soak, an hour and a half otherwise. Everybody is looked at each minute, a sweep runs every 5."""
    dice, fleet = random.Random(6), Fleet(now)
    slugs = many(200, now, interval=300)
    due = {slug: now + minutes(dice.uniform(0, 5)) for slug in slugs}
    for minute in range(24 * 60 if soak else 90):
        at = now + minutes(minute)
        came = []
        for slug in slugs:
            if due[slug] <= at:
                dropped = dice.random() < 0.01
                due[slug] = at + (minutes(1) if dropped else minutes(5 * dice.uniform(0.8, 1.2)))
                came += [] if dropped else [slug]
        fleet.beat(came, at)
        words = Agent.objects.filter(kind="employee").annotate(word=queries.presence_word(at)).values_list("word")
        assert set(words) == {("live",)}
        assert minute % 5 or sweep(at).edges == 0
    assert edges() == []
