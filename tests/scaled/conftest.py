"""One large hub for all files of this folder: two web processes on two ports, a worker and beat."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass

import pytest

from tests.conftest import _need
from tests.scaled.parts import Broker, Scaled, Web
from tests.services import Postgres, postgres_folder


@pytest.fixture(scope="package")
def scaled(tmp_path_factory):
    """PostgreSQL that lets 50 in (F094), and a Valkey with a password, prepared and with nothing running on them."""
    _need(postgres_folder(), "PostgreSQL (initdb and postgres)")
    cluster, broker = Postgres("max_connections=50"), Broker()
    yield Scaled(tmp_path_factory.mktemp("scaled"), cluster, broker)
    broker.kill()
    cluster.stop()


@dataclass
class Pair:
    """The running hub: two web processes, each with an address of its own, and somebody who is signed in."""

    hub: Scaled
    one: Web
    two: Web
    cookie: str


@pytest.fixture(scope="package")
def pair(scaled):
    with ExitStack() as running:
        one, two = running.enter_context(scaled.web()), running.enter_context(scaled.web())
        running.enter_context(scaled.celery("worker", "-P", "threads", "--concurrency=4"))
        running.enter_context(scaled.celery("beat", "--pidfile="))
        yield Pair(scaled, one, two, scaled.cookie(one))
