"""Nodes: enrolling makes the node and its one agent together, retiring lets both finish; and when a node last called."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db import IntegrityError, transaction
from django.db.models import Q

from roster import access, states
from roster.errors import Conflict
from roster.models import Agent, Node

from . import journal, lifecycle, tokens

TOUCH = timedelta(seconds=5)  # how exactly a node's last call is kept: its agents' heartbeats write like one
NAMED = 20  # employees that a refusal names


def enrol(who: access.Caller, slug: str, name: str, now: datetime) -> tuple[Node, Agent, str]:
    """Makes node ``slug``, its node agent of the same id and the node's token (raw, once) in one transaction.

    Needs a manager. Raises Conflict where the id is taken: nodes and agents share one name space.
    """
    access.require_role(who, "manager")
    access.valid_slug(slug)
    try:
        with transaction.atomic():
            node = Node.objects.create(slug=slug, name=name, enrolled_at=now)
            agent = Agent.objects.create(
                slug=slug, display_name=name, kind="node", liveness_mode=states.ALWAYS_ON, home_node=node,
                trust_posture="hardened", lifecycle_since=now, created_at=now,
            )  # fmt: skip
            raw = tokens.issue("node", by=who.name, now=now, node=node, label="enrolled")
            enrolled = journal.happened("node_enrolled", who.name, now, agent=agent, after={"node": slug, "name": name})
            journal.write(enrolled, changed=[agent.pk])
    except IntegrityError:
        raise access.taken(slug) from None
    return node, agent, raw


@transaction.atomic
def retire(who: access.Caller, slug: str, reason: str, now: datetime) -> Node:
    """Retires the node ``slug``: its agent drains, and both are retired once it is empty (R130). Nobody can be hired onto
    it from here on.

    Raises Forbidden, NotFound, and Conflict where it is being retired already or where employees live on it, who are
    named.
    """
    access.require(who, "retire")
    node = access.node(slug)
    if node.lifecycle != "enrolled":
        raise Conflict(f"The node '{slug}' is {node.lifecycle} already.", state=node.lifecycle, allowed=[],
                       code=f"node_{node.lifecycle}")  # fmt: skip
    _refuse_inhabited(node)
    node.lifecycle = "retiring"
    node.save(update_fields=["lifecycle"])
    agent = Agent.objects.select_for_update(no_key=True).get(home_node=node, kind="node")
    before, after = {"node": "enrolled"}, {"node": "retiring"}
    event = journal.happened("node_retiring", who.name, now, agent=agent, before=before, after=after, reason=reason)
    journal.write(event)
    lifecycle.begin_drain(agent, by=who.name, now=now, reason=reason or f"its node '{slug}' is being retired")
    return node


def _refuse_inhabited(node: Node) -> None:
    living = Agent.objects.filter(home_node=node, kind="employee").exclude(lifecycle=states.RETIRED).order_by("slug")
    ids = list(living.values_list("slug", flat=True))
    if ids:
        named = ", ".join(ids[:NAMED]) + (f" and {len(ids) - NAMED} more" if len(ids) > NAMED else "")
        said = f"These live on '{node.slug}': {named}. Reassign or retire them first."
        raise Conflict(said, state=node.lifecycle, allowed=[], code="employees", employees=ids)


def contacted(digest: str, now: datetime) -> None:
    """The node behind a token called at ``now``. Must not run inside another transaction: a node's row is locked before
    an agent's."""
    of_token = Node.objects.filter(tokens__digest=digest, tokens__revoked_at=None)
    stale = Q(contact_at=None) | ~Q(contact_at__range=(now - TOUCH, now))
    key = of_token.filter(stale).values_list("pk", flat=True).first()
    if key:
        Node.objects.filter(stale, pk=key).update(contact_at=now)
