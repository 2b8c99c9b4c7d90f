"""Which tools an agent may use: a node's own agent always fewer than a person's session."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from agora_web import checks
from roster import plans, tools
from roster.errors import Invalid

USUAL = tools.Usual(person=("read", "edit", "shell", "mail"), node=("read", "mail"))


def agent(kind="employee", scope=None, template=None):
    held = SimpleNamespace(slug="scribe", tool_scope=template) if template != "none" else None
    return SimpleNamespace(kind=kind, tool_scope=scope, template_id=None if held is None else 1, template=held)


@pytest.mark.parametrize(
    ("kind", "scope", "listed"),
    [
        ("employee", None, ["read", "edit", "shell", "mail"]),
        ("node", None, ["read", "mail"]),
        ("employee", ["deploy"], ["deploy"]),
        ("node", [], []),
    ],
)
def test_an_agent_has_its_own_list_or_the_usual_one(kind, scope, listed):
    assert tools.of(agent(kind, scope, "none"), USUAL) == listed


def test_a_clone_never_has_more_than_its_template_allows_now_r114():
    assert tools.of(agent(scope=["read", "shell"], template=["read"]), USUAL) == ["read"]
    assert tools.of(agent(template=["read", "deploy"]), USUAL) == ["read"]
    assert tools.of(agent(scope=["read", "deploy"], template=None), USUAL) == ["read"]


@pytest.mark.parametrize(
    ("scope", "told"),
    [
        (["read", "edit", "shell", "mail"], "at least one"),
        (["mail", "shell", "edit", "read"], "at least one"),
        (["read", "deploy"], "deploy"),
    ],
)
def test_a_nodes_agent_is_refused_all_that_a_person_has_and_anything_else_r140(scope, told):
    with pytest.raises(Invalid) as refusal:
        tools.checked(scope, USUAL, kind="node")
    assert told in refusal.value.problem and refusal.value.detail["field"] == "tools"
    assert tools.checked(["read", "shell"], USUAL, kind="node") == ["read", "shell"]


@pytest.mark.parametrize("scope", ["read", {"read": 1}, [1], [""], ["Read"], ["a b"], ["x" * 65], ["x"] * 101])
def test_what_is_no_list_of_tools_is_refused(scope):
    with pytest.raises(Invalid):
        tools.checked(scope, USUAL)


def test_a_list_is_stored_with_each_tool_once_and_none_stays_none():
    assert tools.checked(["mail", "read", "mail"], USUAL) == ["mail", "read"]
    assert tools.checked(None, USUAL) is None


def test_a_clones_list_is_checked_against_its_template_r114():
    scribe = SimpleNamespace(slug="scribe", tool_scope=["read", "mail"])
    assert tools.checked(["mail"], USUAL, template=scribe) == ["mail"]
    with pytest.raises(Invalid) as refusal:
        tools.checked(["mail", "shell"], USUAL, template=scribe)
    assert "scribe" in refusal.value.problem and "shell" in refusal.value.problem
    with pytest.raises(Invalid):
        tools.checked(None, USUAL, template=scribe)  # the usual ones are more


@pytest.mark.parametrize(
    ("person", "node"),
    [
        (("read", "mail"), ("read", "mail")),
        (("read", "mail"), ("read", "shell")),
        ((), ()),
        (("Read", "mail"), ("mail",)),
    ],
)
def test_settings_that_give_a_node_as_much_as_a_person_are_refused_at_the_start_r140(monkeypatch, person, node):
    assert checks.a_nodes_agent_has_fewer_tools_than_a_person(None) == []
    monkeypatch.setattr(plans, "TOOLS", tools.Usual(person, node))
    (refusal,) = checks.a_nodes_agent_has_fewer_tools_than_a_person(None)
    assert refusal.id == "agora.E009"


def test_a_setting_names_tools_separated_by_commas():
    assert tools.named(" read, mail,,read ") == ("read", "mail")
