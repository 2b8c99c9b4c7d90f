"""Small words for the tests of prompts: ask, claim, answer, look. Everything takes the moment at which it happens; a
refusal is raised."""

from __future__ import annotations

import asyncio
from datetime import datetime

from inbox.models import Exchange
from inbox.queries import record
from inbox.services import leases, prompting, running
from roster import access
from roster.models import Agent
from roster.offload import in_database
from roster.services import switch
from tests import make


def who(token: str) -> access.Caller:
    return access.caller(access.digest(token))


def ask(token: str, to: str, at: datetime, body: str = "How are you?", as_slug: str | None = None, **more):
    """One prompt, asked like every other; the exchange as it then is."""
    return prompting.ask(prompting.Prompt(None, to, body, at, token=access.digest(token), named=as_slug, **more))


def claim(token: str, slug: str, at: datetime, seconds: int = 120, session: str = "") -> running.Claim:
    return running.claim(leases.Hand(who(token), slug, at), seconds, session)


def turn(token: str, slug: str, at: datetime, **more) -> running.Turn:
    """A claim that has to be given something."""
    given = claim(token, slug, at, **more).turn
    assert given is not None, f"{slug} has nothing to run"
    return given


def word(token: str, turn: running.Turn, at: datetime) -> running.Word:
    return running.Word(who(token), turn.exchange.pk, turn.exchange.lease_key, at)


def answer(token: str, turn: running.Turn, at: datetime, body: str = "Well.") -> record.Entry:
    return running.answer(word(token, turn, at), body)


def fail(token: str, turn: running.Turn, at: datetime, error: str = "no model") -> record.Entry:
    return running.fail(word(token, turn, at), error)


def run(token: str, slug: str, at: datetime, body: str = "Well.") -> record.Entry:
    """The next prompt of ``slug``, claimed and answered at once."""
    return answer(token, turn(token, slug, at), at, body)


def disable(slug: str, at: datetime, reason: str = "it loops") -> Agent:
    return switch.disable(make.MANAGER, slug, reason, at)


def enable(slug: str, at: datetime) -> Agent:
    return switch.enable(make.MANAGER, slug, at)


def states(slug: str) -> list[tuple[int, str, str]]:
    """Number, state and outcome of each exchange of ``slug``, as stored."""
    return list(Exchange.objects.filter(target__slug=slug).order_by("pk").values_list("pk", "state", "outcome"))


def entry(number: int, at: datetime) -> record.Entry:
    return record.of(Exchange.objects.whole().get(pk=number), at)


async def until(is_so) -> None:
    """Returns once ``is_so`` says so, which looks into the database."""
    async with asyncio.timeout(20):
        while not await in_database(is_so):
            await asyncio.sleep(0.01)
