"""docs/api.md is what people program against: it names every call, and what it says is what the hub does."""

from __future__ import annotations

import re
import shlex
from string import Template

import pytest

from roster.offload import in_database
from tests import make
from tests.hubs import ROOT
from tests.make import bearer
from tests.web.calls import cells, operations
from tests.web.conftest import Fleet
from tests.web.test_registry import AGENT

TEXT = (ROOT / "docs" / "api.md").read_text()
RIGHTS = [cells(line) for line in TEXT.splitlines() if re.match(r"\| `[A-Z]+ /api", line)]
ABOUT = {
    "echo itself": "echo",
    "an agent at home on another node": "bram",
    "alder's node agent": "alder",
    "a person": "mira",
    "everybody": "",
    "the token": "",
}


def test_every_call_of_the_schema_is_in_the_reference_and_no_other():
    headings = set(re.findall(r"^### `(\w+) (/api\S+)`$", TEXT, re.M))
    assert headings == set(operations())
    rights = {tuple(row[0].strip("`").split()) for row in RIGHTS}
    assert rights == set(operations())


@pytest.mark.core
async def test_the_table_of_who_may_call_what_is_what_the_hub_does(api, fleet):
    """Line by line, column by column; and 401 for everybody without a token."""
    assert cells(next(line for line in TEXT.splitlines() if line.startswith("| call |")))[2:] == list(Fleet.KINDS)
    for number, (call, about, *expected) in enumerate(RIGHTS):
        method, path = call.strip("`").split()
        for kind, status in zip(Fleet.KINDS, expected, strict=True):
            slug = ABOUT.get(about, f"new-{number}-{kind}")
            how = request(method, path, slug)
            named = (
                {} if kind == "agent" and slug == "echo" else {"Agora-Agent": slug} if path == "/api/heartbeat" else {}
            )
            answer = await api.request(
                method, path.replace("{id}", slug), headers=bearer(fleet.kinds()[kind], **named), **how
            )
            assert answer.status_code == int(status), (call, about, kind, answer.text)
            stranger = await api.request(method, path.replace("{id}", slug), **how)
            assert stranger.status_code == 401, (call, about)


def request(method: str, path: str, slug: str) -> dict:
    bodies = {
        "PUT": {"status": "idle"},
        "/api/heartbeats": [{"agent": slug}],
        "/api/nodes": {"slug": slug},
        "/api/heartbeat": {},
    }
    body = bodies.get(method, bodies.get(path))
    return {} if body is None else {"json": body}


def test_the_schema_tells_the_body_of_every_call_that_writes():
    from agora_web.api import api

    schema = api.get_openapi_schema()
    for method, path in operations():
        assert ("requestBody" in schema["paths"][path][method.lower()]) == (method in ("PUT", "POST")), (method, path)
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


def test_every_error_code_of_the_hub_is_in_the_table():
    """Read from the code: each class of refusal, and each code given by hand."""
    from roster import body, errors

    kinds = [
        each
        for each in (*vars(errors).values(), *vars(body).values())
        if isinstance(each, type) and issubclass(each, errors.HubError)
    ]
    codes = {each.code for each in kinds if each is not errors.HubError and each is not errors.Conflict}
    codes |= {"token_in_address", "bad_host", "bad_address", "never_deleted", "taken", "method_not_allowed", "internal"}
    table = TEXT.partition("\n### Errors\n")[2].partition("\n## ")[0]
    assert [code for code in codes if f"`{code}`" not in table] == []


async def test_the_examples_work_as_they_stand(api, transactional_db, enrolment):
    """Each curl line of the page, in order, asked of the real application."""
    known = {
        "HUB": "",
        "ENROL": enrolment,
        "NODE_TOKEN": await in_database(lambda: make.node("alder")[2]),
        "MANAGER_TOKEN": await in_database(make.person_token, "mira", "manager"),
    }
    lines = re.findall(r"^    (curl .*)$", TEXT, re.M)
    assert len(lines) >= 9
    for line in lines:
        answer = await curl(api, Template(line).substitute(known | {"TOKEN": known.get("TOKEN", "")}))
        assert answer.status_code in (200, 201), (line, answer.text)
        if answer.request.method == "PUT":
            known["TOKEN"] = answer.json()["token"]


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
