"""Asking and being asked: one queue for each agent, in the order of the callers, and a record of all of it.

What holds for a node's own agent holds for a hired one: both take the same way (R141)."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from django.db import IntegrityError, transaction

from inbox import turns
from inbox.models import Delivery, Exchange, Message
from inbox.queries import queue
from inbox.services import prompting, running
from roster import access
from roster.errors import Conflict, Expired, Full, Invalid, NotFound, Retired
from roster.models import Agent
from roster.services import lifecycle
from tests import make
from tests.inbox import asking, post
from tests.roster.fleet import TICK, hours, minutes, seconds


@pytest.fixture
def scribe(now, db) -> str:
    return make.agent("scribe", now)[1]


@pytest.fixture
def analyst(now, db) -> str:
    return make.agent("analyst", now)[1]


@pytest.fixture
def alder(now, db) -> str:
    """The token of the node alder, whose own agent it speaks for."""
    return make.node("alder", now)[2]


@pytest.fixture(params=["node agent", "employee"])
def asked(request, now, alder) -> str:
    """The agent that is asked, run by the node alder: its own one, or one that lives there."""
    if request.param == "node agent":
        return "alder"
    make.agent("echo", now, liveness_mode="async")
    Agent.objects.filter(slug="echo").update(home_node=Agent.objects.get(slug="alder").home_node)
    return "echo"


def standing(slug: str, at) -> queue.Standing:
    return queue.standing(Agent.objects.select_related("home_node").get(slug=slug), at)


def counts(slug: str) -> tuple[int, int]:
    return Agent.objects.values_list("queued", "running").get(slug=slug)


# ---- one queue ----------------------------------------------------------------------------------------------------------


def test_callers_queue_in_order_and_one_runs_at_a_time_r141_r148_r149(now, scribe, analyst, alder, asked):
    """Three ask; each sees how many are ahead. The second starts when the first has ended, and nobody before that."""
    first, second, third = (
        asking.ask(token, asked, now + seconds(n), f"question {n}") for n, token in enumerate([scribe, analyst, scribe])
    )
    places = [queue.place(Exchange.objects.whole().get(pk=each.exchange), now) for each in (first, second, third)]
    assert [each.position for each in places] == [1, 2, 3]
    assert counts(asked) == (3, 0)
    turn = asking.turn(alder, asked, now + seconds(5))
    assert (turn.exchange.pk, turn.exchange.caller.slug) == (first.exchange, "scribe")
    refused = asking.claim(alder, asked, now + seconds(6))
    assert (refused.turn, refused.word, refused.agent.running, refused.agent.max_sessions) == (
        None,
        "at_capacity",
        1,
        1,
    )
    found = standing(asked, now + seconds(6))
    assert [each.exchange for each in found.running] == [first.exchange]
    assert [(each.exchange, each.position) for each in found.queue] == [(second.exchange, 2), (third.exchange, 3)]
    assert (found.queued, found.in_use, found.cap, counts(asked)) == (2, 1, 1, (2, 1))
    done = asking.answer(alder, turn, now + seconds(9), "the first answer")
    assert (done.state, done.outcome, done.answer, done.model_invoked) == (
        "answered",
        "answered",
        "the first answer",
        True,
    )
    assert asking.turn(alder, asked, now + seconds(10)).exchange.pk == second.exchange
    assert counts(asked) == (1, 1)


def test_the_database_itself_lets_a_nodes_agent_run_one_thing_r148(now, scribe, alder):
    one, two = (asking.ask(scribe, "alder", now).exchange for _ in range(2))
    running = {"state": turns.RUNNING, "lease_until": now + minutes(1)}
    Exchange.objects.filter(pk=one).update(**running)
    with pytest.raises(IntegrityError), transaction.atomic():
        Exchange.objects.filter(pk=two).update(**running)


def test_a_runner_is_given_all_that_it_needs_r138(now, scribe, alder, asked):
    asking.ask(scribe, asked, now, "What is up?", subject="a question")
    given = asking.claim(alder, asked, now, seconds=600, session="one")
    exchange = given.turn.exchange
    assert (given.word, given.turn.engram, given.turn.history) == ("at_capacity", "", [])
    assert (exchange.prompt.body, exchange.prompt.subject, exchange.session) == ("What is up?", "a question", "one")
    assert (exchange.lease_until, len(exchange.lease_key) > 20) == (now + seconds(600), True)


def test_a_claim_is_a_sign_of_life_also_where_nothing_waits(now, alder, asked):
    later = now + hours(3)
    assert asking.claim(alder, asked, later).turn is None
    assert Agent.objects.values_list("last_seen", "last_seen_source").get(slug=asked) == (later, "own_call")


# ---- the end of a run ---------------------------------------------------------------------------------------------------


def test_the_same_answer_once_more_is_the_same_success(now, scribe, alder, asked):
    """The runner did not hear that its answer had arrived."""
    asking.ask(scribe, asked, now)
    turn = asking.turn(alder, asked, now)
    first = asking.answer(alder, turn, now + seconds(1))
    assert asking.answer(alder, turn, now + hours(1)) == first
    assert Message.objects.filter(kind="answer").count() == 1
    with pytest.raises(Conflict) as other:
        asking.answer(alder, turn, now + seconds(2), "another answer")
    assert (other.value.code, other.value.state) == ("finished", "answered")
    with pytest.raises(Conflict):
        asking.fail(alder, turn, now + seconds(2))
    assert asking.entry(first.exchange, now) == first


def test_a_failed_run_is_an_answer_with_the_error_and_the_next_starts_r147(now, scribe, alder, asked):
    one, two = (asking.ask(scribe, asked, now).exchange for _ in range(2))
    turn = asking.turn(alder, asked, now)
    told = asking.fail(alder, turn, now, "the model is away")
    assert (told.exchange, told.state, told.outcome, told.error) == (one, "failed", "failed", "the model is away")
    assert asking.fail(alder, turn, now, "the model is away") == told
    assert asking.turn(alder, asked, now).exchange.pk == two


def test_a_run_whose_runner_died_fails_by_its_lease_and_the_next_starts_r150(now, scribe, alder, asked):
    """With no sweep at all: the next claim finds it. Whoever asks reads it as failed from the same moment on."""
    one, two = (asking.ask(scribe, asked, now).exchange for _ in range(2))
    lost = asking.turn(alder, asked, now, seconds=60)
    assert asking.claim(alder, asked, now + seconds(60) - TICK).turn is None
    assert asking.entry(one, now + seconds(60) - TICK).state == "running"
    told = asking.entry(one, now + seconds(60))
    assert (told.state, told.outcome, told.error, told.finished_at) == (
        "failed",
        "failed",
        turns.LAPSED,
        now + seconds(60),
    )
    assert asking.turn(alder, asked, now + seconds(60)).exchange.pk == two
    assert asking.entry(one, now + hours(1)) == told
    for late in (seconds(60), hours(1)):
        with pytest.raises(Conflict) as refusal:
            asking.answer(alder, lost, now + late)
        assert refusal.value.code == "lease_expired"


def test_the_sweep_fails_what_lapsed_and_the_roster_counts_it_r150(now, scribe, alder, asked):
    one = asking.ask(scribe, asked, now).exchange
    lost = asking.turn(alder, asked, now, seconds=60)
    post.sweep(now + seconds(60) - TICK)
    assert counts(asked) == (0, 1)
    assert post.sweep(now + seconds(63)).edges == 1
    assert (asking.states(asked), counts(asked)) == ([(one, "failed", "failed")], (0, 0))
    with pytest.raises(Conflict) as refusal:
        asking.answer(alder, lost, now + seconds(64))
    assert refusal.value.code == "lease_expired"
    assert asking.entry(one, now + hours(1)).finished_at == now + seconds(60)


def test_what_is_given_back_to_a_disabled_agent_is_answered_and_what_has_ended_stays_r144(now, scribe, alder):
    asking.ask(scribe, "alder", now)
    turn = asking.turn(alder, "alder", now)
    asking.disable("alder", now + seconds(1))
    for later in (2, 3):
        running.give_back(turn, now + seconds(later))
        assert asking.states("alder") == [(turn.exchange.pk, "answered", "disabled")]
    assert counts("alder") == (0, 0)


def test_long_work_extends_its_lease_as_often_as_it_takes_f088(now, scribe, alder):
    """Forty minutes of work of a draining agent, which beats meanwhile: it stays draining and working, and leaves the
    fleet only once the work is handed in."""
    _, echo = make.agent("echo", now, liveness_mode="async")
    asking.ask(scribe, "echo", now)
    turn = asking.turn(echo, "echo", now, seconds=120)
    lifecycle.drain(make.MANAGER, "echo", "an audit", now)
    key = Agent.objects.values_list("pk", flat=True).get(slug="echo")
    for minute in range(1, 41):
        at = now + minutes(minute)
        make.beat(echo, at, status="working: the audit")
        assert running.extend(asking.word(echo, turn, at), 120).until == at + seconds(120)
        post.sweep(at)
        assert not lifecycle.settle(key, at)
    agent = Agent.objects.get(pk=key)
    assert (agent.lifecycle, agent.status) == ("draining", "working: the audit")
    asking.answer(echo, turn, now + minutes(41))
    assert lifecycle.settle(key, now + minutes(41))


def test_a_shorter_extension_shortens_nothing_and_a_foreign_lease_holds_nothing(now, scribe, alder, asked):
    asking.ask(scribe, asked, now)
    turn = asking.turn(alder, asked, now, seconds=600)
    word = asking.word(alder, turn, now)
    assert running.extend(word, 1).until == now + seconds(600)
    for act in (running.extend, lambda word: running.answer(word, "x"), lambda word: running.fail(word, "x")):
        with pytest.raises(Conflict) as refusal:
            act(replace(word, lease="another"))
        assert (refusal.value.code, refusal.value.state) == ("foreign_lease", "running")
    asking.answer(alder, turn, now)
    with pytest.raises(Conflict) as refusal:
        running.extend(word, 600)
    assert refusal.value.code == "finished"


# ---- who has no queue, or a full one ------------------------------------------------------------------------------------


def test_a_key_stands_for_one_prompt(now, scribe, alder, asked):
    """The same again gets the same exchange, whatever became of it; something else under the key is refused."""
    first = asking.ask(scribe, asked, now, key="k1")
    assert asking.ask(scribe, asked, now + seconds(1), key="k1") == first
    assert asking.ask(scribe, asked, now + seconds(1), key="k2").exchange != first.exchange
    done = asking.run(alder, asked, now)
    assert asking.ask(scribe, asked, now + seconds(2), key="k1") == done
    for other in ({"body": "another"}, {"subject": "another"}):
        with pytest.raises(Invalid) as refusal:
            asking.ask(scribe, asked, now, **{"body": "How are you?", "key": "k1"} | other)
        assert refusal.value.code == "key_reused"


def test_a_group_is_written_together_and_a_refused_one_costs_the_others_nothing(now, scribe, alder, monkeypatch):
    """As they come at the same moment: numbered in order, one key counted once, the limit held within the group."""
    monkeypatch.setattr(turns, "MOST_QUEUED", 3)
    make.profile("sage", now, liveness_mode="async", title="Sage")
    digest = access.digest(scribe)

    def prompt(to: str, body: str, **more) -> prompting.Prompt:
        return prompting.Prompt(None, to, body, now, **{"token": digest, **more})

    group = [
        prompt("alder", "one", key="k"), prompt("nobody", "x"), prompt("alder", "one", key="k"), prompt("alder", "two"),
        prompt("sage", "hello"), prompt("alder", "x", token="unknown"), prompt("alder", "other", key="k"),
        prompt("alder", "three"), prompt("alder", "four"),
    ]  # fmt: skip
    told = [type(each).__name__ if isinstance(each, Exception) else each.pk for each in prompting.record_all(group)]
    one = told[0]
    assert told == [one, "NotFound", one, one + 1, one + 2, "Unauthorized", "Invalid", one + 3, "Full"]
    assert (counts("alder"), counts("sage")) == ((3, 0), (1, 0))
    assert [each.exchange for each in standing("alder", now).queue] == [one, one + 1, one + 3]


def test_a_key_of_a_letter_is_no_key_of_a_prompt(now, scribe, alder):
    post.send(scribe, "alder", now, "How are you?", key="k1")
    with pytest.raises(Invalid):
        asking.ask(scribe, "alder", now, key="k1")
    asking.ask(scribe, "alder", now, key="k2")
    with pytest.raises(Invalid):
        post.send(scribe, "alder", now, "How are you?", key="k2")


def test_nobody_prompts_a_person_or_whoever_is_not_there(now, scribe, alder):
    make.person("mira", "manager")
    make.agent("gone", now - hours(5))
    with pytest.raises(Conflict) as person:
        asking.ask(scribe, "mira", now)
    assert (person.value.code, "mail" in person.value.message) == ("person", True)
    with pytest.raises(Expired) as expired:
        asking.ask(scribe, "gone", now)
    assert expired.value.detail["last_seen"] == "2026-03-02T07:00:00.000Z"
    with pytest.raises(NotFound) as unknown:
        asking.ask(scribe, "aldre", now)
    assert "did you mean 'alder'" in unknown.value.message
    with pytest.raises(NotFound):
        asking.ask(scribe, "scribe", now, of_node=True)
    assert Exchange.objects.count() == Message.objects.count() == 0


def test_a_member_known_by_its_profile_alone_is_entered_and_asked(now, scribe):
    make.profile("sage", now, liveness_mode="async", title="Sage")
    told = asking.ask(scribe, "sage", now)
    assert (told.target, told.state, counts("sage")) == ("sage", "queued", (1, 0))


def test_a_queue_holds_so_many_r147(now, scribe, alder, monkeypatch):
    monkeypatch.setattr(turns, "MOST_QUEUED", 3)
    for _ in range(3):
        asking.ask(scribe, "alder", now)
    with pytest.raises(Full) as refusal:
        asking.ask(scribe, "alder", now)
    assert (refusal.value.status, refusal.value.code) == (429, "queue_full")
    assert Exchange.objects.count() == 3


def test_what_is_refused_is_recorded_too_r151(now, scribe, alder):
    """Draining and retired: nobody runs it, and the record says that it was asked."""
    make.agent("echo", now, liveness_mode="async")
    lifecycle.drain(make.MANAGER, "echo", "enough", now)
    with pytest.raises(Conflict) as draining:
        asking.ask(scribe, "echo", now + seconds(1))
    assert (draining.value.code, draining.value.state, draining.value.allowed) == ("draining", "draining", [])
    assert lifecycle.settle(Agent.objects.get(slug="echo").pk, now + seconds(5))
    with pytest.raises(Retired) as retired:
        asking.ask(scribe, "echo", now + seconds(9))
    assert [(state, outcome) for _, state, outcome in asking.states("echo")] == [
        ("refused", "draining"),
        ("refused", "retired"),
    ]
    numbers = [number for number, *_ in asking.states("echo")]
    assert [draining.value.detail["exchange"], retired.value.detail["exchange"]] == numbers
    told = asking.entry(numbers[0], now)
    assert (told.error, told.model_invoked) == ("echo is draining since 2026-03-02T12:00:00.000Z", False)


@pytest.mark.parametrize(
    ("columns", "word"),
    [
        ({"enabled": False, "disabled_reason": "stop", "disabled_by": "mira"}, "disabled"),
        ({"lifecycle": "hired"}, "unready"),
        ({"workspace_state": "failed"}, "unready"),
        ({"lifecycle": "draining", "workspace_state": "wanted"}, "draining"),
    ],
    ids=str,
)
def test_a_claim_asks_the_one_rule_whatever_the_row_came_to_be_p31(now, alder, scribe, columns, word):
    """A prompt that waits for an agent which no verb, but a hand at the table, has brought there: it goes on waiting."""
    make.agent("echo", now, liveness_mode="async")
    asking.ask(scribe, "echo", now)
    home = Agent.objects.get(slug="alder").home_node
    Agent.objects.filter(slug="echo").update(home_node=home, disabled_at=now, **columns)
    key = Agent.objects.get(slug="echo").pk
    assert running.able({key}) == set(), "and who waits to claim is not woken for it"
    given = asking.claim(alder, "echo", now)
    assert (given.turn, given.word, counts("echo")) == (None, word, (1, 0))
    assert Exchange.objects.get().started_at is None


def test_a_draining_agent_answers_what_was_asked_before_d26(now, scribe):
    _, echo = make.agent("echo", now, liveness_mode="async")
    number = asking.ask(scribe, "echo", now).exchange
    lifecycle.drain(make.MANAGER, "echo", "enough", now)
    assert not lifecycle.settle(Agent.objects.get(slug="echo").pk, now)
    assert asking.run(echo, "echo", now).exchange == number
    assert lifecycle.settle(Agent.objects.get(slug="echo").pk, now)


def test_a_retired_agent_asks_nobody(now, scribe, alder):
    lifecycle.end(Agent.objects.get(slug="scribe"), by="mira", now=now, reason="")
    with pytest.raises(Retired):
        asking.ask(scribe, "alder", now)
    assert not Exchange.objects.exists()


# ---- what is kept -------------------------------------------------------------------------------------------------------


def test_a_prompt_is_no_mail(now, scribe, alder, asked):
    """It is in nobody's inbox, so that no drain hands it out; it is in both sides' threads (R137)."""
    number = asking.ask(scribe, asked, now).exchange
    asking.run(alder, asked, now)
    assert not Delivery.objects.exists()
    assert list(Message.objects.order_by("pk").values_list("kind", "thread", "in_reply_to", "sender__slug")) == [
        ("prompt", number, None, "scribe"),
        ("answer", number, number, asked),
    ]


def test_what_was_asked_before_is_told_whoever_asked_r136(now, scribe, analyst, alder, asked):
    """A week later, and a new runner: it hears of A's question as it answers B's. What never ran is not told."""
    asking.ask(scribe, asked, now, "My name is Ada.")
    asking.run(alder, asked, now, "Noted.")
    asking.disable(asked, now)
    asking.ask(scribe, asked, now)
    asking.enable(asked, now)
    asking.ask(scribe, asked, now, "And?")
    asking.fail(alder, asking.turn(alder, asked, now), now, "a fault")
    later = now + timedelta(days=7)
    asking.ask(analyst, asked, later, "Who asked before me?")
    told = [(each.caller, each.prompt, each.answer, each.outcome) for each in asking.turn(alder, asked, later).history]
    assert told == [("scribe", "My name is Ada.", "Noted.", "answered"), ("scribe", "And?", None, "failed")]


def test_a_runner_is_told_as_much_as_it_can_carry(now, scribe, alder, monkeypatch):
    monkeypatch.setattr(turns, "HISTORY_BYTES", 30)
    for n in range(5):
        asking.ask(scribe, "alder", now, f"question {n}")
        asking.run(alder, "alder", now, f"answer {n}" if n < 4 else "a much longer answer than all the others")
    asking.ask(scribe, "alder", now)
    assert [each.prompt for each in asking.turn(alder, "alder", now).history] == ["question 4"]
    assert [turns.remembered(sizes) for sizes in ([], [9], [40, 1], [10, 20, 1], [10, 19, 1, 1])] == [0, 1, 1, 2, 3]
    assert turns.remembered([0] * 99) == turns.HISTORY
