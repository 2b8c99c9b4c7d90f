"""A list of agents that goes its own way is refused at the start, not found at the first hire (R104)."""

import pytest

from agora_web import fleet_check
from roster import rows

RELATIONS = {"agents", "clones"}


def test_the_lists_of_the_hub_all_go_through_the_selector_R104():
    assert fleet_check.lists_go_through_the_selector(None) == []


@pytest.mark.parametrize(
    "source",
    [
        "return list(Agent.objects.filter(home_node=node))",
        "for agent in Agent.objects.all(): show(agent)",
        "found = Agent.objects.order_by('slug')[:50]",
        "rows = [shown(each) for each in node.agents.exclude(kind='node')]",
        "names = template.clones.values_list('slug', flat=True)",
        "found = schemas.agent(Agent.objects.filter(pk=1))",
    ],
)
def test_a_list_that_goes_its_own_way_is_named_with_its_line(source):
    assert fleet_check.bypasses("\n\n" + source, RELATIONS) == [3]


@pytest.mark.parametrize(
    "source",
    [
        "agent = Agent.objects.filter(slug=slug).first()",
        "found = Agent.objects.get(pk=1)",
        "return selector.select(Agent.objects.filter(home_node=node).order_by('slug')[:5], now)",
        "rows = select(node.agents.exclude(kind='node'), now, profiles)",
        "shown = self.table.agents()",
        "gauge.agents.labels('live').set(1)",
    ],
)
def test_one_agent_and_a_list_through_the_selector_are_not(source):
    assert fleet_check.bypasses(source, RELATIONS) == []


def test_a_row_that_shows_more_than_the_selector_reads_is_refused_at_the_start(monkeypatch):
    monkeypatch.setattr(rows, "STORED", tuple(name for name in rows.STORED if name != "lifecycle"))
    (refusal,) = fleet_check.lists_go_through_the_selector(None)
    assert refusal.id == "agora.E010" and "lifecycle" in refusal.msg


def test_an_answer_of_the_api_without_the_lifecycle_is_refused_at_the_start(monkeypatch):
    whole = fleet_check.schemas.agent
    monkeypatch.setattr(
        fleet_check.schemas, "agent", lambda row: {name: v for name, v in whole(row).items() if name != "lifecycle"}
    )
    (refusal,) = fleet_check.lists_go_through_the_selector(None)
    assert "lifecycle" in refusal.msg
