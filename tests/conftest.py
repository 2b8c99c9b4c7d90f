"""Fixtures for every room. ``tests/make.py`` makes agents, tokens and beats; ``now`` is passed, never patched."""

from __future__ import annotations

import os
from collections import Counter
from datetime import UTC, datetime

import httpx
import pytest

from tests import hubs, make
from tests.services import Postgres, chromium, postgres_folder

STRICT = os.environ.get("AGORA_TEST_STRICT") == "1"


def pytest_addoption(parser):
    parser.addoption("--soak", action="store_true", help="also run the full counts of the promises")


ALONE = "tests/scaled/test_scaled_out.py"  # one test in it is as long as many: begun last, it would be waited for


def pytest_collection_modifyitems(config, items):
    """In the order in which the files are given out: that one first, then those with the most tests."""
    size = Counter(item.path for item in items)
    items.sort(key=lambda item: (not item.path.as_posix().endswith(ALONE), -size[item.path], item.path))
    for item in items:
        if "soak" in item.keywords and not config.getoption("--soak"):
            item.add_marker(pytest.mark.skip(reason="the full count; runs with --soak"))


def _need(found, what: str):
    if found:
        return found
    if STRICT:
        pytest.fail(f"{what} is missing, and AGORA_TEST_STRICT=1 takes no skip for it")
    return pytest.skip(f"{what} is not on this machine")


@pytest.fixture(autouse=True)
def nothing_kept(monkeypatch):
    """What a process keeps by version must not outlive the tables that a test leaves empty."""
    from roster import directory, glance, listing, showing

    monkeypatch.setattr(directory, "_kept", None)
    monkeypatch.setattr(glance, "_kept", None)
    monkeypatch.setattr(showing, "_openings", {})
    monkeypatch.setattr(showing, "_messages", {})
    listing._kept.clear()


@pytest.fixture
def now() -> datetime:
    """The moment a test plays at; tests add spans to it."""
    return datetime(2026, 3, 2, 12, 0, 0, tzinfo=UTC)


@pytest.fixture
def soak(request) -> bool:
    """Whether the full count of a promise is asked for."""
    return request.config.getoption("--soak")


@pytest.fixture
async def api(transactional_db):
    """A client that calls the real ASGI application in this process; ``make.bearer(token)`` gives its headers."""
    from agora_web.routing import application

    transport = httpx.ASGITransport(app=application, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        yield client


@pytest.fixture
def enrolment(transactional_db) -> str:
    return make.enrolment_token()


@pytest.fixture(scope="session")
def hub(tmp_path_factory):
    """A whole hub, started by ``manage.py up`` and shared by the tests that need one: give agents ids of their own."""
    with hubs.running(tmp_path_factory.mktemp("hub")) as running:
        yield running


@pytest.fixture(scope="session")
def browser_path() -> str:
    return _need(chromium(), "a Chromium")


@pytest.fixture(scope="session")
def postgres():
    _need(postgres_folder(), "PostgreSQL (initdb and postgres)")
    cluster = Postgres()
    yield cluster
    cluster.stop()
