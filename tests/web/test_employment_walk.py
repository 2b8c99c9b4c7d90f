"""An employment from its first day to its last, as the calls go (S10)."""

from __future__ import annotations

from roster.models import Agent
from roster.offload import in_database
from tests import make
from tests.make import bearer
from tests.roster.fleet import minutes
from tests.roster.staff import lifecycle, sweep


async def test_hired_saturated_busy_drained_and_gone_s10(api, transactional_db):
    """Cap 2, a third session that is told so, a move that is refused, a drain that finishes what runs and what waits, and
    then nothing but reads."""
    alder = (await in_database(make.node, "alder"))[2]
    await in_database(make.node, "birch")
    manager, asker = (
        await in_database(make.person_token, "mira", "manager"),
        (await in_database(make.agent, "asker"))[1],
    )

    async def call(token, path, body=None, method="POST"):
        return await api.request(method, f"/api/{path}", json=body, headers=bearer(token))

    async def claim():
        return await call(alder, "agents/scribe/queue/claim")

    async def answer(claimed):
        told = claimed.json()
        return await call(alder, f"exchanges/{told['exchange']}/answer", {"lease": told["lease"], "body": "Done."})

    hired = await call(manager, "agents", {"id": "scribe", "node": "alder", "max_sessions": 2})
    asked = [await call(asker, "agents/scribe/prompt", {"body": f"question {n}"}) for n in range(4)]
    assert [each.json()["position"] for each in asked] == [1, 2, 3, 4]
    unready = await claim()
    assert (unready.status_code, unready.headers["agora-state"]) == (204, "unready")
    await call(alder, "agents/scribe/workspace", {"state": "ready", "path": "/srv/scribe"})

    first, second, third = [await claim() for _ in range(3)]
    assert [each.status_code for each in (first, second, third)] == [200, 200, 204]
    told = {name: third.headers[f"agora-{name}"] for name in ("state", "cap", "in-use")}
    assert told == {"state": "at_capacity", "cap": "2", "in-use": "2"}
    employed = (await call(asker, "agents/scribe", method="GET")).json()["employment"]
    assert (employed["max_sessions"], employed["in_use"], employed["queued"]) == (2, 2, 2)
    await call(manager, "agents/scribe", {"max_sessions": 3}, "PATCH")
    third = await claim()
    assert third.status_code == 200, "a higher cap holds at once"
    await call(manager, "agents/scribe", {"max_sessions": 1}, "PATCH")
    assert (await claim()).headers["agora-in-use"] == "3", "a lower one ends nothing"

    moved = await call(manager, "agents/scribe/reassign", {"node": "birch"})
    assert (moved.status_code, moved.json()["error"]["code"]) == (409, "busy")
    assert (await call(manager, "agents/scribe/drain", {"reason": "replaced"})).json()["lifecycle"] == "draining"
    refused = await call(asker, "agents/scribe/prompt", {"body": "one more"})
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "draining")
    letter = {"to": "scribe", "body": "are you there?"}
    assert (await call(asker, "messages", letter)).status_code == 201

    now = (await in_database(Agent.objects.get, slug="scribe")).lifecycle_since
    for claimed in (first, second, third):
        await in_database(sweep, now)
        assert await in_database(lifecycle, "scribe") == "draining"
        assert (await answer(claimed)).status_code == 200
    last = await claim()
    assert last.status_code == 200, "what waited before the drain is done too"
    await in_database(sweep, now + minutes(1))
    assert (await answer(last)).status_code == 200 and await in_database(lifecycle, "scribe") == "draining"
    await in_database(sweep, now + minutes(1))
    assert await in_database(lifecycle, "scribe") == "retired"

    own = hired.json()["token"]
    for token, path, body in (
        (asker, "messages", letter), (asker, "agents/scribe/prompt", {"body": "and now?"}), (own, "heartbeat", {}),
        (own, "messages", letter | {"to": "asker"}), (alder, "agents/scribe/queue/claim", {}),
    ):  # fmt: skip
        gone = await call(token, path, body)
        assert (gone.status_code, gone.json()["error"]["code"]) == (410, "retired"), path
    assert (await call(manager, "agents/scribe", method="DELETE")).status_code == 403
    told = (await call(own, "agents/scribe", method="GET")).json()
    assert (told["lifecycle"], told["employment"]["reason"]) == ("retired", "replaced")
    record = await call(manager, "agents/scribe/record", method="GET")
    assert [each["outcome"] for each in record.json()["exchanges"]][:4] == ["answered"] * 4
