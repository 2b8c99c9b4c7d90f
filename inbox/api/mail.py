"""The mail calls. Each reads the request, asks one service or query, and says what came of it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Annotated, Any, Literal

from django.http import HttpRequest
from ninja import Path, Query, Router

from inbox import access, queries, schemas
from inbox.queries import search
from inbox.services import leases, looks, reading
from inbox.services.sending import Outgoing, sends
from roster import auth
from roster.offload import committed, in_database
from roster.replies import known, reply

from .headers import key, named

router = Router(tags=["mail"])
Number = Annotated[int, Path(ge=1, le=2**63 - 1)]  # a message can have
State = Literal["pending", "waiting", "leased", "acked", "dead", "archived", "all"]


@router.post("/messages", auth=auth.send_token, summary="Send mail")
async def post_message(request: HttpRequest, body: schemas.Send):
    """Says for each recipient how it was addressed, what became of the letter, and whether it can be reached. With an
    `Idempotency-Key` a repeated send gets the same answer and is stored once."""
    outgoing = Outgoing(body.letter(), request.received_at, request.auth, named(request), key=key(request))
    sent = await known(request, committed(sends.submit(outgoing)))
    return reply({"seq": sent.seq, "thread": sent.thread, "deliveries": sent.deliveries}, 201)


@router.get("/agents/{id}/inbox", auth=auth.reader, summary="Look into an inbox, taking nothing")
async def get_inbox(
    request: HttpRequest,
    id: str,
    state: State = queries.PENDING,
    after: int = Query(0, ge=0, le=2**63 - 1),
    limit: int = Query(50, ge=1, le=500),
):
    """Headers, oldest first; `next` is the `after` of the following page. Consumes nothing and is no sign of life."""
    return reply(await in_database(_peek, request, id, state, after, limit))


def _peek(request: HttpRequest, slug: str, state: str, after: int, limit: int) -> dict:
    box = _looked_into(request, slug)
    found = queries.peek(box.agent, request.received_at, state=state, after=after, limit=limit)
    return schemas.peek(found, box.own)


@router.post("/agents/{id}/inbox/drain", auth=auth.reader, summary="Take the oldest waiting mail, on a lease")
async def post_drain(request: HttpRequest, id: str, body: schemas.Drain = schemas.Drain()):
    """What is not acked before the lease ends goes back to the inbox. A disabled agent is given nothing, and told so."""
    hand = _hand(request, id)
    found = await in_database(leases.drain, hand, body.limit, body.lease_seconds, body.session or "")
    return reply(schemas.drained(found))


@router.post("/agents/{id}/inbox/ack", auth=auth.reader, summary="Be done with mail")
async def post_ack(request: HttpRequest, id: str, body: schemas.Ack):
    """Idempotent, with one result a number. 409, and nothing is done, where another lease holds one of them or the lease
    has lapsed. Without a lease it acks what nobody holds."""
    results, agent = await in_database(leases.ack, _hand(request, id), body.seqs, body.lease)
    return reply(schemas.results(results, agent.waiting))


@router.post("/agents/{id}/inbox/extend", auth=auth.reader, summary="Hold a lease for longer")
async def post_extend(request: HttpRequest, id: str, body: schemas.Extend):
    """From now on; one lease lasts 12 hours at most."""
    lease = await in_database(leases.extend, _hand(request, id), body.lease, body.lease_seconds)
    return reply({"lease": lease.key, "until": schemas.stamp(lease.until)})


@router.post("/agents/{id}/inbox/release", auth=auth.reader, summary="Give leased mail back")
async def post_release(request: HttpRequest, id: str, body: schemas.Release):
    """All that the lease holds, or those of `seqs`. It does not count as a failed delivery."""
    results, agent = await in_database(leases.release, _hand(request, id), body.lease, body.seqs)
    return reply(schemas.results(results, agent.waiting))


@router.get("/messages/{seq}", auth=auth.reader, summary="One message")
async def get_message(request: HttpRequest, seq: Number):
    """For its sender, its recipients and managers. Reading it changes nothing."""
    return reply(await in_database(_message, request, seq))


def _message(request: HttpRequest, seq: int) -> dict:
    found = _seen(request, seq, lambda view: queries.message(view, seq, request.received_at))
    return schemas.letter(found)


def _seen(request: HttpRequest, seq: int, look: Callable[[access.View], Any]) -> Any:
    """What the first of the caller's views shows; a look at others' mail is audited. Raises NotFound."""
    for view in access.views(request.auth, named(request)):
        if found := look(view):
            if view.reader is None:
                looks.audit_message(request.auth.name, seq, request.received_at)
            return found
    raise access.no_message(seq)


@router.post("/messages/{seq}/read", auth=auth.reader, summary="Mark a message read in one's own inbox")
async def post_read(request: HttpRequest, seq: Number, body: schemas.Nothing = schemas.Nothing()):
    """Nobody else can see it, and it is no ack."""
    read_at = await in_database(reading.mark_read, request.auth, seq, request.received_at, named(request))
    return reply({"seq": seq, "read_at": schemas.stamp(read_at)})


@router.get("/threads/{seq}", auth=auth.reader, summary="A thread, oldest first")
async def get_thread(
    request: HttpRequest,
    seq: Number,
    after: int = Query(0, ge=0, le=2**63 - 1),
    limit: int = Query(100, ge=1, le=500),
):
    """The messages of it that the caller may read; a thread goes by the number of its first."""
    return reply(await in_database(_thread, request, seq, after, limit))


def _thread(request: HttpRequest, number: int, after: int, limit: int) -> dict:
    look = partial(queries.thread_page, number=number, now=request.received_at, after=after, limit=limit)
    found, more = _seen(request, number, look)
    return {"thread": number, "messages": [schemas.letter(each) for each in found], "next": more}


@router.get("/search", auth=auth.reader, summary="Look for words in mail")
async def get_search(
    request: HttpRequest,
    q: str = "",
    agent: str = "",
    before: int | None = Query(None, ge=1, le=2**63 - 1),
    limit: int = Query(20, ge=1, le=500),
):
    """In one's own mail, or that of `agent`; newest first. `next` is the `before` of the following page."""
    return reply(await in_database(_search, request, q, agent, before, limit))


def _search(request: HttpRequest, q: str, slug: str, before: int | None, limit: int) -> dict:
    agent = _looked_into(request, slug).agent.pk if slug else access.reader(request.auth, named(request))
    return schemas.found(search.find(agent, q, before=before, limit=limit))


def _looked_into(request: HttpRequest, slug: str) -> access.Box:
    """The inbox of ``slug``; a look into another's is remembered. Raises NotFound."""
    box = access.box(request.auth, slug, named(request))
    if not box.own:
        looks.audit(request.auth.name, box.agent, request.received_at)
    return box


def _hand(request: HttpRequest, slug: str) -> leases.Hand:
    return leases.Hand(request.auth, slug, request.received_at, named(request))
