"""Which tools an agent may use. Pure functions, standard library only.

A node's own agent answers whoever asks, unwatched: its list is always a proper part of what a session that a person
drives may use (R140). A clone may use what its template allows, and no more (R114).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from .errors import Invalid

NAME = re.compile(r"[a-z0-9][a-z0-9_.:-]{0,63}")
MOST = 100
RULE = "a tool has small letters, digits, '.', '_', ':' and '-', at most 64 of them"


@dataclass(frozen=True, slots=True)
class Usual:
    """The lists of those that have none of their own: what a ``person`` gives an employee, and a ``node`` its agent."""

    person: tuple[str, ...]
    node: tuple[str, ...]


def of(agent, usual: Usual) -> list[str]:
    """The tools of ``agent`` (its kind, tool_scope and template): its own list, else the usual one; of a clone, as far
    as its template allows it now."""
    mine = _list(agent.kind, agent.tool_scope, usual)
    if agent.template_id is None:
        return mine
    most = _list("employee", agent.template.tool_scope, usual)
    return [tool for tool in mine if tool in most]


def checked(
    scope: Iterable[str] | None, usual: Usual, *, kind: str = "employee", template=None, field: str = "tools"
) -> list[str] | None:
    """``scope`` as it is stored for an agent of ``kind``, which is a clone where it has a ``template``: each tool once,
    in order; None for the usual ones. Raises Invalid for ``field``."""
    listed = None if scope is None else _tidy(scope, field)
    effective = _list(kind, listed, usual)
    if kind == "node" and (problem := too_much(effective, usual.person)):
        raise Invalid(field, problem)
    most = effective if template is None else _list("employee", template.tool_scope, usual)
    if beyond := [tool for tool in effective if tool not in most]:
        raise Invalid(field, f"its template '{template.slug}' does not allow {', '.join(beyond)}")
    return listed


def too_much(tools: Iterable[str], person: Iterable[str]) -> str:
    """Why a node's own agent may not have ``tools``, where a person's sessions have ``person``; "" where it may."""
    tools, person = set(tools), set(person)
    if beyond := sorted(tools - person):
        return f"a node's own agent has fewer tools than a person's session, which does not have {', '.join(beyond)}"
    if tools == person:
        return "a node's own agent has fewer tools than a person's session: leave at least one of them out"
    return ""


def named(text: str) -> tuple[str, ...]:
    """The tools that a setting names, separated by commas."""
    return tuple(dict.fromkeys(word.strip() for word in text.split(",") if word.strip()))


def fault(usual: Usual) -> str:
    """What is wrong with the usual lists themselves, as they were set; "" where they can be used."""
    if not all(NAME.fullmatch(tool) for tool in (*usual.person, *usual.node)):
        return RULE
    return too_much(usual.node, usual.person)


def _list(kind: str, scope: Iterable[str] | None, usual: Usual) -> list[str]:
    if scope is not None:
        return list(scope)
    return list(usual.node if kind == "node" else usual.person)


def _tidy(scope: Iterable[str], field: str) -> list[str]:
    if not isinstance(scope, list | tuple) or not all(isinstance(tool, str) for tool in scope):
        raise Invalid(field, 'expected a list of names, such as ["read", "search"]')
    if odd := [tool for tool in scope if not NAME.fullmatch(tool)]:
        raise Invalid(field, f"'{odd[0][:80]}' is no tool: {RULE}")
    if len(scope) > MOST:
        raise Invalid(field, f"has {len(scope)} tools, {MOST} at most")
    return list(dict.fromkeys(scope))
