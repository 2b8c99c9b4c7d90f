"""``GET /api/search``: for whom it looks, what it answers, and what it refuses."""

from __future__ import annotations

import pytest

from roster.models import Event
from roster.offload import in_database
from tests import make
from tests.inbox import post
from tests.make import bearer

HIDDEN = "\u202e\r\n<i>\x1f"


@pytest.fixture
async def mail(api, fleet, now):
    """A message from echo to bram, and one from bram to echo."""
    return [
        (
            await in_database(
                post.send, fleet.agent, "bram", now, f"the budget {HIDDEN} for bram", subject=f"plan {HIDDEN}"
            )
        ).seq,
        (await in_database(post.send, fleet.bram, "echo", now, "the budget for echo")).seq,
    ]


async def search(api, token: str, q: str, as_slug: str | None = None, **more):
    headers = bearer(token, **({"Agora-Agent": as_slug} if as_slug else {}))
    return await api.get("/api/search", params={"q": q, **more}, headers=headers)


async def test_a_search_answers_with_the_hits_in_their_text(api, fleet, mail):
    told = (await search(api, fleet.agent, "budget for br")).json()
    assert told == {
        "hits": [
            {
                "seq": mail[0],
                "thread": mail[0],
                "from": "echo",
                "to": ["bram"],
                "more": False,
                "subject": f"plan {HIDDEN}",
                "sent_at": "2026-03-02T12:00:00.000Z",
                "context": f"the [budget] {HIDDEN} [for] [br]am",
            }
        ],
        "next": None,
    }


async def test_everybody_searches_their_own_mail_and_a_node_that_of_its_agents_P60(api, fleet, mail):
    """Nobody looks for words in everybody's."""
    own = [(fleet.agent, None), (fleet.bram, None), (fleet.node, "echo"), (fleet.birch, "bram")]
    for token, as_slug in own:
        told = (await search(api, token, "budget", as_slug)).json()
        assert [hit["seq"] for hit in told["hits"]] == mail[::-1]
    for token in (fleet.viewer, fleet.manager, fleet.admin):
        assert (await search(api, token, "budget")).json() == {"hits": [], "next": None}
    for token, as_slug in [(fleet.node, "bram"), (fleet.node, "mira"), (fleet.node, None), (fleet.enrolment, None)]:
        assert (await search(api, token, "budget", as_slug)).status_code == 403


async def test_pages_of_a_search_follow_each_other(api, fleet, mail):
    first = (await search(api, fleet.agent, "budget", limit=1)).json()
    assert ([hit["seq"] for hit in first["hits"]], first["next"]) == ([mail[1]], mail[1])
    second = (await search(api, fleet.agent, "budget", limit=1, before=first["next"])).json()
    assert ([hit["seq"] for hit in second["hits"]], second["next"]) == ([mail[0]], None)


@pytest.mark.parametrize("asked", [
    {"q": ""}, {"q": "*"}, {"q": "x" * 201}, {"q": "x", "limit": 0}, {"q": "x", "limit": 501},
    {"q": "x", "before": 0}, {"q": "x", "before": 2**63}, {"q": "x", "before": "x"},
], ids=str)  # fmt: skip
async def test_what_cannot_be_looked_for_is_refused_by_name(asked, api, fleet):
    answer = await search(api, fleet.agent, **asked)
    assert answer.status_code == 422
    assert answer.json()["error"]["detail"]["field"] == list(asked)[-1]


async def test_a_call_without_words_is_told_what_is_missing(api, fleet):
    answer = await api.get("/api/search", headers=bearer(await in_database(lambda: make.agent("newcomer")[1])))
    assert answer.status_code == 422 and "q:" in answer.json()["error"]["message"]


async def test_a_manager_searches_the_mail_of_another_by_name_and_the_look_is_remembered(api, fleet, mail):
    """A foreign inbox and a missing one answer alike to everybody else."""
    told = (await search(api, fleet.manager, "budget", agent="echo")).json()
    assert [hit["seq"] for hit in told["hits"]] == mail[::-1]
    looks = Event.objects.filter(kind="inbox_looked_at").values_list("by", "agent__slug")
    assert [look async for look in looks] == [("mira", "echo")]
    assert (await search(api, fleet.agent, "budget", agent="echo")).json() == told
    for token in (fleet.agent, fleet.viewer, fleet.node):
        foreign, missing = [await search(api, token, "budget", agent=slug) for slug in ("bram", "nobody")]
        assert (foreign.status_code, missing.status_code) == (404, 404)
        assert foreign.json()["error"]["message"] == missing.json()["error"]["message"].replace("nobody", "bram")
    assert await looks.acount() == 1
