"""Nodes: enrolling makes the node and its one agent together."""

from __future__ import annotations

from datetime import datetime

from django.db import IntegrityError, transaction

from roster import access, states
from roster.models import Agent, Node

from . import journal, tokens


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
