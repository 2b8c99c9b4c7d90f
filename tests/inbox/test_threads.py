"""A message to very many, and a thread that is larger than any answer."""

from __future__ import annotations

import pytest

from inbox import access, queries, rules
from inbox.queries import threads
from roster.models import Agent
from tests import make
from tests.inbox import post

pytestmark = pytest.mark.django_db


@pytest.fixture
def fleet(now) -> dict[str, str]:
    return {slug: make.agent(slug, now)[1] for slug in ("ann", "ben", "cyd", "zoe")}


def view(slug: str) -> access.View:
    return access.own_view(Agent.objects.get(slug=slug).pk)


def test_each_of_very_many_recipients_sees_their_own_delivery(monkeypatch, fleet, now):
    """Only so many are told of; whoever comes behind them in the order of ids still sees how it stands with them."""
    monkeypatch.setattr(threads, "MOST_LINES", 2)
    seq = post.send(fleet["ann"], ["ben", "cyd", "zoe"], now).seq
    for slug in ("ben", "zoe"):
        letter = queries.message(view(slug), seq, now)
        assert ([line.to for line in letter.lines], letter.others) == ([slug], 0)
    letter = queries.message(view("ann"), seq, now)
    assert ([line.to for line in letter.lines], letter.others) == (["ben", "cyd"], 1)


def test_a_long_thread_takes_few_queries(fleet, now, django_assert_max_num_queries):
    first = post.send(fleet["ann"], "ben", now).seq
    for n in range(100):
        post.send(fleet["ann"], ["ben", "cyd"][: 1 + n % 2], now, in_reply_to=first)
    with django_assert_max_num_queries(6):
        letters, _ = queries.thread_page(view("ben"), first, now, 0, 500)
    assert [len(letter.to) for letter in letters] == [1] + [1, 2] * 50
    assert {len(letter.lines) for letter in letters} == {1}


def test_recipients_are_read_whole_however_many_a_letter_of_the_thread_has(monkeypatch, fleet, now):
    monkeypatch.setattr(threads, "MOST_LINES", 3)
    first = post.send(fleet["ann"], "ben", now).seq
    for to in (["ben", "cyd", "zoe"], ["zoe"], ["ben", "cyd", "zoe", "ann"], ["cyd"]):
        post.send(fleet["ann"], to, now, in_reply_to=first)
    letters, _ = queries.thread_page(view("ann"), first, now, 0, 500)
    assert [(len(letter.lines), letter.others) for letter in letters] == [(1, 0), (3, 0), (1, 0), (3, 1), (1, 0)]


def test_a_page_of_a_thread_ends_where_its_bodies_are_too_large(monkeypatch, fleet, now):
    monkeypatch.setattr(rules, "LARGEST_ANSWER", 25)
    first = post.send(fleet["ann"], "ben", now, "x" * 30).seq
    for _ in range(3):
        post.send(fleet["ann"], "ben", now, "x" * 10, in_reply_to=first)
    pages, after = [], 0
    while after is not None:
        letters, after = queries.thread_page(view("ben"), first, now, after, 100)
        pages.append([letter.seq for letter in letters])
    assert pages == [[first], [first + 1, first + 2], [first + 3]]
    assert queries.thread_page(view("ben"), first, now, first + 3, 100) is None
    assert queries.thread_page(view("cyd"), first, now, 0, 100) is None
    assert queries.thread_page(view("ben"), first, now, 0, 1)[1] == first
