"""Every act of an operator is in the journal: who, when, what was before and what is after, and why (P39)."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from roster.models import Agent, Event
from roster.offload import in_database
from tests import make
from tests.make import bearer
from tests.web.calls import operations

# what is done in turn, by whom, and the event that tells of it: its kind, before and after as far as they are held here
EMPTY = {"lifecycle": "hired", "workspace": "", "state": "wanted", "error": ""}
WALK = [
    ("ada", "POST", "nodes", {"slug": "cedar", "name": "Rack 3"}, "node_enrolled", None, {"node": "cedar"}),
    ("ada", "POST", "agents", {"id": "ivo", "node": "cedar"}, "hired", None, {"lifecycle": "hired", "node": "cedar"}),
    ("ada", "PATCH", "agents/ivo", {"max_sessions": 2}, "edited", {"max_sessions": 1}, {"max_sessions": 2}),
    ("ada", "PUT", "agents/ivo/engram", {"text": "Be brief."}, "engram_edited", {"revision": 0}, {"revision": 1}),
    ("ada", "POST", "agents/ivo/reassign", {"node": "alder"}, "reassigned", {"node": "cedar"}, {"node": "alder"}),
    ("alder", "POST", "agents/ivo/workspace", {"state": "failed", "error": "full"}, "workspace_failed", EMPTY,
     {"state": "failed", "error": "full"}),
    ("alder", "POST", "agents/ivo/workspace", {"state": "ready", "path": "/srv"}, "workspace_ready",
     {"lifecycle": "hired", "error": "full"}, {"lifecycle": "active", "workspace": "/srv", "error": ""}),
    ("ada", "POST", "agents/ivo/disable", {"reason": "stop"}, "disabled", {"enabled": True}, {"enabled": False}),
    ("ada", "POST", "agents/ivo/enable", {}, "enabled", {"enabled": False, "reason": "stop"}, {"enabled": True}),
    ("ada", "POST", "violations", {"agent": "ivo", "rule": "review", "evidence": "1a2b", "evidence_key": "1a2b"},
     "violation", None, {"rule": "review"}),
    ("ada", "POST", "agents/ivo/dismiss", {"rule": "review", "reason": "again"}, "dismissed", {"lifecycle": "active"},
     {"lifecycle": "draining"}),
    ("ada", "POST", "warnings/{warning}/withdraw", {"reason": "a mistake"}, "warning_withdrawn", None, None),
    ("ada", "POST", "agents/ivo/retire", {"reason": "replaced", "successor": "echo"}, "draining", {"successor": None},
     {"successor": "echo"}),
    ("ada", "POST", "agents/ivo/force-retire", {"reason": "it hangs", "confirm": "ivo"}, "force_retired",
     {"lifecycle": "draining"}, {"lifecycle": "retired"}),
    ("ada", "POST", "agents/echo/drain", {"reason": "done"}, "draining", {"lifecycle": "active"},
     {"lifecycle": "draining"}),
    ("ada", "POST", "templates", {"id": "scribe", "node": "alder"}, "template_edited", None, {"template": "scribe"}),
    ("ada", "POST", "templates/scribe/clone", {}, "cloned", None, {"node": "alder"}),
    ("ada", "POST", "nodes/cedar/retire", {"reason": "sold"}, "node_retiring", {"node": "enrolled"},
     {"node": "retiring"}),
]  # fmt: skip
NOT_OPERATORS = ("/inbox", "/memory", "/sign-off", "/messages", "/heartbeat", "/prompt", "/queue", "/exchanges")


def part(whole: dict | None, held: dict | None) -> dict | None:
    """Of ``whole`` what ``held`` names."""
    return whole if held is None or whole is None else {name: whole.get(name) for name in held}


async def test_every_call_of_an_operator_is_in_the_journal_p39(api, transactional_db):
    alder = (await in_database(make.node, "alder"))[2]
    tokens = {"alder": alder, "ada": await in_database(make.person_token, "ada", "admin")}
    await in_database(make.agent, "echo")
    await in_database(make.rule, "review")
    warning = 0
    for by, method, path, body, kind, before, after in WALK:
        last, began = await in_database(lambda: Event.objects.order_by("pk").last().pk), timezone.now()
        answer = await api.request(
            method, f"/api/{path.format(warning=warning)}", json=body, headers=bearer(tokens[by])
        )
        assert answer.is_success, (path, answer.text)
        warning = answer.json().get("warning") or warning
        new = await in_database(lambda last=last: list(Event.objects.filter(pk__gt=last)))
        (event,) = [each for each in new if each.kind == kind]
        assert event.by == by and began - timedelta(seconds=1) <= event.at <= timezone.now(), path
        told = part(event.before, before), part(event.after, after)
        assert told == (before or event.before, after or event.after) and any(told), path
        assert event.reason.endswith(body.get("reason", "")), path


def test_the_walk_leaves_no_call_of_an_operator_out_p39():
    walked = {(method, path.split("/")[0], path.split("/")[-1] if "/" in path else "") for _, method, path, *_ in WALK}
    asked = set()
    for method, path in operations():
        if method not in ("GET", "DELETE") and not any(each in path for each in NOT_OPERATORS):
            parts = path.removeprefix("/api/").split("/")
            last = parts[-1].replace("{id}", "ivo") if len(parts) > 1 else ""
            asked.add((method, parts[0], last))
    assert asked - {("PUT", "agents", "ivo")} == walked


@pytest.mark.django_db
def test_an_edit_in_the_admin_tells_what_was_and_what_is_p39(now):
    agent = make.agent("echo", now)[0]
    client = Client(headers={"host": "localhost"})
    client.force_login(make.person("ada", "admin"))
    url = reverse("admin:roster_agent_change", args=[agent.pk])
    form = client.get(url).context["adminform"].form
    held = {name: "" if (value := form.get_initial_for_field(field, name)) is None else value
            for name, field in form.fields.items()}  # fmt: skip
    initial = {f"initial-{name}": value for name, value in held.items()}
    changes = {"display_name": "Echo", "expected_interval": 600, "max_sessions": 4}
    assert client.post(url, held | initial | changes).status_code == 302
    told = list(Event.objects.filter(agent=agent, kind="edited").values_list("by", "before", "after"))
    assert told == [
        ("ada", {"display_name": "", "expected_interval": 1800}, {"display_name": "Echo", "expected_interval": 600}),
        ("ada", {"max_sessions": 1}, {"max_sessions": 4}),
    ]
    assert Agent.objects.get(pk=agent.pk).max_sessions == 4
