"""A small fleet with a token of every kind, what the hub logs, and clients that call from other addresses."""

from __future__ import annotations

import io
import logging
from contextlib import asynccontextmanager
from dataclasses import dataclass

import httpx
import pytest
from django.conf import settings

from agora_web.logs import OneLine
from roster.models import Agent
from tests import make


@dataclass
class Fleet:
    """Raw tokens by the name of whom they stand for; bram lives on the node birch, echo nowhere."""

    agent: str
    bram: str
    node: str
    birch: str
    enrolment: str
    viewer: str
    manager: str
    admin: str

    KINDS = ("agent", "node", "enrolment", "viewer", "manager", "admin")

    def kinds(self) -> dict[str, str]:
        """One token of each kind: agent is echo's, node is alder's."""
        return {kind: getattr(self, kind) for kind in self.KINDS}


@pytest.fixture
def fleet(transactional_db) -> Fleet:
    home, _, birch = make.node("birch")
    tokens = Fleet(
        agent=make.agent("echo")[1], bram=make.agent("bram")[1], node=make.node("alder")[2], birch=birch,
        enrolment=make.enrolment_token(), viewer=make.person_token("vera"),
        manager=make.person_token("mira", "manager"), admin=make.person_token("ada", "admin"),
    )  # fmt: skip
    Agent.objects.filter(slug="bram").update(home_node=home)
    return tokens


@pytest.fixture
def logged():
    """Everything logged since, as the hub writes it; the test's own client is left out."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(OneLine(settings.LOGGING["formatters"]["line"]["format"]))
    handler.addFilter(lambda record: not record.name.startswith("httpx"))
    logging.getLogger().addHandler(handler)
    yield stream.getvalue
    logging.getLogger().removeHandler(handler)


@asynccontextmanager
async def calling_from(address: str):
    """A client whose connection comes from ``address``; it keeps its own cookies."""
    from agora_web.routing import application

    transport = httpx.ASGITransport(app=application, raise_app_exceptions=False, client=(address, 40000))
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        yield client


async def sign_in(client: httpx.AsyncClient, name: str, password: str = "correct horse battery") -> httpx.Response:
    """Signs ``name`` in as a browser does: the form first, then its fields."""
    await client.get("/sign-in/")
    token = client.cookies["csrftoken"]
    form = {"username": name, "password": password, "csrfmiddlewaretoken": token}
    return await client.post("/sign-in/", data=form)
