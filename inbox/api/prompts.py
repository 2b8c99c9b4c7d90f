"""The prompt calls: ask, wait, run, answer, look at the record."""

from __future__ import annotations

import asyncio
from typing import Annotated

from django.http import HttpRequest, HttpResponse
from ninja import Path, Query, Router
from pydantic import Field

from inbox import access, rules, schemas, turns, waiting
from inbox.models import Exchange
from inbox.queries import queue, record
from inbox.services import leases, prompting, running
from roster import auth, clock, plans, tools
from roster.errors import Invalid, TooLarge
from roster.offload import committed, in_database
from roster.replies import known, reply
from roster.stamps import stamp

from .headers import key, named

router = Router(tags=["prompts"])
Number = Annotated[int, Path(ge=1, le=2**63 - 1)]
Wait = Annotated[int, Query(ge=0, le=turns.LONGEST_WAIT, description="Seconds, 60 at most.")]
Behind = Annotated[int, Query(ge=0, le=2**63 - 1)]
LeaseFor = Annotated[int, Query(ge=rules.SHORTEST_LEASE, le=rules.LONGEST_LEASE, description="Seconds, 1 to 12 hours.")]


class Prompt(schemas.Strict):
    body: str
    subject: Annotated[str, Field(max_length=rules.LONGEST_SUBJECT)] | None = None


class Claim(schemas.Strict):
    session: Annotated[str, Field(max_length=200)] | None = None


class Answer(schemas.Strict):
    lease: schemas.Key
    body: str


class Failure(schemas.Strict):
    lease: schemas.Key
    error: Annotated[str, Field(min_length=1, max_length=rules.LARGEST_BODY)]


class Extension(schemas.Strict):
    lease: schemas.Key
    lease_seconds: schemas.Seconds = turns.LEASE


@router.post("/nodes/{node}/prompt", auth=auth.send_token, summary="Prompt a node's own agent")
async def post_node_prompt(request: HttpRequest, node: str, body: Prompt, wait: Wait = 0):
    """200 with what came of it once it has ended, within `wait` seconds; else 202 with the place in the queue. A disabled
    agent's prompt is answered at once, and nobody is asked."""
    return await _asked(request, node, body, wait, of_node=True)


@router.post("/agents/{id}/prompt", auth=auth.send_token, summary="Prompt an agent")
async def post_prompt(request: HttpRequest, id: str, body: Prompt, wait: Wait = 0):
    """The same for any agent. People are not prompted: write mail."""
    return await _asked(request, id, body, wait, of_node=False)


async def _asked(request: HttpRequest, slug: str, body: Prompt, wait: int, *, of_node: bool) -> HttpResponse:
    exchange = await known(request, committed(prompting.prompts.submit(_prompt(request, slug, body, of_node))))
    entry, place = await _place(exchange)
    if place and not place.since and wait:
        await waiting.wait((waiting.ENDED, entry.exchange), wait, request.receive)
        entry, place = await in_database(_stands, entry.exchange)
    if place is None:
        return reply(_ended(entry))
    return reply({"exchange": entry.exchange, "state": entry.state} | _placed(place), 202)


def _prompt(request: HttpRequest, slug: str, body: Prompt, of_node: bool) -> prompting.Prompt:
    if not body.body.strip():
        raise Invalid("body", "is empty")
    return prompting.Prompt(
        None, slug, _sized(body.body), request.received_at, body.subject or "", key(request), of_node=of_node,
        token=request.auth, named=named(request),
    )  # fmt: skip


async def _place(exchange: Exchange) -> tuple[record.Entry, queue.Place | None]:
    """The exchange as it was stored; one that has ended by that needs no second look."""
    if exchange.state in turns.OPEN:
        return await in_database(_stands, exchange.pk)
    return record.of(exchange, exchange.finished_at), None


def _sized(text: str) -> str:
    """``text`` itself, if it is not too large."""
    size = len(text.encode())
    if size > rules.LARGEST_BODY:
        most = rules.LARGEST_BODY
        raise TooLarge(f"The body has {size} bytes, {most} at most.", field="body", limit=most)
    return text


def _stands(number: int) -> tuple[record.Entry, queue.Place | None]:
    """The exchange as it is now, and its place in the queue while it is open."""
    return _stood(Exchange.objects.whole().get(pk=number))


def _stood(exchange: Exchange) -> tuple[record.Entry, queue.Place | None]:
    now = clock.now()
    entry = record.of(exchange, now)
    return entry, queue.place(exchange, now) if entry.is_open else None


@router.get("/exchanges/{exchange}", auth=auth.reader, summary="One exchange")
async def get_exchange(request: HttpRequest, exchange: Number, wait: Wait = 0):
    """For its caller, its target and persons. `wait` holds the answer until it has ended; an open one says its place."""
    found = await in_database(access.exchange, request.auth, exchange, named(request))
    entry, place = await in_database(_stood, found)
    if place and not place.since and wait:
        await waiting.wait((waiting.ENDED, exchange), wait, request.receive)
        entry, place = await in_database(_stands, exchange)
    return reply(_told(entry) | (_placed(place) if place else {}))


@router.post("/agents/{id}/queue/claim", auth=auth.reader, summary="Take the next prompt, on a lease")
async def post_claim(
    request: HttpRequest, id: str, body: Claim = Claim(), wait: Wait = 0, lease_seconds: LeaseFor = turns.LEASE
):
    """The runner's call. 204 where nothing may be run now; its headers say why, and how much of the cap is in use."""
    loop = asyncio.get_running_loop()
    end, now = loop.time() + wait, request.received_at
    while True:
        hand = leases.Hand(request.auth, id, now, named(request))
        claim = await in_database(running.claim, hand, lease_seconds, body.session or "")
        if claim.turn and await waiting.gone(request.receive):
            await in_database(running.give_back, claim.turn, clock.now())
        if claim.turn or loop.time() >= end:
            return _claimed(claim)
        if not await waiting.wait((waiting.WORK, claim.agent.pk), end - loop.time(), request.receive):
            return _claimed(claim)  # nobody hears it: what waits is left to another
        now = clock.now()


def _claimed(claim: running.Claim) -> HttpResponse:
    agent, turn = claim.agent, claim.turn
    if turn is None:
        headers = {"Agora-Cap": agent.max_sessions, "Agora-In-Use": agent.running, "Agora-State": claim.word}
        return HttpResponse(status=204, headers=headers)
    return reply(_turn(turn) | {"tools": tools.of(agent, plans.TOOLS)})


@router.post("/exchanges/{exchange}/answer", auth=auth.reader, summary="Answer a prompt")
async def post_answer(request: HttpRequest, exchange: Number, body: Answer):
    """Under the lease of the claim. The same answer once more is the same success."""
    word = _word(request, exchange, body.lease)
    return reply(_told(await in_database(running.answer, word, _sized(body.body))))


@router.post("/exchanges/{exchange}/fail", auth=auth.reader, summary="Say that a prompt cannot be answered")
async def post_fail(request: HttpRequest, exchange: Number, body: Failure):
    """The caller is told the error, of which the hub keeps 2,000 characters; the next prompt can start."""
    return reply(_told(await in_database(running.fail, _word(request, exchange, body.lease), body.error)))


@router.post("/exchanges/{exchange}/extend", auth=auth.reader, summary="Go on working on a prompt")
async def post_extend(request: HttpRequest, exchange: Number, body: Extension):
    """From now on, as often as it takes. A shorter extension shortens nothing."""
    word = _word(request, exchange, body.lease)
    entry = await in_database(running.extend, word, body.lease_seconds)
    return reply(_told(entry) | {"lease": body.lease, "until": stamp(entry.until)})


def _word(request: HttpRequest, number: int, lease: str) -> running.Word:
    return running.Word(request.auth, number, lease, request.received_at, named(request))


@router.get("/nodes/{node}/record", auth=auth.reader, summary="What a node's own agent was asked and what it answered")
async def get_node_record(
    request: HttpRequest, node: str, after: Behind = 0, q: str = "", limit: int = Query(100, ge=1, le=500)
):
    """Oldest first, refused ones and those that wait as well; `next` is the `after` of the following page. With `q` those
    that have its words; such a page may be short, and empty, with more behind it."""
    return reply(await in_database(_record, request, node, after, q, limit, of_node=True))


@router.get("/agents/{id}/record", auth=auth.reader, summary="What an agent was asked and what it answered")
async def get_record(
    request: HttpRequest, id: str, after: Behind = 0, q: str = "", limit: int = Query(100, ge=1, le=500)
):
    """The same for any agent. For persons, the agent itself and its node."""
    return reply(await in_database(_record, request, id, after, q, limit, of_node=False))


def _record(request: HttpRequest, slug: str, after: int, q: str, limit: int, *, of_node: bool) -> dict:
    agent = access.recorded(request.auth, slug, of_node=of_node, as_slug=named(request))
    found = record.record(agent, request.received_at, after=after, q=q, limit=limit)
    return {"exchanges": [_told(each) for each in found.entries], "next": found.next}


def _ended(each: record.Entry) -> dict:
    return {
        "exchange": each.exchange,
        "state": each.state,
        "outcome": each.outcome,
        "answer": each.answer,
        "model_invoked": each.model_invoked,
        "error": each.error,
        "disabled": each.disabled,
        "asked_at": stamp(each.asked_at),
        "started_at": stamp(each.started_at),
        "finished_at": stamp(each.finished_at),
    }


def _told(each: record.Entry) -> dict:
    sides = {"target": each.target, "caller": each.caller, "subject": each.subject, "prompt": each.prompt}
    return _ended(each) | sides


def _placed(place: queue.Place) -> dict:
    return {
        "position": place.position,
        "reachable": place.since is None,
        "since": stamp(place.since),
        "cap": place.cap,
        "in_use": place.in_use,
    }


def _turn(turn: running.Turn) -> dict:
    exchange, prompt = turn.exchange, turn.exchange.prompt
    asked = {"seq": prompt.seq, "body": prompt.body, "subject": prompt.subject, "caller": exchange.caller.slug}
    return {
        "exchange": exchange.pk,
        "prompt": asked,
        "engram": turn.engram,
        "history": [_remembered(each) for each in turn.history],
        "lease": exchange.lease_key,
        "until": stamp(exchange.lease_until),
    }


def _remembered(each: record.Entry) -> dict:
    return {
        "exchange": each.exchange,
        "caller": each.caller,
        "prompt": each.prompt,
        "answer": each.answer,
        "outcome": each.outcome,
        "asked_at": stamp(each.asked_at),
    }
