"""Words are found in one's own mail, and only there, whichever of the two ways a search goes (P52, P60)."""

from __future__ import annotations

import importlib
import random
import re
from datetime import timedelta
from types import SimpleNamespace

import pytest
from django.db import connection, transaction

from inbox import phrases, rules
from inbox.models import Delivery, Message
from inbox.queries import search, wordindex
from roster.errors import Invalid
from roster.models import Agent
from roster.services.rows import insert
from tests import make
from tests.inbox import post

pytestmark = [pytest.mark.core, pytest.mark.django_db]


@pytest.fixture(params=["read", "index"])
def way(request, monkeypatch):
    """Once with all of one's own mail read, once with the index asked for whatever there is."""
    if request.param == "index":
        monkeypatch.setattr(search, "_own", lambda agent, below: [below - 1] * search.STRETCH)
    return request.param


@pytest.fixture
def fleet(now) -> dict[str, str]:
    return {slug: make.agent(slug, now)[1] for slug in ("ann", "ben", "cyd")}


def found(slug: str, text: str, **more) -> list[int]:
    return [hit.seq for hit in search.find(Agent.objects.get(slug=slug).pk, text, **more).hits]


LETTER = (
    "The agora-node_7.local was restarted, twice: Café «Über» — naïve İstanbul\n第二 ПРИВЕТ Ёлка замо́к हिन्दी 🤖done"
)


FOUND = [
    "restarted", "RESTART", "rest", '"was restarted"', '"was rest', "twice was agora", "agora-node", "node_7.local", "7",
    "node_7.loc", '"Agora Node"', "cafe", "CAFÉ", "cafe\u0301", "uber", "naive istan", "第二", "第", "привет", "ёлка", "замок",
    "हिन्दी", "done", "status", "plan restarted", '"status: the plan"', "- agora * ( restarted", "“restarted”", "cafe uber",
]  # fmt: skip
NOT_FOUND = [
    "estarted", "rest was", '"rest" was', '"restarted was"', '"twice" restart absent', "restarted NOT twice", "agora OR x",
    "node8", '"the plan the"', "caf x", "body:restarted", "елка", "restarted NEAR twice", "привет^2", "-restarted absent",
]  # fmt: skip


def test_words_phrases_and_the_beginning_of_the_last_word_are_found(way, fleet, now):
    seq = post.send(fleet["ann"], "ben", now, LETTER, subject="Status: the plan").seq
    for text in FOUND:
        assert found("ben", text) == found("ann", text) == [seq], text
    for text in NOT_FOUND:
        assert found("ben", text) == [], text


NO_WORD = ["", " ", '"', '""', "*", "-", "()", "🤖", "\u202e\u2066", "\x00", "'; --", "&|!<>", "%_%"]


@pytest.mark.parametrize("text", [*NO_WORD, "a" * 201, "x " * 5000], ids=ascii)
def test_what_names_no_word_or_is_too_long_is_refused(text, fleet):
    with pytest.raises(Invalid) as refusal:
        found("ben", text)
    assert refusal.value.detail == {"field": "q"}


PLAIN = [
    "done*", "^done", "done\x00", "done\u202e", "'done'", "done:*", "done\\", "!done", "<->done", "done;--", "🤖done🤖",
    '"""done', "%done%", "(((((done", "done" + "'" * 190, 'it" done "is', "-done", "it - done", "it && done",
]  # fmt: skip
TWO_WORDS = [
    'done" OR "absent',
    "NEAR(done absent)",
    "{subject}: done",
    "done' | 'absent",
    "done | absent",
    "done,absent",
]


def test_nothing_that_people_type_is_an_operator(way, fleet, now):
    """Each of these would be an error, or find more, where it reached the engine as it is."""
    seq = post.send(fleet["ann"], "ben", now, "it is done").seq
    post.send(fleet["ann"], "ben", now, "something else, and the absent subject")
    for text in PLAIN:
        assert found("ben", text) == [seq], text
    for text in TWO_WORDS:
        assert found("ben", text) == [], text


def test_only_who_sent_or_received_a_message_finds_it_P60(way, fleet, now):
    seq = post.send(fleet["ann"], ["ben"], now, "the secret plan").seq
    assert (found("ann", "secret"), found("ben", "secret"), found("cyd", "secret")) == ([seq], [seq], [])


def test_a_notice_of_the_hub_is_found_by_whom_it_was_sent_to(way, fleet, now):
    post.send(fleet["ann"], "ben", now, "short lived", expires_at=now + timedelta(minutes=1))
    post.sweep(now + timedelta(minutes=2))
    (notice,) = post.notices("ann")
    word = max(phrases.fold(notice.body).split(), key=len)
    (hit,) = search.find(Agent.objects.get(slug="ann").pk, word).hits
    assert (hit.seq, hit.sender, hit.to) == (notice.seq, None, ())
    assert found("ben", word) == []


def test_pages_of_hits_are_newest_first_and_hold_each_once_P24(way, fleet, now):
    sent = [post.send(fleet["ann"], to, now, "the same words").seq for to in ("ben", "cyd") * 6]
    mine, before, pages = sent[0::2], None, []
    ben = Agent.objects.get(slug="ben").pk
    while before is not None or not pages:
        page = search.find(ben, "same", before=before, limit=4)
        pages.append([hit.seq for hit in page.hits])
        before = page.next
    assert pages == [mine[5:1:-1], mine[1::-1]]


def test_a_message_is_found_once_it_is_committed_and_never_if_it_was_not(way, fleet, now):
    with pytest.raises(ZeroDivisionError), transaction.atomic():
        post.send(fleet["ann"], "ben", now, "never happened")
        assert found("ben", "happened") != []
        1 / 0  # noqa: B018
    assert found("ben", "happened") == []
    seq = post.send(fleet["ann"], "ben", now, "something else").seq
    assert found("ben", "happened") == [] and found("ben", "something") == [seq]


def test_few_messages_of_ones_own_are_found_without_a_look_at_the_mail_of_others(
    fleet, now, monkeypatch, django_assert_num_queries
):
    for _ in range(5):
        post.send(fleet["ann"], "ben", now, "needle")
    seq = post.send(fleet["ann"], "cyd", now, "needle").seq
    monkeypatch.setattr(wordindex, "proposed", None)
    cyd = Agent.objects.get(slug="cyd").pk
    with django_assert_num_queries(4):  # what was sent, what was received, their texts, and the hit
        assert [hit.seq for hit in search.find(cyd, "needle").hits] == [seq]


@pytest.mark.parametrize("foreign", [3, 1])
def test_a_search_looks_at_so_much_and_says_where_it_goes_on(foreign, fleet, now, monkeypatch):
    """What is rare in a large mailbox and frequent elsewhere: three messages of others that have the word for each two
    of one's own, or one."""
    monkeypatch.setattr(search, "STRETCH", 4)
    monkeypatch.setattr(search, "MOST_STRETCHES", 2)
    wanted = post.send(fleet["ann"], "ben", now, "needle").seq
    for _ in range(9):
        for to, body in [("ben", "hay")] * 2 + [("cyd", "needle")] * foreign:
            post.send(fleet["ann"], to, now, body)
    reads, rounds, before, ben = [], 0, None, Agent.objects.get(slug="ben").pk
    monkeypatch.setattr(phrases, "found_in", lambda *how, real=phrases.found_in: reads.append(how) or real(*how))
    while True:
        page, rounds = search.find(ben, "needle", before=before), rounds + 1
        assert len(reads) <= 8 * rounds
        if page.next is None:
            break
        before = page.next
        assert page.hits == ()
    assert [hit.seq for hit in page.hits] == [wanted] and rounds == 2 + (foreign == 3)


def test_large_bodies_are_read_so_many_bytes_at_a_time(fleet, now, monkeypatch):
    monkeypatch.setattr(search, "MOST_BYTES", 2000)
    sent = [post.send(fleet["ann"], "ben", now, "needle " + "hay " * 300).seq for _ in range(4)]
    page = search.find(Agent.objects.get(slug="ben").pk, "needle")
    assert [hit.seq for hit in page.hits] == [sent[3], sent[2]] and page.next == sent[2]
    assert found("ben", "needle", before=page.next) == [sent[1], sent[0]]


def test_the_context_shows_the_hit_among_its_neighbours(way, fleet, now):
    body = "before " * 40 + "a Needle,\r\nand\u202e <b>needles</b> " + "after " * 100
    post.send(fleet["ann"], "ben", now, body, subject="about needle")
    (hit,) = search.find(Agent.objects.get(slug="ben").pk, '"a needle" needle').hits
    assert [piece.text for piece in hit.context if piece.hit] == ["a Needle", "needle"]
    told = "".join(piece.text for piece in hit.context)
    assert told.startswith("…before ") and told.endswith("after…") and told.strip("…") in body
    assert len(told) <= phrases.AROUND + 2


def test_the_context_is_the_subject_where_the_body_has_none_of_the_words(way, fleet, now):
    post.send(fleet["ann"], "ben", now, "hello", subject="the needle")
    (hit,) = search.find(Agent.objects.get(slug="ben").pk, "needle").hits
    assert hit.context == (phrases.Piece("the "), phrases.Piece("needle", hit=True))


def test_whom_a_message_went_to_is_told_to_its_sender_only(way, fleet, now):
    others = [make.agent(f"other-{n}", now)[0].slug for n in range(4)]
    few, many = (post.send(fleet["ann"], to, now, "hello").seq for to in (["ben", "cyd"], ["ben", *others]))
    all_live = post.send(fleet["ann"], "live", now, "hello").seq
    told = {hit.seq: (hit.to, hit.more) for hit in search.find(Agent.objects.get(slug="ann").pk, "hello").hits}
    assert told == {few: (("ben", "cyd"), False), many: (("ben", *others[:2]), True), all_live: (("live",), False)}
    assert {(hit.sender, hit.to) for hit in search.find(Agent.objects.get(slug="ben").pk, "hello").hits} == {
        ("ann", ())
    }


HOSTILE = {
    "words that are all different": " ".join(chr(0x4E00 + n // 300) + chr(0xAC00 + n % 300) for n in range(37_000)),
    "short words": " ".join(f"{n:x}" for n in range(46_000)),
    "one word": "x" * rules.LARGEST_BODY,
    "tags": "<!--" * (rules.LARGEST_BODY // 4),
    "addresses": " ".join(f"a{n}.example/{n}?q=-{n}" for n in range(9_000)),
    "marks": "e" + "\u0315\u0300" * 65_000,
    "marks of another script": "\u05b0\u0591" * 65_000,
    "letters with marks": " ".join(chr(0x1EA0 + n % 90) + chr(0xC0 + n // 90 % 90) + f"{n:x}" for n in range(24_000)),
    "directions": "\u202e\u2066" * 43_000,
}


@pytest.mark.parametrize("body", HOSTILE.values(), ids=HOSTILE)
def test_no_body_is_too_much_for_the_index(body, fleet, now):
    """What PostgreSQL makes of "<!--" takes it 40 s, and an index entry has no room for a word of 256 kB."""
    assert len(body.encode()) <= rules.LARGEST_BODY
    seq = post.send(fleet["ann"], "ben", now, body, subject="hostile").seq
    assert wordindex.proposed(phrases.asked("hostile"), search.BEYOND, 10) == found("ben", "hostile") == [seq]


LETTERS = [
    "abcABC", "abc019", "äöüÄÖÜéèßñçøłİı", "αβγάΣσς", "абвйёЙЁ", "日本語", "한국어", "-_./:@&<>#~^`'\"()*", " \n\t", "–—“”…·«»\u200b",
    "😀🎉👍🏽🤖❤\ufe0f", "ﬁﬂ", "עברית", "ไทย", "हिन्दी", "0e1x",
]  # fmt: skip


def test_the_index_proposes_whatever_is_found_by_reading(fleet, now):
    """Else it would depend on how much mail one has what is found in it."""
    chance = random.Random(7)
    texts = {seq: _strange(chance) for seq in range(1, 301)}
    insert([Message(seq=seq, body=text, thread=1, size=1, sent_at=now) for seq, text in texts.items()])
    for seq, text in texts.items():
        words = phrases.fold(phrases.bare(text)).split()
        for asked in (words[0], '"' + " ".join(words[-2:]), words[-1][0]):
            wanted = phrases.asked(asked)
            assert phrases.found_in(wanted, "", text), (asked, text)
            assert seq in wordindex.proposed(wanted, search.BEYOND, 1000), (asked, text)


def _strange(chance: random.Random) -> str:
    """Letters and signs of two kinds, and a word, so that there is one in it. A mark stands behind its letter."""
    some = chance.sample(LETTERS, 2)
    text = "".join(chance.choice(chance.choice(some)) for _ in range(chance.randint(3, 30)))
    return re.sub(r"[\u0900-\u0903\u093e-\u094d]", lambda mark: "ह" + mark[0], text) + " plain"


def test_what_was_stored_before_there_was_an_index_is_in_it(fleet, now):
    """The migration's own statements, after those of its way back."""
    migration = importlib.import_module("inbox.migrations.0003_words")
    with connection.cursor() as cursor:
        schema = SimpleNamespace(connection=connection, execute=lambda sql, params: cursor.execute(sql))
        migration.drop(None, schema)
        old = post.send(fleet["ann"], "ben", now, "old news").seq
        connection.check_constraints()  # else PostgreSQL alters no table in the transaction that wrote to it
        migration.index(None, schema)
    new = post.send(fleet["ann"], "ben", now, "new news").seq
    assert wordindex.proposed(phrases.asked("news"), search.BEYOND, 10) == [new, old]
    assert Delivery.objects.count() == 2


def test_where_a_search_goes_on_tells_no_number_of_foreign_mail_p60(monkeypatch, fleet, now):
    """The index proposes foreign mail as well, and may reach further down than one's own of the same stretch."""
    monkeypatch.setattr(search, "STRETCH", 2)
    monkeypatch.setattr(search, "MOST_STRETCHES", 1)
    first = post.send(fleet["ann"], "ben", now).seq
    for body in ("nothing", "secret", "secret"):
        post.send(fleet["cyd"], "cyd", now, body)
    for _ in range(2):
        post.send(fleet["ann"], "ben", now)
    ann, ben = (Agent.objects.get(slug=slug).pk for slug in ("ann", "ben"))
    assert search.find(ann, "secret") == search.find(ben, "secret") == search.Found((), first + 1)
    assert search.find(ann, "secret", before=first + 1).next is None
