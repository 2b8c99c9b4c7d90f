"""A node has exactly one agent of its own, which nobody can retire, move or delete while the node exists (P33, P34)."""

from __future__ import annotations

import pytest
from django.db import IntegrityError, connection, transaction
from django.test import Client
from django.urls import reverse

from roster.models import Agent, Anomaly, Node
from roster.models.agent import NodeAgentStays
from roster.models.base import NothingIsDeleted
from roster.services import nodes
from tests import make
from tests.together import at_once
from tests.web.calls import stored

from .staff import MANAGER, sweep

COLUMNS = {"lifecycle": "retired", "home_node": None, "kind": "employee"}


@pytest.fixture
def alder(db, now) -> Agent:
    make.node("birch", now)
    return make.node("alder", now)[1]


def moved(agent: Agent, column: str):
    value = Node.objects.get(slug="birch") if column == "home_node" else COLUMNS[column]
    setattr(agent, column, value)
    return agent, {column: value}


@pytest.mark.parametrize("column", COLUMNS)
@pytest.mark.parametrize("way", ["save", "save its fields", "update", "bulk update"])
def test_no_shell_retires_moves_or_turns_a_nodes_agent_p34(alder, way, column):
    before = stored()
    agent, change = moved(Agent.objects.get(pk=alder.pk), column)
    ways = {
        "save": agent.save,
        "save its fields": lambda: agent.save(update_fields=[column]),
        "update": lambda: Agent.objects.filter(slug__in=["alder", "birch"]).update(**change),
        "bulk update": lambda: Agent.objects.bulk_update([agent], [column]),
    }
    with pytest.raises(NodeAgentStays) as why, transaction.atomic():
        ways[way]()
    assert "as long as its node" in str(why.value) and stored() == before


def test_other_columns_of_a_nodes_agent_can_be_written_p34(alder):
    alder.display_name = "Rack 3"
    alder.save()
    alder.save(update_fields=["display_name"])
    Agent.objects.filter(pk=alder.pk).update(display_name="Rack 4")
    assert Agent.objects.get(pk=alder.pk).display_name == "Rack 4"


def test_no_shell_and_no_cascade_deletes_it_p34(alder):
    for delete in (
        alder.delete,
        Agent.objects.filter(pk=alder.pk).delete,
        alder.home_node.delete,
        Node.objects.all().delete,
    ):
        with pytest.raises(NothingIsDeleted):
            delete()
    assert Agent.objects.filter(slug="alder").exists()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("table", ["roster_agent", "roster_node"])
def test_the_database_deletes_neither_a_node_nor_its_agent_s6(now, table):
    """Foreign keys protect the row, and nothing cascades."""
    make.node("alder", now)
    with pytest.raises(IntegrityError), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"DELETE FROM {table} WHERE slug = 'alder'")
    assert Agent.objects.filter(slug="alder").exists() and Node.objects.filter(slug="alder").exists()


def test_the_database_refuses_a_second_agent_of_a_node_and_one_without_a_node_s6(alder, now):
    for wrong in ({"home_node": alder.home_node}, {"home_node": None}):
        with pytest.raises(IntegrityError), transaction.atomic():
            Agent.objects.create(slug="second", kind="node", lifecycle_since=now, created_at=now, **wrong)
    with pytest.raises(IntegrityError), transaction.atomic():
        Agent.objects.filter(pk=alder.pk).update(max_sessions=2)


def signed_in(name: str) -> Client:
    client = Client(headers={"host": "localhost"})
    client.force_login(make.person(name, "admin"))
    return client


def test_the_admin_page_neither_retires_nor_moves_nor_deletes_it_p34(alder):
    ada = signed_in("ada")
    change = reverse("admin:roster_agent_change", args=[alder.pk])
    form = ada.get(change).context["adminform"].form
    assert not set(form.fields) & {"lifecycle", "home_node", "kind", "modality", "enabled", "successor"}
    ada.post(
        change, {name: form.initial.get(name) or "" for name in form.fields} | {"lifecycle": "retired", "home_node": ""}
    )
    fresh = Agent.objects.get(pk=alder.pk)
    assert (fresh.lifecycle, fresh.home_node_id, fresh.kind) == ("active", alder.home_node_id, "node")
    assert ada.get(reverse("admin:roster_agent_delete", args=[alder.pk])).status_code == 403
    assert ada.post(reverse("admin:roster_agent_delete", args=[alder.pk]), {"post": "yes"}).status_code == 403


def test_no_bulk_action_of_the_admin_retires_or_deletes_it_p34(alder):
    """Every action that the list offers, with the node's agent chosen."""
    ada = signed_in("ada")
    url = reverse("admin:roster_agent_changelist")
    form = ada.get(url).context["action_form"]
    offered = [name for name, _ in form.fields["action"].choices if name] if form else []
    assert "delete_selected" not in offered
    for action in {*offered, "delete_selected"}:
        ada.post(
            url, {"action": action, "_selected_action": [alder.pk], "post": "yes", "reason": "x", "confirm": "alder"}
        )
        fresh = Agent.objects.get(pk=alder.pk)
        assert (fresh.lifecycle, fresh.home_node_id) == ("active", alder.home_node_id), action


@pytest.mark.django_db(transaction=True)
def test_twenty_who_enrol_one_node_at_once_make_one_agent_p33(now):
    """On the database that the tests run on; the others are told that the name is taken."""

    def enrol():
        try:
            return nodes.enrol(MANAGER, "cedar", "", now)[0].slug
        except Exception as why:
            return why.code

    assert sorted(at_once(*[enrol] * 20)) == ["cedar"] + ["taken"] * 19
    assert list(Agent.objects.filter(home_node__slug="cedar").values_list("slug", "kind")) == [("cedar", "node")]


def test_a_node_without_an_agent_is_a_fault_that_somebody_is_told_of_r126(alder, now):
    Node.objects.create(slug="orphan", enrolled_at=now)
    sweep(now)
    found = Anomaly.objects.get(kind="node_without_agent")
    assert (found.subject, found.closed_at) == ("orphan", None)
    Agent.objects.create(
        slug="orphan", kind="node", home_node=Node.objects.get(slug="orphan"), lifecycle_since=now, created_at=now
    )
    sweep(now)
    assert Anomaly.objects.get(kind="node_without_agent").closed_at == now
