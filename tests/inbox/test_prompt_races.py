"""Many hands at one queue at the same time: nothing runs twice, nothing runs past the switch or the cap."""

from __future__ import annotations

from contextlib import suppress
from functools import partial

import pytest
from django.db import transaction

from inbox.models import Delivery, Exchange, Lease
from inbox.services import exchanges
from roster.errors import Conflict
from roster.models import Agent
from tests import make
from tests.inbox import asking, post
from tests.roster.fleet import minutes, seconds
from tests.together import at_once

pytestmark = pytest.mark.django_db(transaction=True)


def _asked(now, name: str, count: int, cap: int = 1) -> tuple[str, list[int]]:
    """An agent of its own, which runs ``cap`` prompts at once, with ``count`` prompts waiting: its token, and their
    numbers."""
    token = make.agent(name, now, liveness_mode="async")[1]
    Agent.objects.filter(slug=name).update(max_sessions=cap)
    caller = make.agent(f"to-{name}", now)[1]
    return token, [asking.ask(caller, name, now, f"question {n}").exchange for n in range(count)]


@pytest.mark.core
def test_of_two_runners_one_gets_the_prompt_r91_r148(now, soak):
    """Eight claim at once; as many get one as there are slots, each another one, in the order of the queue."""
    for turn in range(100 if soak else 5):
        for cap in (1, 3):
            name = f"echo-{turn}-{cap}"
            token, numbers = _asked(now, name, 5, cap)
            given = at_once(*[partial(asking.claim, token, name, now)] * 8)
            ran = sorted(each.turn.exchange.pk for each in given if each.turn)
            assert ran == numbers[:cap]
            agent = Agent.objects.get(slug=name)
            assert (agent.queued, agent.running) == (5 - cap, cap)


@pytest.mark.core
def test_of_two_who_hand_in_one_is_kept_r148(now, soak):
    for turn in range(100 if soak else 5):
        name = f"echo-{turn}"
        token, (number,) = _asked(now, name, 1)
        taken = asking.turn(token, name, now)

        def hand_in(body: str, taken=taken, token=token) -> str:
            try:
                return asking.answer(token, taken, now, body).answer
            except Conflict as refusal:
                return refusal.code

        said = at_once(partial(hand_in, "one"), partial(hand_in, "two"), partial(hand_in, "one"))
        kept = Exchange.objects.get(pk=number).answer.body
        assert [word for word in said if word != "finished"] == [kept] * (2 if kept == "one" else 1), said


@pytest.mark.core
def test_an_answer_and_the_sweep_of_its_lease_agree_r150(now, soak):
    """At the very moment when it lapses: the answer came in time, or the exchange failed; never both."""
    for turn in range(50 if soak else 5):
        name = f"echo-{turn}"
        token, (number, _) = _asked(now, name, 2)
        taken = asking.turn(token, name, now, seconds=60)
        key = Agent.objects.get(slug=name).pk

        def hand_in(taken=taken, token=token) -> str:
            try:
                return asking.answer(token, taken, now + seconds(59)).state
            except Conflict as refusal:
                return refusal.code

        said, _ = at_once(hand_in, partial(exchanges.settle_queue, key, now + seconds(60)))
        state = Exchange.objects.get(pk=number).state
        assert (said, state) in {("answered", "answered"), ("lease_expired", "failed")}


@pytest.mark.core
def test_after_the_switch_commits_no_path_hands_out_work_p31_f035_p71(now, soak):
    """Claims, drains, prompts, a sweep and a lapsed run, all at once with the switch: 500 rounds with --soak, 30 without.
    What was handed out was handed out before the commit; every prompt ends with its answer."""
    for turn in range(500 if soak else 30):
        name = f"echo-{turn}"
        token, numbers = _asked(now - minutes(5), name, 4, cap=3)
        caller = make.agent(f"late-{turn}", now)[1]
        post.send(caller, name, now)
        asking.turn(token, name, now - minutes(5), seconds=60)  # its runner died
        key = Agent.objects.get(slug=name).pk

        def handed_out(key=key) -> int:
            ran = Exchange.objects.filter(target=key, started_at=now).count()
            return ran + Lease.objects.filter(agent=key).count()

        def switch(name=name, handed_out=handed_out) -> int:
            """What was handed out by the moment it commits."""
            with transaction.atomic():
                asking.disable(name, now)
                return handed_out()

        def claim(token=token, name=name) -> int:
            return int(asking.claim(token, name, now).turn is not None)

        def drain(token=token, name=name) -> int:
            return int(post.drain(token, name, now)["lease"] is not None)

        def ask(caller=caller, name=name) -> int:
            asking.ask(caller, name, now)
            return 0

        def sweep(key=key) -> int:
            exchanges.settle_queue(key, now)
            return 0

        before, *given = at_once(switch, claim, claim, drain, ask, sweep)
        assert sum(given) == before == handed_out()
        assert asking.claim(token, name, now).turn is None and post.drain(token, name, now)["lease"] is None
        asking.ask(caller, name, now)
        ended = [(state, outcome) for number, state, outcome in asking.states(name) if number not in _running(key)]
        assert set(ended) == {("failed", "failed"), ("answered", "disabled")}
        assert Delivery.objects.get(recipient=key).state in ("waiting", "leased")
        agent = Agent.objects.get(pk=key)
        assert (agent.queued, agent.running) == (0, len(_running(key)))


def _running(key: int) -> list[int]:
    return list(Exchange.objects.filter(target=key, state="running").values_list("pk", flat=True))


@pytest.mark.core
def test_asking_running_draining_and_sweeping_never_wait_for_each_other(now):
    """Agents that ask each other in opposite orders, run what they were asked, beat, and are swept: without one order of
    locking PostgreSQL ends one of any two that wait for each other."""
    names = [f"echo-{n}" for n in range(6)]
    raws = {name: make.agent(name, now, liveness_mode="async")[1] for name in names}

    def asks(turn, order):
        for to in order:
            asking.ask(raws[names[turn % 6]], to, now + seconds(turn), f"question {turn}")

    def runs(turn):
        for name in names[turn % 2 :: 2]:
            given = asking.claim(raws[name], name, now + seconds(turn)).turn
            if given:
                with suppress(Conflict):
                    asking.answer(raws[name], given, now + seconds(turn))

    def sweeps(turn):
        for agent in Agent.objects.order_by("-pk"):
            exchanges.settle_queue(agent.pk, now + seconds(turn))

    def beats(turn):
        for name in names[turn % 3 :: 3]:
            make.beat(raws[name], now + seconds(turn), status=f"working: {turn}")

    acts = (partial(asks, order=names), partial(asks, order=names[::-1]), runs, sweeps, beats)
    at_once(*(partial(_many_times, act) for act in acts))
    assert Exchange.objects.count() == 2 * 10 * 6
    for name in names:
        agent = Agent.objects.get(slug=name)
        stored = [state for _, state, _ in asking.states(name)]
        assert (agent.queued, agent.running) == (stored.count("queued"), stored.count("running"))


def _many_times(act) -> None:
    for turn in range(10):
        act(turn)
