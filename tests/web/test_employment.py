"""Employment over HTTP: hire, the verbs, what a refusal tells, and what a retired identity can still do."""

from __future__ import annotations

import asyncio

import pytest

from roster.models import Agent, Event, Node
from roster.offload import in_database
from tests import make
from tests.make import bearer
from tests.roster.staff import hire, lifecycle, sweep


@pytest.fixture
def tokens(transactional_db, now) -> dict[str, str]:
    make.node("birch")
    return {
        "node": make.node("alder")[2],
        "viewer": make.person_token("vera"),
        "manager": make.person_token("mira", "manager"),
        "admin": make.person_token("ada", "admin"),
    }


async def ask(api, token: str, path: str, body: dict | None = None, method: str = "POST"):
    return await api.request(method, f"/api/{path}", json=body, headers=bearer(token))


async def test_hiring_gives_a_hired_agent_that_its_node_makes_active_r93_r94(api, tokens):
    wanted = {"id": "scribe", "node": "alder", "max_sessions": 3, "engram": "You keep notes.", "display_name": "Scribe"}
    made = await ask(api, tokens["manager"], "agents", wanted)
    told = made.json()
    assert made.status_code == 201 and told["token"].startswith("agora_a_")
    assert (told["lifecycle"], told["home_node"], told["liveness_mode"]) == ("hired", "alder", "async")
    employed = told["employment"]
    assert (employed["max_sessions"], employed["in_use"], employed["queued"]) == (3, 0, 0)
    assert employed["workspace"] == {"state": "wanted", "path": None, "error": None}
    failed = {"state": "failed", "error": "no space left"}
    assert (await ask(api, tokens["node"], "agents/scribe/workspace", failed)).json()["lifecycle"] == "hired"
    looked = (await ask(api, tokens["viewer"], "agents/scribe", method="GET")).json()
    assert looked["employment"]["workspace"] == {"state": "failed", "path": None, "error": "no space left"}
    ready = {"state": "ready", "path": "/srv/scribe"}
    told = (await ask(api, tokens["node"], "agents/scribe/workspace", ready)).json()
    assert (told["lifecycle"], told["employment"]["workspace"]["error"]) == ("active", None)
    heard = await ask(api, made.json()["token"], "heartbeat", {"status": "idle"})
    assert heard.status_code == 200 and heard.json()["presence"] == "live"


BAD = {
    "max_instances": ({"max_instances": 4}, 422, "max_instances"),
    "no cap": ({"max_sessions": 0}, 422, "max_sessions"),
    "too high a cap": ({"max_sessions": 101}, 422, "max_sessions"),
    "an illegal id": ({"id": "Scribe No 1"}, 422, "id"),
    "everybody's name": ({"id": "live"}, 422, "id"),
    "an unknown field": ({"boss": "mira"}, 422, "boss"),
    "no such node": ({"node": "elm"}, 404, None),
    "an agent's id": ({"id": "echo"}, 409, None),
    "a node's id": ({"id": "birch"}, 409, None),
    "a person's id": ({"id": "vera"}, 409, None),
}


@pytest.mark.parametrize("case", BAD)
async def test_what_cannot_be_hired_is_refused_and_nothing_is_stored_r90(api, tokens, case):
    await in_database(make.agent, "echo")
    more, status, field = BAD[case]
    count = await in_database(Agent.objects.count)
    answer = await ask(api, tokens["manager"], "agents", {"id": "scribe", "node": "alder"} | more)
    error = answer.json()["error"]
    assert answer.status_code == status and error["detail"].get("field") == field, answer.text
    assert case != "max_instances" or "max_sessions" in error["message"]
    assert status != 409 or (error["code"], error["allowed"]) == ("taken", [])
    assert await in_database(Agent.objects.count) == count


async def test_the_cap_has_its_new_name_everywhere_r90(api, tokens):
    await in_database(make.agent, "echo")
    answer = await ask(api, tokens["manager"], "agents/echo", {"max_instances": 3}, "PATCH")
    assert answer.status_code == 422 and "max_sessions" in answer.json()["error"]["message"]
    told = await ask(api, tokens["manager"], "agents/echo", {"max_sessions": 3, "display_name": "Echo"}, "PATCH")
    assert (told.json()["employment"]["max_sessions"], told.json()["display_name"]) == (3, "Echo")
    assert (await ask(api, tokens["manager"], "agents/birch", {"max_sessions": 2}, "PATCH")).status_code == 409
    assert (await ask(api, tokens["manager"], "agents/vera", {"max_sessions": 2}, "PATCH")).status_code == 409
    everything = ["read", "write", "edit", "shell", "search", "fetch", "mail"]
    assert (await ask(api, tokens["manager"], "agents/birch", {"tools": everything}, "PATCH")).status_code == 422


async def test_of_two_who_hire_at_once_one_gets_it_and_no_name_comes_back_f084(api, tokens):
    wanted = {"id": "scribe", "node": "alder"}
    both = await asyncio.gather(*(ask(api, tokens["manager"], "agents", wanted) for _ in range(2)))
    assert sorted(each.status_code for each in both) == [201, 409]
    await ask(api, tokens["admin"], "agents/scribe/force-retire", {"reason": "it hangs", "confirm": "scribe"})
    again = await ask(api, tokens["manager"], "agents", wanted)
    assert (again.status_code, again.json()["error"]["code"]) == (409, "taken")
    with_node = await ask(api, tokens["manager"], "nodes", {"slug": "scribe"})
    assert (with_node.status_code, with_node.json()["error"]["code"]) == (409, "taken")


async def test_two_operators_at_once_one_wins_and_the_other_is_told_what_happened(api, tokens):
    await in_database(make.agent, "echo")
    switched = await asyncio.gather(
        *(ask(api, tokens[who], "agents/echo/disable", {"reason": "stop"}) for who in ("manager", "admin"))
    )
    assert sorted(each.status_code for each in switched) == [200, 409]
    won = next(each.json() for each in switched if each.status_code == 200)
    lost = next(each.json()["error"] for each in switched if each.status_code == 409)
    assert (lost["code"], lost["state"]) == ("already_disabled", "disabled")
    assert (lost["detail"]["by"], lost["detail"]["since"]) == (won["disabled"]["by"], won["disabled"]["since"])
    assert won["disabled"]["by"] in lost["message"] and "enable" in lost["allowed"]
    moved = await asyncio.gather(
        ask(api, tokens["manager"], "agents/echo/drain"),
        ask(api, tokens["admin"], "agents/echo/reassign", {"node": "birch"}),
    )
    assert [each.status_code for each in moved] in ([200, 409], [200, 200])
    assert await in_database(lifecycle, "echo") == "draining"


WITHOUT = ("agents", "agents/echo/drain", "agents/echo/disable", "agents/echo/reassign", "nodes/alder/retire")


async def test_a_verb_takes_a_permission_by_role_or_by_name_r103(api, tokens, now):
    """An agent may what an admin granted it by name, and nothing else."""
    from roster.models import Grant

    _, own = await in_database(make.agent, "echo")
    bodies = {"agents": {"id": "scribe", "node": "alder"}, "agents/echo/reassign": {"node": "birch"}}
    for path in WITHOUT:
        answer = await ask(api, own, path, bodies.get(path, {"reason": "x"}))
        assert (answer.status_code, answer.json()["error"]["code"]) == (403, "no_permission"), path
    echo = await in_database(Agent.objects.get, slug="echo")
    await in_database(Grant.objects.create, agent=echo, permission="hire", granted_by="ada", granted_at=now)
    assert (await ask(api, own, "agents", bodies["agents"])).status_code == 201
    assert (await ask(api, own, "agents/scribe/drain")).status_code == 403
    hired = await in_database(Event.objects.get, kind="hired")
    assert hired.by == "echo"
    await ask(api, tokens["admin"], "agents/echo/force-retire", {"reason": "gone", "confirm": "echo"})
    again = await ask(api, own, "agents", {"id": "late", "node": "alder"})
    assert again.status_code == 403, "whoever is retired hires nobody, whatever it was granted"


async def test_force_takes_its_own_permission_a_reason_and_the_typed_id_s11(api, tokens):
    """Without any of the three it is impossible; with them it is done, and the journal says that it was forced."""
    await in_database(hire, "scribe", await in_database(lambda: Agent.objects.get(slug="alder").created_at))
    path, whole = "agents/scribe/force-retire", {"reason": "it hangs", "confirm": "scribe"}
    for who, body, status in (
        ("manager", whole, 403),
        ("admin", {"confirm": "scribe"}, 422),
        ("admin", {"reason": "  ", "confirm": "scribe"}, 422),
        ("admin", {"reason": "it hangs"}, 422),
        ("admin", {"reason": "it hangs", "confirm": "scribes"}, 422),
    ):
        assert (await ask(api, tokens[who], path, body)).status_code == status
        assert await in_database(lifecycle, "scribe") == "active"
    done = await ask(api, tokens["admin"], path, whole)
    assert (done.status_code, done.json()["lifecycle"]) == (200, "retired")
    forced = await in_database(Event.objects.get, kind="force_retired")
    assert (forced.by, forced.reason, forced.before, forced.after["lifecycle"]) == (
        "ada", "it hangs", {"lifecycle": "active"}, "retired"
    )  # fmt: skip
    assert (await ask(api, tokens["admin"], path, whole)).status_code == 409


async def test_a_node_is_retired_with_its_agent_and_not_while_somebody_lives_there_s6_r131(api, tokens, now):
    await in_database(hire, "scribe", now)
    refused = await ask(api, tokens["manager"], "nodes/alder/retire", {"reason": "sold"})
    error = refused.json()["error"]
    assert (refused.status_code, error["code"], error["detail"]["employees"]) == (409, "employees", ["scribe"])
    assert "scribe" in error["message"]
    await ask(api, tokens["manager"], "agents/scribe/reassign", {"node": "birch"})
    told = await ask(api, tokens["manager"], "nodes/alder/retire", {"reason": "sold"})
    assert (told.json()["lifecycle"], told.json()["agent"]["lifecycle"]) == ("retiring", "draining")
    again = await ask(api, tokens["admin"], "nodes/alder/retire")
    assert (again.status_code, again.json()["error"]["code"]) == (409, "node_retiring")
    comes = await ask(api, tokens["manager"], "agents", {"id": "late", "node": "alder"})
    assert (comes.status_code, comes.json()["error"]["code"]) == (409, "node_retiring")
    moves = await ask(api, tokens["manager"], "agents/scribe/reassign", {"node": "alder"})
    assert (moves.status_code, moves.json()["error"]["code"]) == (409, "node_retiring")
    await in_database(sweep, now)
    told = (await ask(api, tokens["viewer"], "nodes/alder", method="GET")).json()
    assert (told["lifecycle"], told["agent"]["lifecycle"], told["employees"]) == ("retired", "retired", [])
    kinds = await in_database(lambda: list(Event.objects.filter(agent__slug="alder").values_list("kind", flat=True)))
    assert kinds[-4:] == ["node_retiring", "draining", "retired", "node_retired"]
    assert (await ask(api, tokens["node"], "agents/alder/sign-off")).status_code == 410
    assert (await ask(api, tokens["manager"], "nodes/elm/retire")).status_code == 404


async def test_twenty_enrolments_at_once_make_one_node_with_one_agent_p33(api, tokens):
    answers = await asyncio.gather(*(ask(api, tokens["manager"], "nodes", {"slug": "cedar"}) for _ in range(20)))
    assert sorted(each.status_code for each in answers) == [201] + [409] * 19
    found = await in_database(
        lambda: list(Agent.objects.filter(home_node__slug="cedar").values_list("kind", flat=True))
    )
    assert found == ["node"] and await in_database(Node.objects.filter(slug="cedar").count) == 1


async def test_a_node_tells_when_it_last_called_and_since_when_it_is_out_of_reach(api, tokens):
    """Whichever call it makes; in one of somebody else's it has not called."""
    await in_database(make.agent, "echo")
    before = (await ask(api, tokens["viewer"], "nodes/alder", method="GET")).json()
    assert (before["reachable"], before["since"], before["contact_at"]) == (True, None, None)
    assert (await ask(api, tokens["node"], "heartbeats", {"heartbeats": [{"agent": "echo"}]})).status_code == 200
    told = {each["slug"]: each for each in (await ask(api, tokens["node"], "nodes", method="GET")).json()["nodes"]}
    assert told["alder"]["contact_at"] and told["birch"]["contact_at"] is None
    assert told["alder"]["agent"]["id"] == "alder" and told["alder"]["queue"] == [] and told["alder"]["running"] is None
    await in_database(Node.objects.filter(slug="alder").update, contact_at="2026-01-01T00:00:00Z")
    gone = (await ask(api, tokens["viewer"], "nodes/alder", method="GET")).json()
    assert (gone["reachable"], gone["since"]) == (False, "2026-01-01T00:00:00.000Z")
    assert (await ask(api, tokens["viewer"], "nodes/elm", method="GET")).status_code == 404
