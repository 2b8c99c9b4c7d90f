"""What is asked, answered and said about an employment is text everywhere (P67)."""

from __future__ import annotations

import pytest
from django.utils import timezone

from inbox.models import Exchange
from roster.models import Agent, AgentTemplate, Rule, Warning
from roster.services import conduct, engrams, hiring, switch
from roster.services import memory as remembering
from tests import make
from tests.inbox import asking
from tests.roster import staff
from tests.web.test_inert import HOSTILE, Elements

pytestmark = pytest.mark.django_db
TEXT = " ".join(HOSTILE)
SHORT = TEXT[:200]


@pytest.fixture
def ada(client):
    """An admin, in a hub in which everybody wrote something hostile wherever they could."""
    now = timezone.now()
    person = make.person("ada", "admin")
    _, _, node = make.node("harbor", now)
    caller = make.agent("mallory", now)[1]
    agent, own = staff.hire("echo", now, node="harbor", engram=TEXT, display_name=SHORT)
    for slug, token in (("harbor", node), ("echo", own)):
        for end in (asking.answer, asking.fail):
            asking.ask(caller, slug, now, TEXT, subject=SHORT)
            end(token, asking.turn(token, slug, now, session=SHORT), now, TEXT)
        asking.ask(caller, slug, now, TEXT)
        asking.turn(token, slug, now, session=SHORT)
        asking.ask(caller, slug, now, TEXT, subject=SHORT)
        engrams.edit(make.ADMIN, slug, f"{TEXT} {TEXT}", now)
    remembering.remember(asking.who(own), "echo", SHORT[:64], TEXT, now)
    make.rule("review", now, text=TEXT)
    for key in (SHORT, f"2{SHORT}"[:200]):
        conduct.report(make.MANAGER, "echo", "review", TEXT, key, now, make.WARNING_AGE)
    make.template("scribe", now, display_name=SHORT, engram=TEXT)
    hiring.report_workspace(staff.of_node("harbor"), "echo", "failed", SHORT, SHORT, now)
    for slug in ("harbor", "echo"):
        switch.disable(make.MANAGER, slug, SHORT, now)
        asking.ask(caller, slug, now, TEXT)
    client.force_login(person)
    return client


def addresses() -> list[str]:
    echo, number = Agent.objects.get(slug="echo").pk, Exchange.objects.first().pk
    verbs = ("drain", "retire", "dismiss", "force-retire", "reassign", "enable")
    admin = ("agenttemplate", "rule", "warning", "violation", "engramrevision", "memoryentry", "act", "anomaly")
    return [
        "/nodes/", "/nodes/harbor/", f"/nodes/harbor/?whole={number}&before={number + 1}", "/nodes/harbor/?q=alert",
        "/nodes/harbor/retire/", "/agents/echo/", "/agents/echo/record/", "/agents/echo/record/?q=alert",
        "/agents/echo/engram/", "/agents/harbor/engram/", "/agents/harbor/", "/events/", "/events/?agent=echo",
        "/anomalies/", "/", *(f"/agents/echo/{verb}/" for verb in verbs), "/agents/echo/disable/",
        f"/warnings/{Warning.objects.get().pk}/withdraw/", f"/hire/?id={SHORT}&node={SHORT}",
        *(f"/admin/roster/{each}/" for each in admin), "/admin/inbox/exchange/", f"/admin/inbox/exchange/{number}/change/",
        f"/admin/roster/agent/{echo}/change/", f"/admin/roster/rule/{Rule.objects.get().pk}/change/",
        f"/admin/roster/agenttemplate/{AgentTemplate.objects.get().pk}/change/",
        f"/admin/roster/warning/{Warning.objects.get().pk}/change/",
    ]  # fmt: skip


def test_what_is_asked_and_said_of_an_employment_acts_on_no_page_p67(ada):
    shown = 0
    for address in addresses():
        page = ada.get(address)
        found = Elements(page.content.decode())
        assert (page.status_code, found.acting) == (200, []), address
        shown += HOSTILE[0] in "".join(found.text)
    assert shown > 20


def test_what_is_shown_again_in_a_form_that_was_refused_acts_nowhere_p67(ada):
    for address in ("/nodes/harbor/ask/", "/agents/echo/record/ask/", "/hire/", "/agents/echo/force-retire/"):
        typed = dict.fromkeys(
            ("id", "node", "display_name", "max_sessions", "engram", "reason", "confirm", "key"), TEXT
        )
        page = ada.post(address, typed | {"body": "x" * 300_000 if "ask" in address else TEXT, "next": TEXT})
        assert (page.status_code // 100, Elements(page.content.decode()).acting) == (4, []), address
