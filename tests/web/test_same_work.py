"""A wrong token tells nothing, neither by what is answered nor by how long it takes (P61, F178)."""

from __future__ import annotations

import logging
import statistics
import time

import pytest
from django.utils import timezone

from roster import access
from roster.offload import in_database
from roster.services import tokens
from tests import make
from tests.make import bearer


@pytest.fixture
def wrong(fleet) -> dict[str, str]:
    """Tokens of the same length that are wrong in different ways."""
    _, ended = make.agent("gone")
    tokens.revoke(tokens.by_prefix(ended), by="test", now=timezone.now())
    good = fleet.agent
    return {
        "an unknown prefix": "agora_a_" + "Z" * (len(good) - 8),
        "a known prefix and another secret": good[:14] + "Z" * (len(good) - 14),
        "one letter off": good[:-1] + ("A" if good[-1] != "A" else "B"),
        "revoked": ended,
        "garbage": "?" * len(good),
    }


@pytest.fixture
def digests(monkeypatch) -> list[str]:
    made = []
    real = access.digest
    monkeypatch.setattr(access, "digest", lambda raw: made.append(raw) or real(raw))
    return made


@pytest.mark.parametrize(
    "method, address",
    [
        ("GET", "/api/agents/echo"),
        ("GET", "/api/agents/nobody"),
        ("POST", "/api/heartbeat"),
        ("PUT", "/api/agents/echo"),
        ("PUT", "/api/agents/nobody"),
        ("POST", "/api/heartbeats"),
    ],
)
async def test_every_wrong_token_costs_the_same_work_P61_F178(api, wrong, digests, settings, caplog, method, address):
    """Counted: queries and digests; compared: the bytes, the request's own id and time apart."""
    settings.DEBUG = True  # Django logs its queries then, from every thread
    work, answers = {}, {}
    for what, raw in wrong.items():
        caplog.clear()
        digests.clear()
        with caplog.at_level(logging.DEBUG, logger="django.db.backends"):
            answer = await api.request(method, address, headers=bearer(raw))
        queries = [
            record.sql for record in caplog.records if hasattr(record, "sql") and record.sql.startswith("SELECT")
        ]
        work[what] = (len(queries), len(digests))
        number = answer.json()["error"]["request_id"].encode()
        headers = {name: value for name, value in answer.headers.items() if name not in ("x-request-id", "date")}
        answers[what] = (answer.status_code, answer.content.replace(number, b""), tuple(headers.items()))
    assert set(work.values()) == {(1, 1)}, work
    assert len(set(answers.values())) == 1 and answers["garbage"][0] == 401


async def test_a_missing_and_a_foreign_entry_read_alike_for_a_stranger_P61(api, fleet):
    told = []
    for slug in ("echo", "nobody"):
        answer = await api.get(f"/api/agents/{slug}", headers=bearer("agora_a_" + "x" * 43))
        told.append(answer.content.replace(answer.json()["error"]["request_id"].encode(), b""))
    assert told[0] == told[1]


FOREIGN = [
    ("GET", "exchanges/{n}", None),
    ("POST", "exchanges/{n}/answer", {"lease": "x", "body": "x"}),
    ("POST", "exchanges/{n}/fail", {"lease": "x", "error": "x"}),
    ("POST", "exchanges/{n}/extend", {"lease": "x"}),
    ("POST", "agents/{id}/queue/claim", {}),
    ("GET", "agents/{id}/record", None),
    ("GET", "nodes/{id}/record", None),
    ("GET", "agents/{id}/engram", None),
    ("GET", "agents/{id}/engram/revisions", None),
    ("GET", "agents/{id}/memory", None),
    ("POST", "agents/{id}/memory", {"kind": "fact", "text": "x"}),
    ("GET", "agents/{id}/warnings", None),
]


async def test_what_is_foreign_and_what_is_missing_cost_the_same_work_p61(api, fleet, settings, caplog):
    """Every call about prompts and employment that hides what is not one's own, by an agent and by another node: as many
    queries, and the same answer but for the name that was asked for."""
    asked = await api.post("/api/nodes/birch/prompt", json={"body": "hello"}, headers=bearer(fleet.bram))
    number = str(asked.json()["exchange"])
    stranger = (await in_database(make.agent, "stranger"))[1]
    settings.DEBUG = True  # Django logs its queries then, from every thread
    for raw in (stranger, fleet.node):
        await api.get("/api/whoami", headers=bearer(raw))  # its first call is written down
        for method, path, body in FOREIGN:
            told = []
            for n, slug in ((number, "birch"), ("98765", "nobody")):
                caplog.clear()
                with caplog.at_level(logging.DEBUG, logger="django.db.backends"):
                    address = f"/api/{path.format(n=n, id=slug)}"
                    answer = await api.request(method, address, json=body, headers=bearer(raw))
                made = [each.sql.split()[0] for each in caplog.records if hasattr(each, "sql")]
                error = answer.json()["error"] | {"request_id": ""}
                told.append((answer.status_code, str(error).replace(n, "N").replace(slug, "ID"), made))
            assert told[0] == told[1] and told[0][0] == 404, (path, told)
            assert told[0][2], path


@pytest.mark.soak
async def test_every_wrong_token_takes_the_same_time_F178(api, wrong):
    """5,000 calls each, one of each in turn: medians within 1 ms."""
    spans: dict[str, list[float]] = {what: [] for what in wrong}
    for _ in range(5000):
        for what, raw in wrong.items():
            began = time.perf_counter()
            await api.get("/api/whoami", headers=bearer(raw))
            spans[what].append(time.perf_counter() - began)
    medians = {what: statistics.median(found) for what, found in spans.items()}
    assert max(medians.values()) - min(medians.values()) < 0.001, medians


async def test_a_known_person_and_a_stranger_cost_the_same_hashing_P74(fleet, monkeypatch):
    """The class of CVE-2024-39329 and CVE-2025-13473: a name must not be guessed by the time a refusal takes."""
    from django.contrib.auth import authenticate
    from django.contrib.auth.hashers import MD5PasswordHasher
    from django.contrib.auth.models import User

    hashed = []
    real = MD5PasswordHasher.encode
    monkeypatch.setattr(MD5PasswordHasher, "encode", lambda self, *said: hashed.append(1) or real(self, *said))

    def tries() -> list[int]:
        User.objects.create_user("nopass").set_unusable_password()
        User.objects.filter(username="ada").update(is_active=False)
        counted = []
        for name in ("vera", "nobody", "ada", "nopass"):
            hashed.clear()
            assert authenticate(username=name, password="wrong") is None
            counted.append(len(hashed))
        return counted

    assert await in_database(tries) == [1, 1, 1, 1]
