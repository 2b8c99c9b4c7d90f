"""An inbox that cannot be settled, and a notice that cannot be sent, cost the others nothing, however much is due."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from inbox import plans
from inbox.services import sweeping
from roster.models import Agent
from tests import make
from tests.inbox import post

pytestmark = [pytest.mark.core, pytest.mark.django_db]
SMALL = replace(plans.PLAN, batch=2)
LATER = timedelta(minutes=5)


@pytest.fixture
def fleet(now) -> dict[str, str]:
    return {slug: make.agent(slug, now)[1] for slug in ("ann", "ben", "stuck", "well")}


def failing_for(what, step):
    def tried(key, now):
        assert key != what, "damaged"
        return step(key, now)

    return tried


@pytest.mark.parametrize("more", [{}, {"expires_at": LATER / 2}], ids=["lapsed", "expired"])
def test_an_inbox_that_cannot_be_settled_leaves_the_others_their_turn(monkeypatch, fleet, now, more):
    due = {name: now + span for name, span in more.items()}
    for slug in ("stuck", "stuck", "stuck", "well"):
        post.send(fleet["ann"], slug, now, **due)
        if not due:
            post.drain(fleet[slug], slug, now)
    stuck = Agent.objects.get(slug="stuck").pk
    monkeypatch.setattr(sweeping, "settle_inbox", failing_for(stuck, sweeping.settle_inbox))
    run = sweeping.run(SMALL, now + LATER)
    assert (run.errors, set(post.states("well").values())) == (1, {"dead" if due else "waiting"})
    assert set(post.states("stuck").values()) == {"waiting" if due else "leased"}


def test_a_notice_that_cannot_be_sent_leaves_the_others_their_turn(monkeypatch, fleet, now):
    seq = post.send(fleet["ann"], ["ben", "stuck", "well"], now, expires_at=now + LATER / 2).seq
    post.send(fleet["ben"], "well", now, expires_at=now + LATER / 2)
    monkeypatch.setattr(sweeping, "tell_sender", failing_for(seq, sweeping.tell_sender))
    for n in range(3):
        sweeping.run(SMALL, now + LATER * (1 + n))
    assert (len(post.notices("ann")), len(post.notices("ben"))) == (0, 1)
