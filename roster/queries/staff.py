"""Employment and nodes as the calls and the pages show them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Q

from roster import contact, states, tools
from roster import employment as rules
from roster.models import Agent, Node
from roster.rows import Row
from roster.selector import select

from .employment import counting


@dataclass(frozen=True, slots=True)
class Employment:
    """How one agent is employed: ``since`` when its ``lifecycle`` is what it is, and why; ``allowed`` are the verbs that
    it allows now. ``in_use`` of ``max_sessions`` prompts run, ``queued`` wait; ``warnings`` are those that count."""

    lifecycle: str
    since: datetime
    reason: str
    successor: str | None
    allowed: tuple[str, ...]
    node: str | None
    max_sessions: int
    in_use: int
    queued: int
    workspace_state: str
    workspace: str
    workspace_error: str
    template: str | None
    expires_at: datetime | None
    tools: tuple[str, ...]
    warnings: int


def employed(slug: str, usual: tools.Usual, now: datetime, age: timedelta) -> Employment | None:
    """How the agent ``slug`` is employed; None where the registry has no such row. ``usual`` are the tools of who has no
    list of its own; a warning counts for ``age``."""
    related = ("home_node", "template", "successor")
    agent = Agent.objects.select_related(*related).filter(slug=slug).first()
    return None if agent is None else employment_of(agent, usual, now, age)


def employment_of(agent: Agent, usual: tools.Usual, now: datetime, age: timedelta) -> Employment:
    return Employment(
        lifecycle=agent.lifecycle,
        since=agent.lifecycle_since,
        reason=agent.lifecycle_reason,
        successor=agent.successor.slug if agent.successor_id else None,
        allowed=rules.allowed(agent),
        node=agent.home_slug,
        max_sessions=agent.max_sessions,
        in_use=agent.running,
        queued=agent.queued,
        workspace_state=agent.workspace_state,
        workspace=agent.workspace,
        workspace_error=agent.workspace_error,
        template=agent.template.slug if agent.template_id else None,
        expires_at=agent.expires_at,
        tools=tuple(tools.of(agent, usual)),
        warnings=counting(now, age).filter(agent=agent).count(),
    )


@dataclass(frozen=True, slots=True)
class NodeRow:
    """A node with its agent and the ids of the employees who live there; ``unreachable_since`` is its last call where
    that is too long ago. ``agent`` is None only where somebody broke the database."""

    slug: str
    name: str
    lifecycle: str
    interval: int
    contact_at: datetime | None
    unreachable_since: datetime | None
    agent: Row | None
    employees: tuple[Row, ...]

    @property
    def reachable(self) -> bool:
        return self.unreachable_since is None

    @property
    def url(self) -> str:
        return f"/nodes/{self.slug}/"


def node(slug: str, now: datetime) -> NodeRow | None:
    """The node ``slug`` at ``now``, if there is one."""
    return next(iter(_rows(Node.objects.filter(slug=slug), now)), None)


def nodes(now: datetime) -> list[NodeRow]:
    """All nodes at ``now``, in the order of their ids; retired ones come last."""
    return sorted(_rows(Node.objects.order_by("slug"), now), key=lambda node: node.lifecycle == states.RETIRED)


def _rows(found: Iterable[Node], now: datetime) -> list[NodeRow]:
    found = list(found)
    living = Q(home_node__in=[each.pk for each in found]) & ~Q(kind="employee", lifecycle=states.RETIRED)
    at_home: dict[str, list[Row]] = {}
    for row in select(Agent.objects.filter(living).order_by("slug"), now):
        at_home.setdefault(row.home_node, []).append(row)
    return [_row(each, at_home.get(each.slug, []), now) for each in found]


def _row(node: Node, at_home: list[Row], now: datetime) -> NodeRow:
    return NodeRow(
        slug=node.slug,
        name=node.name,
        lifecycle=node.lifecycle,
        interval=node.interval,
        contact_at=node.contact_at,
        unreachable_since=contact.unreachable_since(node.contact_at, node.interval, now),
        agent=next((row for row in at_home if row.kind == "node"), None),
        employees=tuple(row for row in at_home if row.kind == "employee"),
    )
