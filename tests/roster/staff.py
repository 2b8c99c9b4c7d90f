"""Small words for the tests of employment: who asks, hire, let the sweep pass."""

from __future__ import annotations

from datetime import datetime, timedelta

from roster import access, plans
from roster.models import Agent, Node, SweepRun
from roster.services import finishing, hiring
from tests import make

MANAGER, ADMIN = make.MANAGER, access.Caller("person", "ada", role="admin")
PERIOD, LATE = timedelta(seconds=5), timedelta(days=1)


def hire(slug: str, now: datetime, node: str = "alder", ready: bool = True, **more) -> tuple[Agent, str]:
    """An employee on ``node``, enrolled where it is not there; its workspace is ready unless it is not to be."""
    if not Node.objects.filter(slug=node).exists():
        make.node(node, now)
    agent, raw = hiring.hire(MANAGER, hiring.Wanted(slug, node, **more), plans.TOOLS, now)
    if ready:
        hiring.report_workspace(of_node(node), slug, "ready", f"/srv/{slug}", "", now)
    return Agent.objects.select_related("home_node").get(pk=agent.pk), raw


def of_node(slug: str) -> access.Caller:
    return access.Caller("node", slug, node_id=Node.objects.get(slug=slug).pk)


def sweep(now: datetime) -> SweepRun:
    """One run of the employment sweep; it may not fail."""
    run = finishing.run(PERIOD, LATE, now)
    assert run is not None and run.errors == 0
    return run


def lifecycle(slug: str) -> str:
    return Agent.objects.values_list("lifecycle", flat=True).get(slug=slug)
