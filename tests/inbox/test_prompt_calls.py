"""The prompt calls over HTTP: at once, while one waits, and as a runner."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from inbox.models import Exchange
from roster import clock
from roster.models import Agent, Node
from roster.offload import in_database
from roster.services import lifecycle
from tests import make
from tests.inbox import asking
from tests.make import bearer

ENDED = {
    "exchange",
    "state",
    "outcome",
    "answer",
    "model_invoked",
    "error",
    "disabled",
    "asked_at",
    "started_at",
    "finished_at",
}
OPEN = {"exchange", "state", "position", "reachable", "since", "cap", "in_use"}


@pytest.fixture
async def tokens(api) -> dict[str, str]:
    """Raw tokens: the node alder, two agents, a viewer, an enrolment."""

    def made() -> dict[str, str]:
        node = make.node("alder")[2]
        agents = {slug: make.agent(slug, liveness_mode="async")[1] for slug in ("scribe", "analyst")}
        return {"alder": node, **agents, "vera": make.person_token("vera"), "enrolment": make.enrolment_token()}

    return await in_database(made)


def caller(api, tokens):
    """Makes a call as the one named first: (status, body)."""

    async def call(who: str, path: str, body: dict | None = None, **headers):
        method = "POST" if body is not None else "GET"
        answer = await api.request(method, f"/api/{path}", json=body, headers=bearer(tokens[who], **headers))
        return answer.status_code, answer.json() if answer.content else dict(answer.headers)

    return call


@pytest.fixture
def call(api, tokens):
    return caller(api, tokens)


async def test_a_prompt_is_queued_claimed_answered_and_read(call):
    """The whole way: the callers see their places, the runner gets all it needs, and both sides read what was said."""
    asked = [
        await call(who, "nodes/alder/prompt", {"body": f"I am {who}", "subject": "hello"}) for who in ("scribe", "vera")
    ]
    assert [status for status, _ in asked] == [202, 202]
    assert [set(body) for _, body in asked] == [OPEN, OPEN]
    assert [(body["position"], body["state"], body["cap"], body["in_use"]) for _, body in asked] == [
        (1, "queued", 1, 0), (2, "queued", 1, 0),
    ]  # fmt: skip
    number = asked[0][1]["exchange"]
    status, turn = await call("alder", "agents/alder/queue/claim?lease_seconds=600", {"session": "one"})
    assert (status, turn["exchange"], turn["engram"], turn["history"]) == (200, number, "", [])
    assert turn["prompt"] == {"seq": number, "body": "I am scribe", "subject": "hello", "caller": "scribe"}
    assert turn["tools"] == ["read", "search", "mail"]
    status, headers = await call("alder", "agents/alder/queue/claim", {})
    assert (status, headers["agora-cap"], headers["agora-in-use"], headers["agora-state"]) == (
        204,
        "1",
        "1",
        "at_capacity",
    )
    status, seen = await call("vera", f"exchanges/{asked[1][1]['exchange']}")
    assert (status, seen["state"], seen["position"], seen["caller"]) == (200, "queued", 2, "vera")
    assert (await call("scribe", f"exchanges/{number}"))[1]["position"] == 0
    status, done = await call("alder", f"exchanges/{number}/answer", {"lease": turn["lease"], "body": "Hello scribe."})
    assert (status, done["state"], done["answer"], done["model_invoked"]) == (200, "answered", "Hello scribe.", True)
    for who in ("scribe", "alder", "vera"):
        status, told = await call(who, f"exchanges/{number}")
        assert (status, told["answer"], told["prompt"], told["target"], told["error"]) == (
            200, "Hello scribe.", "I am scribe", "alder", None,
        )  # fmt: skip


async def test_a_wait_ends_with_the_answer_r149(call):
    """The caller waits; the runner claims and answers meanwhile; the one behind it sees its place move."""
    waits = asyncio.create_task(call("scribe", "nodes/alder/prompt?wait=20", {"body": "hello"}))
    status, turn = await call("alder", "agents/alder/queue/claim?wait=20", {})
    assert status == 200
    await call("alder", f"exchanges/{turn['exchange']}/answer", {"lease": turn["lease"], "body": "Hi."})
    status, told = await waits
    assert (status, set(told), told["outcome"], told["answer"]) == (200, ENDED, "answered", "Hi.")
    status, later = await call("scribe", f"exchanges/{turn['exchange']}?wait=20")
    assert (status, later["answer"]) == (200, "Hi.")


async def test_a_wait_that_ends_first_says_the_place(call):
    status, told = await call("scribe", "nodes/alder/prompt?wait=1", {"body": "hello"})
    assert (status, told["position"], told["reachable"], told["since"]) == (202, 1, True, None)


async def test_a_disabled_node_answers_every_prompt_at_once_p32_r143(call):
    """In its own response, with what it is, since when and by whom; no runner is there, and none is asked."""
    waiting = [asyncio.create_task(call("scribe", "nodes/alder/prompt?wait=30", {"body": f"{n}"})) for n in range(2)]
    await asking.until(lambda: Exchange.objects.count() == 2)
    agent = await in_database(asking.disable, "alder", clock.now(), "it loops")
    answers = [await each for each in waiting] + [await call("vera", "nodes/alder/prompt?wait=30", {"body": "2"})]
    since = f"{agent.disabled_at:%Y-%m-%d %H:%M} UTC"
    for status, told in answers:
        assert (status, set(told), told["state"], told["outcome"]) == (200, ENDED, "answered", "disabled")
        assert (told["model_invoked"], told["started_at"]) == (False, None)
        assert told["answer"] == f"alder is disabled by mira since {since}: it loops"
        assert (told["disabled"]["by"], told["disabled"]["reason"]) == ("mira", "it loops")
    status, headers = await call("alder", "agents/alder/queue/claim", {})
    assert (status, headers["agora-state"]) == (204, "disabled")


async def test_a_node_out_of_reach_is_said_at_once_and_the_prompt_waits_r147(call):
    """`wait` does not hold where nobody can answer soon."""
    since = clock.now() - timedelta(minutes=5)
    await in_database(lambda: Node.objects.filter(slug="alder").update(contact_at=since))
    status, told = await call("scribe", "nodes/alder/prompt?wait=60", {"body": "hello"})
    assert (status, told["reachable"], told["position"]) == (202, False, 1)
    assert told["since"][:19] == f"{since:%Y-%m-%dT%H:%M:%S}"
    status, turn = await call("alder", "agents/alder/queue/claim", {})
    assert (status, turn["exchange"]) == (200, told["exchange"])


async def test_each_kind_of_absence_has_its_own_answer_r147(call, tokens):
    """Unknown, no node, a person, draining, retired; the text says it, and the code."""

    def leave():
        for slug in ("old", "older"):
            make.agent(slug, liveness_mode="async")
            lifecycle.drain(make.MANAGER, slug, "enough", clock.now())
        lifecycle.settle(Agent.objects.get(slug="older").pk, clock.now())

    await in_database(leave)
    expected = {
        "nodes/nobody": (404, "not_found"), "nodes/scribe": (404, "not_found"), "agents/nobody": (404, "not_found"),
        "agents/vera": (409, "person"), "agents/old": (409, "draining"), "agents/older": (410, "retired"),
    }  # fmt: skip
    for where, (status, code) in expected.items():
        found, told = await call("scribe", f"{where}/prompt?wait=60", {"body": "hello"})
        assert (found, told["error"]["code"]) == (status, code), where
    refused = await in_database(lambda: list(Exchange.objects.order_by("pk").values_list("state", "outcome")))
    assert refused == [("refused", "draining"), ("refused", "retired")]


async def test_who_asks_is_the_direct_caller_r152(call):
    """A node asks as its own agent, or as one that it names; nobody asks as another."""
    await in_database(make.node, "birch")
    assert (await call("alder", "nodes/birch/prompt", {"body": "as the node"}))[0] == 202
    assert (await call("alder", "nodes/birch/prompt", {"body": "as scribe"}, **{"Agora-Agent": "scribe"}))[0] == 202
    assert (await call("alder", "nodes/birch/prompt", {"body": "x"}, **{"Agora-Agent": "birch"}))[0] == 403
    assert (await call("scribe", "nodes/birch/prompt", {"body": "x"}, **{"Agora-Agent": "analyst"}))[0] == 403
    assert (await call("enrolment", "nodes/birch/prompt", {"body": "x"}))[0] == 403
    callers = await in_database(lambda: list(Exchange.objects.order_by("pk").values_list("caller__slug", flat=True)))
    assert callers == ["alder", "scribe"]


async def test_a_foreign_exchange_is_one_that_is_not_there_p60_p61(call):
    status, told = await call("scribe", "nodes/alder/prompt", {"body": "hello"})
    number = told["exchange"]
    _, turn = await call("alder", "agents/alder/queue/claim", {})
    acts = {"answer": {"body": "x"}, "fail": {"error": "x"}, "extend": {}}
    for path, body in [("", None), *((f"/{act}", {"lease": turn["lease"]} | more) for act, more in acts.items())]:
        foreign, missing = [await call("analyst", f"exchanges/{n}{path}", body) for n in (number, 999)]
        for each in (foreign, missing):
            each[1]["error"].pop("request_id")
        assert foreign[0] == missing[0] == 404
        assert str(foreign).replace(str(number), "N") == str(missing).replace("999", "N")
    for path, body in (("queue/claim", {}), ("record", None)):
        foreign, missing = [await call("analyst", f"agents/{slug}/{path}", body) for slug in ("alder", "nobody")]
        for each in (foreign, missing):
            each[1]["error"].pop("request_id")
        assert foreign[0] == 404 and str(foreign).replace("alder", "nobody") == str(missing)
    assert (await in_database(asking.entry, number, clock.now())).state == "running"


async def test_the_callers_side_may_not_answer_for_the_target(call):
    _, told = await call("scribe", "nodes/alder/prompt", {"body": "hello"})
    _, turn = await call("alder", "agents/alder/queue/claim", {})
    for who in ("scribe", "vera"):
        status, _ = await call(who, f"exchanges/{told['exchange']}/answer", {"lease": turn["lease"], "body": "x"})
        assert status == 404


async def test_bad_input_is_refused_by_field_and_leaves_no_trace(call):
    for path, body, status, field in (
        ("nodes/alder/prompt", {"body": " "}, 422, "body"),
        ("nodes/alder/prompt", {}, 422, "body"),
        ("nodes/alder/prompt", {"body": "x" * (256 * 1024 + 1)}, 413, "body"),
        ("nodes/alder/prompt", {"body": "x", "asker": "ada"}, 422, "asker"),
        ("nodes/alder/prompt", {"body": "x", "subject": "x" * 301}, 422, "subject"),
        ("nodes/alder/prompt?wait=61", {"body": "x"}, 422, "wait"),
        ("agents/alder/queue/claim?wait=-1", {}, 422, "wait"),
        ("agents/alder/queue/claim?lease_seconds=0", {}, 422, "lease_seconds"),
        ("agents/alder/queue/claim", {"session": 3}, 422, "session"),
        ("exchanges/1/answer", {"lease": "", "body": "x"}, 422, "lease"),
        ("exchanges/1/fail", {"lease": "x"}, 422, "error"),
        ("exchanges/1/extend", {"lease": "x", "lease_seconds": 43201}, 422, "lease_seconds"),
    ):
        found, told = await call("alder", path, body)
        assert (found, told["error"]["detail"]["field"]) == (status, field), (path, told)
    assert (await call("alder", "exchanges/0"))[0] == (await call("alder", f"exchanges/{2**63}"))[0] == 422
    assert not await in_database(lambda: Exchange.objects.exists())


async def leaving_claim(token: str, leaves: asyncio.Event) -> None:
    """A claim whose client hangs up when ``leaves`` is set."""
    from agora_web.routing import application

    parts = [{"type": "http.request", "body": b"{}"}]

    async def receive():
        if parts:
            return parts.pop()
        await leaves.wait()
        return {"type": "http.disconnect"}

    async def send(message):
        """Nobody is there."""

    headers = [(b"host", b"localhost"), (b"content-type", b"application/json"),
               (b"authorization", f"Bearer {token}".encode())]  # fmt: skip
    scope = {"type": "http", "method": "POST", "path": "/api/agents/alder/queue/claim", "query_string": b"wait=60",
             "headers": headers, "scheme": "http", "server": ("localhost", 80), "client": ("127.0.0.1", 1)}  # fmt: skip
    await application(scope, receive, send)


async def test_a_waiting_claim_whose_client_left_claims_nothing(call, tokens):
    """The runner is killed while it waits. The prompt that comes then is left to the next one."""
    leaves = asyncio.Event()
    task = asyncio.create_task(leaving_claim(tokens["alder"], leaves))
    await asking.until(lambda: Agent.objects.get(slug="alder").last_seen)
    leaves.set()
    await asyncio.wait_for(task, 5)
    await call("scribe", "nodes/alder/prompt", {"body": "hello"})
    status, turn = await call("alder", "agents/alder/queue/claim?wait=5", {})
    assert (status, turn["prompt"]["body"]) == (200, "hello")


async def test_a_claim_whose_client_left_at_the_last_moment_is_given_back_in_its_place(call, tokens):
    """The runner was stopped while the prompt was handed out: it is not to fail by a lease that nobody holds."""
    for body in ("first", "second"):
        await call("scribe", "nodes/alder/prompt", {"body": body})
    leaves = asyncio.Event()
    leaves.set()
    await asyncio.wait_for(leaving_claim(tokens["alder"], leaves), 5)
    _, node = await call("vera", "nodes/alder/record")
    assert [(each["state"], each["model_invoked"]) for each in node["exchanges"]] == [("queued", False)] * 2
    status, turn = await call("alder", "agents/alder/queue/claim", {})
    assert (status, turn["prompt"]["body"]) == (200, "first")
