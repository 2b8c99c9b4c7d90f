"""docs/api.md is what people program against: it names every call, and what it says is what the hub does."""

from __future__ import annotations

import re
import shlex
from string import Template
from uuid import uuid4

import pytest
from django.utils import timezone

from inbox.models import Exchange
from roster.models import Agent, Node
from roster.offload import in_database
from roster.services import switch
from tests import make
from tests.hubs import ROOT
from tests.inbox import asking
from tests.make import bearer
from tests.web.calls import body_of, cells, operations, where
from tests.web.conftest import Fleet
from tests.web.test_registry import AGENT

TEXT = (ROOT / "docs" / "api.md").read_text()
RIGHTS = [cells(line) for line in TEXT.splitlines() if re.match(r"\| `[A-Z]+ /api", line)]
READS = ("agents/echo/inbox", "messages/1", "threads/1", "search?q=hello")
BY_NAME = ("/api/heartbeat", "/api/messages")  # the node says in a header whom it speaks for
WRITING = ("PUT", "POST", "PATCH")
ABOUT = {
    "echo itself": "echo",
    "an agent at home on another node": "bram",
    "alder's node agent": "alder",
    "a person": "mira",
    "mira, the manager": "mira",
    "in echo's name": "echo",
    "in the name of an agent at home on another node": "bram",
    "mail to echo": "echo",
    "mail to an agent at home on another node": "bram",
    "everybody": "",
    "in its own name": "",
    "a prompt to echo": "echo",
    "a prompt to an agent at home on another node": "bram",
    "the token": "",
}


def test_every_call_of_the_schema_is_in_the_reference_and_no_other():
    headings = set(re.findall(r"^### `(\w+) (/api\S+)`$", TEXT, re.M))
    assert headings == set(operations())
    rights = {tuple(row[0].strip("`").split()) for row in RIGHTS}
    assert rights == set(operations())


@pytest.mark.core
async def test_the_table_of_who_may_call_what_is_what_the_hub_does(api, fleet):
    """Line by line, column by column; and 401 without a token."""
    assert cells(next(line for line in TEXT.splitlines() if line.startswith("| call |")))[2:] == list(Fleet.KINDS)
    await in_database(make.rule, "review")
    for number, (call, about, *expected) in enumerate(RIGHTS):
        method, path = call.strip("`").split()
        slug = ABOUT.get(about)
        seq, lease = await taken_mail(api, fleet, slug) if "{seq}" in path or "/inbox/" in path else (0, "")
        exchange, lease = await handed_out(fleet, slug) if "{exchange}" in path else (0, lease)
        for kind, status in zip(Fleet.KINDS, expected, strict=True):
            by_name = path in BY_NAME or ("{seq}" in path and kind == "node")
            named = {"Agora-Agent": slug} if slug and by_name and (kind, slug) != ("agent", "echo") else {}
            about_whom = f"new-{number}-{kind}" if slug is None else slug
            warning = await in_database(warned, about_whom) if about == "a warned agent" else 0
            if about in NEW:
                await in_database(NEW[about], about_whom)
            call_of = method, where(path, about_whom, seq, warning, exchange)
            how = request(method, path, about_whom, seq, lease)
            answer = await api.request(*call_of, headers=bearer(fleet.kinds()[kind], **named), **how)
            assert answer.status_code == int(status), (call, about, kind, answer.text)
        assert (await api.request(*call_of, **how)).status_code == 401, (call, about)


async def taken_mail(api, fleet, slug: str) -> tuple[int, str]:
    """A message that bram wrote to himself or alder to ``slug``, just drained: its number and the lease."""
    token, named = (fleet.bram, {}) if slug == "bram" else (fleet.node, {"Agora-Agent": "alder"})
    letter = {"to": slug, "body": "hello"}
    sent = await api.post("/api/messages", json=letter, headers=bearer(token, **named))
    own = {"echo": fleet.agent, "bram": fleet.bram, "alder": fleet.node, "mira": fleet.manager}[slug]
    taken = await api.post(f"/api/agents/{slug}/inbox/drain", headers=bearer(own))
    return sent.json()["seq"], taken.json()["lease"]


async def handed_out(fleet, slug: str) -> tuple[int, str]:
    """A prompt that bram asked ``slug`` and that runs: its number and its lease."""
    own = {"echo": fleet.agent, "bram": fleet.bram}[slug]

    def handed():
        asking.ask(fleet.bram, slug, timezone.now())
        asking.claim(own, slug, timezone.now())
        return Exchange.objects.filter(target__slug=slug, state="running").values_list("pk", "lease_key").get()

    return await in_database(handed)


def employee(slug: str) -> None:
    """An agent at home on alder."""
    make.agent(slug)
    Agent.objects.filter(slug=slug).update(home_node=Node.objects.get(slug="alder"))


def disabled(slug: str) -> None:
    employee(slug)
    switch.disable(make.MANAGER, slug, "a mistake", timezone.now())


def scribe(slug: str) -> None:
    make.template(node=Node.objects.get(slug="alder"))


NEW = {
    "a template": scribe,
    "an employee at home on alder": employee,
    "a disabled employee": disabled,
    "a node": make.node,
}


def warned(slug: str) -> int:
    """A warning of the new agent ``slug``."""
    make.agent(slug)
    make.rule("review")
    return make.report(slug, "review", "1a2b").warning.pk


def request(method: str, path: str, slug: str, seq: int, lease: str) -> dict:
    bodies = {
        "/api/heartbeats": [{"agent": slug}],
        "/api/nodes": {"slug": slug},
        "/api/agents": {"id": slug, "node": "birch"},
        "/api/templates": {"id": slug},
        "/api/agents/{id}/force-retire": {"reason": "it hangs", "confirm": slug},
        "/api/heartbeat": {},
        "/api/messages": {"to": "mira", "body": "hello"},
        "/api/violations": {"agent": slug, "rule": "review", "evidence": "commit", "evidence_key": str(uuid4())},
        "/api/agents/{id}/inbox/ack": {"seqs": [seq], "lease": lease},
        "/api/agents/{id}/inbox/extend": {"lease": lease},
        "/api/agents/{id}/inbox/release": {"lease": lease},
        "/api/exchanges/{exchange}/answer": {"lease": lease, "body": "hello"},
        "/api/exchanges/{exchange}/fail": {"lease": lease, "error": "no model"},
        "/api/exchanges/{exchange}/extend": {"lease": lease},
    }
    if path == "/api/search":
        return {"params": {"q": "hello"}}
    return {"json": bodies.get(path, body_of(method, path))} if method in WRITING else {}


def test_the_schema_tells_the_body_of_every_call_that_writes():
    from agora_web.api import api

    schema = api.get_openapi_schema()
    for method, path in operations():
        assert ("requestBody" in schema["paths"][path][method.lower()]) == (method in WRITING), (method, path)
    assert schema["security"] == [{"bearer": []}]


def test_every_field_of_an_agent_is_described():
    section = TEXT.partition("\n## An agent\n")[2].partition("\n## ")[0]
    described = set(
        re.findall(r"`(\w+)`", "".join(cells(line)[0] for line in section.splitlines() if line.startswith("| `")))
    )
    assert described >= AGENT


async def test_every_field_that_the_hub_gives_is_described(api, fleet):
    section = TEXT.partition("\n## An agent\n")[2].partition("\n## ")[0]
    told = (await api.get("/api/agents/echo", headers=bearer(fleet.agent))).json()
    assert [name for name in told if f"`{name}`" not in section] == []


async def test_every_field_that_the_mail_calls_give_is_described(api, fleet):
    section = TEXT.partition("\n## Mail\n")[2].partition("\n## ")[0]
    own, letter = bearer(fleet.agent), {"to": ["echo", "mira"], "body": "hello"}
    answers = [await api.post("/api/messages", json=letter, headers=own)]
    answers += [await api.get(f"/api/{path}", headers=own) for path in READS]
    answers += [await api.post(f"/api/{path}", headers=own) for path in ("agents/echo/inbox/drain", "messages/1/read")]
    ack = {"seqs": [1], "lease": answers[5].json()["lease"]}
    answers += [await api.post("/api/agents/echo/inbox/ack", json=ack, headers=own)]
    assert all(each.is_success for each in answers)
    told = set().union(*(names(each.json()) for each in answers))
    assert len(told) > 35
    assert sorted(name for name in told if not re.search(rf"[`\"{{ ]{name}[`\",}} ]", section)) == []


async def test_every_field_that_the_prompt_calls_give_is_described(api, fleet):
    section = TEXT.partition("\n## Prompts\n")[2].partition("\n## ")[0]
    own, as_node = bearer(fleet.agent), bearer(fleet.node)
    asked = await api.post("/api/nodes/alder/prompt", json={"body": "hello"}, headers=own)
    await api.post("/api/nodes/alder/prompt", json={"body": "hello again"}, headers=own)
    answers = [asked, await api.get("/api/exchanges/1", headers=own)]
    for _ in range(2):
        answers += [await api.post("/api/agents/alder/queue/claim", headers=as_node)]
        word = {"lease": answers[-1].json()["lease"], "body": "hello"}
        path = f"/api/exchanges/{answers[-1].json()['exchange']}/answer"
        answers += [await api.post(path, json=word, headers=as_node)]
    answers += [await api.get("/api/nodes/alder/record", headers=as_node)]
    told = set().union(*(names(each.json()) for each in answers))
    assert len(told) > 25
    assert sorted(name for name in told if not re.search(rf"[`\"{{ ]{name}[`\",}} ]", section)) == []


def names(value) -> set[str]:
    """Every field of a JSON value, however deep."""
    if isinstance(value, list):
        return set().union(*map(names, value))
    return set(value).union(*map(names, value.values())) if isinstance(value, dict) else set()


def test_every_error_code_of_the_hub_is_in_the_table():
    """Read from the code: each class of refusal, and each code given by hand."""
    from roster import body, errors

    kinds = [
        each
        for each in (*vars(errors).values(), *vars(body).values())
        if isinstance(each, type) and issubclass(each, errors.HubError)
    ]
    codes = {each.code for each in kinds if each is not errors.HubError and each is not errors.Conflict}
    codes |= {"bad_host", "bad_address", "method_not_allowed", "internal"}
    sources = [path for room in ("roster", "inbox", "agora_web") for path in (ROOT / room).rglob("*.py")]
    by_hand = {code for path in sources for code in re.findall(r'\bcode="(\w+)"', path.read_text())}
    codes |= by_hand | {"held", "lease_expired"}
    assert {"taken", "never_deleted", "unknown_recipient"} <= by_hand, "the pattern finds nothing, so it proves nothing"
    table = TEXT.partition("\n### Errors\n")[2].partition("\n## ")[0]
    assert [code for code in codes if f"`{code}`" not in table] == []


async def test_the_examples_work_as_they_stand(api, transactional_db, enrolment):
    """Each curl line of the page, in order, asked of the real application."""
    known = {
        "HUB": "",
        "TOKEN": "",
        "ENROL": enrolment,
        "NODE_TOKEN": await in_database(lambda: make.node("alder")[2]),
        "MANAGER_TOKEN": await in_database(make.person_token, "mira", "manager"),
        "ADMIN_TOKEN": await in_database(make.person_token, "ada", "admin"),
    }
    await in_database(make.rule, "review")
    lines = re.findall(r"^    (curl .*)$", TEXT, re.M)
    assert len(lines) >= 9
    for line in lines:
        answer = await curl(api, Template(line).substitute(known))
        assert answer.status_code in (200, 201, 202), (line, answer.text)
        told = answer.json()
        known |= {"TOKEN": told["token"]} if answer.request.method == "PUT" and "token" in told else {}
        known |= {name.upper(): told[name] for name in ("seq", "lease", "warning", "exchange") if told.get(name)}


async def curl(api, line: str):
    """The request that a curl line makes; it knows -X, -H and -d."""
    words = iter(shlex.split(line)[1:])
    how = {"method": "GET", "headers": {}}
    for word in words:
        if word == "-X":
            how["method"] = next(words)
        elif word == "-H":
            name, _, value = next(words).partition(": ")
            how["headers"][name] = value
        elif word == "-d":
            how["content"] = next(words).encode()
        else:
            how["url"] = word
    return await api.request(**how)
