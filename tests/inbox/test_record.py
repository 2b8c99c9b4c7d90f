"""What is kept of prompts: both sides read the conversation, the record of the target is searched, and nothing of it
changes (R137, R151)."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from inbox import access as doors
from inbox import queries
from inbox.models import Exchange, Message, SendKey
from inbox.queries import record, search
from roster.errors import Invalid
from roster.models import Agent
from roster.models.base import NothingIsDeleted
from roster.offload import in_database
from tests import make
from tests.inbox import asking, post
from tests.make import bearer
from tests.roster.fleet import seconds


@pytest.fixture
def alder(now, db) -> str:
    return make.node("alder", now)[2]


@pytest.fixture
def scribe(now, db) -> str:
    return make.agent("scribe", now)[1]


def agent(slug: str) -> Agent:
    return Agent.objects.get(slug=slug)


def talk(now, scribe: str, alder: str, said: dict[str, str]) -> list[int]:
    """Prompts and their answers, one after the other."""
    numbers = []
    for n, (prompt, answer) in enumerate(said.items()):
        numbers.append(asking.ask(scribe, "alder", now + seconds(n), prompt).exchange)
        asking.run(alder, "alder", now + seconds(n), answer)
    return numbers


def test_the_record_is_read_forwards_and_backwards(now, scribe, alder):
    """All of it, refused and waiting ones too, a page at a time; nothing twice, nothing left out."""
    numbers = talk(now, scribe, alder, {f"question {n}": f"answer {n}" for n in range(5)})
    asking.disable("alder", now)
    numbers.append(asking.ask(scribe, "alder", now).exchange)
    asking.enable("alder", now)
    numbers.append(asking.ask(scribe, "alder", now).exchange)
    forwards, after = [], 0
    while after is not None:
        page = record.record(agent("alder"), now, after=after, limit=3)
        forwards += page.entries
        after = page.next
    assert [each.exchange for each in forwards] == numbers
    assert [each.outcome for each in forwards] == ["answered"] * 5 + ["disabled", None]
    assert {each.caller for each in forwards} == {"scribe"}
    backwards, before = [], None
    while True:
        page = record.conversation(agent("alder"), now, before=before, limit=3)
        backwards += page.entries
        if page.next is None:
            break
        before = page.next
    assert backwards == forwards[::-1]


def test_the_record_is_searched_in_both_sides_and_by_caller_r151(now, scribe, alder):
    one, two, three = talk(now, scribe, alder, {
        "How full is the disk?": "Half full.", "And the memory?": "Nearly full, the DISK cache takes it.", "Thanks.": "",
    })  # fmt: skip
    ada = make.agent("ada", now)[1]
    four = asking.ask(ada, "alder", now, "Anything new?").exchange

    def found(q: str, **more) -> list[int]:
        return [each.exchange for each in record.record(agent("alder"), now, q=q, **more).entries]

    assert found("disk") == [one, two]
    assert found('"half full"') == [one]
    assert found("nearly disk memory") == [two]
    assert found("ada") == [four] and found("scribe than") == [three]
    assert found("tape") == []
    assert found("  ") == [one, two, three, four]
    first = record.record(agent("alder"), now, q="disk", limit=1)
    assert (first.next, found("disk", after=first.next)) == (one, [two])
    assert [each.exchange for each in record.conversation(agent("alder"), now, q="disk").entries] == [two, one]
    assert [piece.text for piece in first.entries[0].context if piece.hit] == ["disk"]
    with pytest.raises(Invalid):
        found("?!")


def test_a_search_looks_at_so_much_and_says_where_to_go_on(now, scribe, alder, monkeypatch):
    monkeypatch.setattr(record, "MOST_READ", 3)
    numbers = talk(now, scribe, alder, {f"question {n}": "needle" if n == 4 else "hay" for n in range(5)})
    page = record.record(agent("alder"), now, q="needle")
    assert (page.entries, page.next) == ((), numbers[2])
    page = record.record(agent("alder"), now, q="needle", after=page.next)
    assert ([each.exchange for each in page.entries], page.next) == ([numbers[4]], None)


def test_a_page_of_the_record_carries_so_many_bytes(now, scribe, alder, monkeypatch):
    monkeypatch.setattr(record, "MOST_BYTES", 20)
    numbers = talk(now, scribe, alder, {f"question {n}": "an answer" for n in range(4)})
    page = record.record(agent("alder"), now)
    assert ([each.exchange for each in page.entries], page.next) == (numbers[:2], numbers[1])


def test_both_sides_read_the_exchange_as_messages_r137(now, scribe, alder):
    """One thread; each sees to whom it went. Others see nothing of it."""
    (number,) = talk(now, scribe, alder, {"How full is the disk?": "Half full."})
    make.agent("ada", now)
    for slug in ("scribe", "alder"):
        letters = queries.thread(doors.own_view(agent(slug).pk), number, now)
        assert [(each.kind, each.sender, each.to, each.body) for each in letters] == [
            ("prompt", "scribe", ("alder",), "How full is the disk?"),
            ("answer", "alder", ("scribe",), "Half full."),
        ]
    assert queries.thread(doors.own_view(agent("ada").pk), number, now) == []


def test_prompts_and_answers_are_no_mail(now, scribe, alder):
    """Not in what was sent, not drained, not counted, not found in a search of mail, not answered with mail."""
    (number,) = talk(now, scribe, alder, {"How full is the disk?": "Half full."})
    for slug, token in (("scribe", scribe), ("alder", alder)):
        assert queries.sent(agent(slug), now, before=2**62, limit=9) == ([], None)
        assert post.peek(slug, now, "all")["messages"] == []
        assert post.drain(token, slug, now)["messages"] == []
        assert agent(slug).waiting == 0
        assert search.find(agent(slug).pk, "full").hits == ()
    with pytest.raises(Invalid, match=f"no message {number} that you may answer"):
        post.send(scribe, "alder", now, in_reply_to=number)


def test_nothing_of_the_record_is_deleted_r151(now, scribe, alder):
    talk(now, scribe, alder, {"hello": "Hi."})
    exchange = Exchange.objects.get()
    for act in (exchange.delete, Exchange.objects.all().delete, exchange.prompt.delete, agent("alder").delete):
        with pytest.raises(NothingIsDeleted):
            act()


def test_there_is_no_field_for_who_asked_first_r152_r153(now):
    """By the columns: one caller for each exchange, one sender for each message, and no open bag to hide another in."""
    columns = {
        model.__name__: {field.name for field in model._meta.concrete_fields} for model in (Exchange, Message, SendKey)
    }
    assert columns["Exchange"] == {
        "prompt", "target", "caller", "of_node", "state", "outcome", "answer", "note", "disabled", "model_invoked",
        "asked_at", "started_at", "finished_at", "lease_key", "lease_until", "session",
    }  # fmt: skip
    assert columns["Message"] - {"words"} == {
        "seq", "sender", "kind", "subject", "body", "size", "thread", "in_reply_to", "importance", "sent_at", "expires_at",
    }  # fmt: skip


@pytest.mark.parametrize("field", ["asker", "on_behalf_of", "origin", "via", "caller", "from", "meta"])
async def test_a_field_for_who_asked_first_is_refused_and_kept_nowhere_r153(api, field):
    token = await in_database(lambda: make.agent("scribe")[1])
    await in_database(make.node, "alder")
    body = {"body": "hello", field: "ultimate-asker"}
    answers = [
        await api.post("/api/nodes/alder/prompt", json=body, headers=bearer(token)),
        await api.post("/api/messages", json=body | {"to": "alder"}, headers=bearer(token)),
    ]
    assert [each.status_code for each in answers] == [422, 422]
    assert not await in_database(Message.objects.exists)


def test_a_relayed_question_is_recorded_with_its_direct_caller_s9_r152(now, db):
    """A asks B, B asks C, C answers B, B answers A. C's record shows B only, whatever B's text says."""
    raws = {name: make.node(name, now)[2] for name in ("alder", "birch", "cedar")}
    asking.ask(raws["alder"], "birch", now, "How full is cedar's disk?")
    turn = asking.turn(raws["birch"], "birch", now)
    asking.ask(raws["birch"], "cedar", now, "How full is your disk?")
    relayed = asking.run(raws["cedar"], "cedar", now, "Half full.")
    answered = asking.answer(raws["birch"], turn, now, relayed.answer)
    told = {slug: [(each.caller, each.answer) for each in record.record(agent(slug), now).entries] for slug in raws}
    assert told == {"alder": [], "birch": [("alder", "Half full.")], "cedar": [("birch", "Half full.")]}
    stored = str(list(Exchange.objects.filter(target__slug="cedar").values()))
    assert "alder" not in stored and str(agent("alder").pk) not in str(
        list(Exchange.objects.filter(target__slug="cedar").values_list("caller", "target"))
    )
    assert answered.caller == "alder"
    for slug, reads in (("alder", [answered.exchange]), ("cedar", [relayed.exchange])):
        mine = doors.own_view(agent(slug).pk).messages.filter(kind="prompt").values_list("pk", flat=True)
        assert list(mine) == reads


async def test_the_record_over_http_is_for_persons_and_the_agent_itself(api):
    """A page, its cursor, a search; by the node's address and by the agent's."""
    now = timezone.now() - timedelta(minutes=1)

    def made():
        alder, scribe = make.node("alder", now)[2], make.agent("scribe", now)[1]
        talk(now, scribe, alder, {"How full is the disk?": "Half full.", "And the memory?": "Full."})
        return alder, scribe, make.person_token("vera")

    alder, scribe, vera = await in_database(made)
    for token in (alder, vera):
        for path in ("nodes/alder/record", "agents/alder/record"):
            told = (await api.get(f"/api/{path}?limit=1", headers=bearer(token))).json()
            assert [each["prompt"] for each in told["exchanges"]] == ["How full is the disk?"]
            rest = (await api.get(f"/api/{path}?after={told['next']}", headers=bearer(token))).json()
            assert ([each["answer"] for each in rest["exchanges"]], rest["next"]) == (["Full."], None)
            found = (await api.get(f"/api/{path}?q=memory", headers=bearer(token))).json()
            assert [each["prompt"] for each in found["exchanges"]] == ["And the memory?"]
    told = (await api.get("/api/nodes/alder/record", headers=bearer(vera))).json()["exchanges"][0]
    assert set(told) == {
        "exchange", "target", "caller", "subject", "prompt", "state", "outcome", "answer", "error", "disabled",
        "model_invoked", "asked_at", "started_at", "finished_at",
    }  # fmt: skip
    assert (await api.get("/api/nodes/alder/record", headers=bearer(scribe))).status_code == 404
    assert (await api.get("/api/nodes/scribe/record", headers=bearer(vera))).status_code == 404
    letter = (await api.get("/api/messages/2", headers=bearer(scribe))).json()
    assert (letter["kind"], letter["from"], letter["to"], letter["body"]) == (
        "answer",
        "alder",
        ["scribe"],
        "Half full.",
    )
