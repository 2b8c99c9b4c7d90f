"""Draining many agents in the admin: all of them, or none."""

from __future__ import annotations

import re

import pytest

from roster import events
from roster.models import Agent, Event
from tests import make

pytestmark = pytest.mark.django_db
LIST = "/admin/roster/agent/"


@pytest.fixture
def boss(client):
    client.force_login(make.person("ada", "admin"))
    return client


def drain(client, slugs: list[str], reason: str = "the project ended") -> str:
    keys = Agent.objects.filter(slug__in=slugs).values_list("pk", flat=True)
    answer = client.post(LIST, {"action": "drain", "_selected_action": list(keys), "reason": reason}, follow=True)
    return re.sub(r"<[^>]+>", "", answer.content.decode())


def test_where_the_fifteenth_of_twenty_cannot_be_drained_nobody_is_and_it_is_named_f147(
    boss, monkeypatch, django_capture_on_commit_callbacks
):
    slugs = [f"agent-{n:02}" for n in range(20)]
    for slug in slugs:
        if slug == "agent-14":
            make.node(slug)  # a node's own agent
        else:
            make.agent(slug)
    nudged, before = [], Event.objects.count()
    monkeypatch.setattr(events, "nudge", nudged.append)
    with django_capture_on_commit_callbacks(execute=True):
        said = drain(boss, slugs)
    assert "Nobody was drained: agent-14: a node" in said
    assert set(Agent.objects.filter(slug__in=slugs).values_list("lifecycle", flat=True)) == {"active"}
    assert Event.objects.count() == before and nudged == []
    with django_capture_on_commit_callbacks(execute=True):
        said = drain(boss, [slug for slug in slugs if slug != "agent-14"])
    assert "Draining from now on: 19." in said
    assert Agent.objects.filter(lifecycle="draining").count() == Event.objects.filter(kind="draining").count() == 19
    assert nudged


def test_it_needs_a_reason_which_the_events_keep(boss):
    make.agent("echo")
    assert "Nobody was drained: the reason: say why" in drain(boss, ["echo"], reason=" ")
    assert Agent.objects.get(slug="echo").lifecycle == "active"
    drain(boss, ["echo"])
    assert Event.objects.get(kind="draining").reason == "the project ended"


def test_a_person_among_them_is_named_too(boss):
    make.agent("echo")
    make.person("vera")
    assert "Nobody was drained: vera: a person" in drain(boss, ["echo", "vera"])
    assert Agent.objects.get(slug="echo").lifecycle == "active"
