"""Small words for the tests of employment: who asks, hire, let the sweep pass."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db import transaction

from inbox.models import Exchange, Message
from inbox.services import exchanges
from roster import access, plans
from roster.models import Agent, Node, SweepRun
from roster.services import finishing, hiring, journal
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


@transaction.atomic
def prompt(target: str, caller: str, at: datetime, running_until: datetime | None = None) -> Exchange:
    """A prompt that waits for ``target``, or that runs under a lease; entered past the calls that make one."""
    to, by = Agent.objects.get(slug=target), Agent.objects.get(slug=caller)
    seq = journal.next_version("mail")
    message = Message(seq=seq, sender=by, kind="prompt", body="how are you?", size=12, thread=seq, sent_at=at)
    message.save(force_insert=True)
    running = {"state": "running", "started_at": at, "lease_until": running_until, "lease_key": f"lease-{seq}"}
    made = Exchange.objects.create(
        prompt=message,
        target=to,
        caller=by,
        of_node=to.kind == "node",
        asked_at=at,
        **(running if running_until else {}),
    )
    exchanges.recount(to)
    return made


@transaction.atomic
def finish(exchange: Exchange, at: datetime) -> None:
    """Its runner has answered."""
    Exchange.objects.filter(pk=exchange.pk).update(state="answered", outcome="answered", finished_at=at)
    exchanges.recount(exchange.target)
