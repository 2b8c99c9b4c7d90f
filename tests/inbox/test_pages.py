"""A person's mail on its pages, without scripts: boxes, threads, being done, and what a manager sees of others."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from inbox.models import Delivery
from inbox.services import archiving, leases, reading
from roster.access import Caller
from roster.models import Agent, Event
from tests import make
from tests.inbox import crowd, post

pytestmark = pytest.mark.django_db
TOKEN = re.compile(r'name="csrfmiddlewaretoken" value="\w+"')
AGO = timedelta(minutes=10)


def signed_in(name: str, role: str = "viewer") -> Client:
    client = Client()
    client.force_login(make.person(name, role))
    return client


@pytest.fixture
def vera():
    return signed_in("vera")


@pytest.fixture
def mira(vera):
    return signed_in("mira", "manager")


@pytest.fixture
def echo() -> str:
    """The token of an agent that writes."""
    return make.agent("echo")[1]


def mail(token: str, to="vera", body: str = "hello there", ago: timedelta = AGO, **more) -> int:
    return post.send(token, to, timezone.now() - ago, body, **more).seq


def person(name: str, role: str = "viewer") -> leases.Hand:
    return leases.Hand(Caller("person", name, Agent.objects.get(slug=name).pk, role=role), name, timezone.now())


def shows(client: Client, path: str, status: int = 200) -> str:
    answer = client.get(path)
    assert answer.status_code == status, path
    return answer.content.decode()


def does(client: Client, **form) -> str:
    """What the page says after an act."""
    answer = client.post("/inbox/act/", form, follow=True)
    assert answer.redirect_chain and answer.status_code == 200
    return answer.content.decode()


def test_each_message_is_in_the_box_of_its_state_in_words(vera, echo):
    waits, taken, done, late, put = (
        mail(echo, subject=each) for each in ("waits", "taken", "done", "late", "put away")
    )
    leases.ack(person("vera"), [done, put])
    Delivery.objects.filter(message=late).update(expires_at=timezone.now() - AGO / 2)
    archiving.put_away([Delivery.objects.get(message=put).pk], by="ada", now=timezone.now())
    Delivery.objects.filter(message=waits).update(state="acked")  # so that the drain takes the other one
    leases.drain(person("vera"), 1, 600)
    Delivery.objects.filter(message=waits).update(state="waiting")
    found = {box: shows(vera, f"/inbox/{box}") for box in ("", "done/", "dead/", "archive/")}
    said = {"": ["waits", "taken until", "<b>2</b>"], "done/": ["done"], "dead/": ["not delivered", "<b>1</b>"],
            "archive/": ["archived"]}  # fmt: skip
    places = {"": [waits, taken], "done/": [done], "dead/": [late], "archive/": [put]}
    for box, page in found.items():
        assert [seq for seq in (waits, taken, done, late, put) if f'id="m{seq}"' in page] == places[box]
        assert all(word in page for word in said[box]), box
    assert "not delivered: it expired before anybody acked it" in shows(vera, f"/inbox/m/{late}/?box=dead")
    shows(vera, "/inbox/nothing/", 404)


def test_what_was_sent_says_how_it_stands_but_never_that_it_was_taken_r208(vera, echo):
    make.agent("analyst")
    vera_token = make.tokens.issue("person", by="t", now=timezone.now(), agent=Agent.objects.get(slug="vera"))
    mail(vera_token, ["echo", "analyst"], subject="to two")
    post.drain(echo, "echo", timezone.now())
    page = shows(vera, "/inbox/sent/")
    assert "2 waiting" in page and "analyst" in page and "and 1 more" in page and "taken" not in page
    page = shows(vera, "/inbox/m/1/?box=sent")
    assert "taken" not in page and page.count("waiting") >= 2


def test_a_thread_is_shown_oldest_first_with_every_line_break_and_nothing_unseen(vera, echo):
    first = mail(echo, body="one\r\n\ttwo\u202e<b>three</b>", subject="begin")
    second = mail(echo, body="https://example.org/ is no link", subject="Re: begin", in_reply_to=first)
    page = shows(vera, f"/inbox/m/{second}/")
    assert page.index(f'id="letter-{first}"') < page.index(f'id="letter-{second}"')
    assert "one\n\ttwo\ufffd&lt;b&gt;three&lt;/b&gt;" in page and 'href="https://example' not in page
    assert "With you: waiting" in page and 'aria-current="true"' in page


def test_a_long_body_is_cut_and_comes_whole_where_it_is_asked_for(vera, echo):
    seq = mail(echo, body="x" * 25_000 + "the end")
    cut = shows(vera, f"/inbox/m/{seq}/")
    assert "the end" not in cut and "21007 more characters" in cut
    assert "the end" in shows(vera, f"/inbox/m/{seq}/?whole={seq}")


def test_what_was_not_delivered_is_counted_until_it_was_read_and_a_manager_sees_all_of_it(vera, mira, echo):
    """What can neither be acked nor is unread would call for somebody for ever; who read what is the recipient's own."""
    late = [mail(echo, expires_at=timezone.now() + timedelta(minutes=1)) for _ in range(2)]
    post.sweep(timezone.now() + timedelta(minutes=2))
    assert 'href="/inbox/dead/">Not delivered <b>2</b>' in shows(vera, "/inbox/")
    assert 'class="item unread"' in shows(vera, "/inbox/dead/")
    assert f'name="seq" value="{late[0]}"' in shows(vera, f"/inbox/m/{late[0]}/?box=dead").split('id="read"')[1]
    does(vera, act="read", seq=late[0])
    assert 'href="/inbox/dead/">Not delivered <b>1</b>' in shows(vera, "/inbox/")
    does(vera, act="read", seq=late[1])
    page = shows(vera, "/inbox/dead/")
    assert "Not delivered</a>" in page and "unread" not in page
    assert 'href="/inbox/of/vera/dead/">Not delivered <b>2</b>' in shows(mira, "/inbox/of/vera/")


def test_a_message_without_a_subject_is_listed_by_how_it_begins(vera, echo):
    mail(echo, body="\n  the <b>first</b> line\r\nthe second")
    mail(echo, body="not this", subject="its subject")
    page = shows(vera, "/inbox/")
    assert "the &lt;b&gt;first&lt;/b&gt; line<" in page and "the second" not in page
    assert "its subject<" in page and "not this" not in page


def test_a_long_thread_begins_where_its_message_is(vera, echo):
    seqs = [mail(echo, subject="begin")]
    seqs += [mail(echo, in_reply_to=seqs[0]) for _ in range(44)]
    whole = shows(vera, f"/inbox/m/{seqs[19]}/")
    assert whole.count('class="block letter"') == 20 and f"?after={seqs[19]}" in whole and "?after=0" not in whole
    later = shows(vera, f"/inbox/m/{seqs[30]}/")
    assert later.index('class="block letter"') == later.index(f'id="letter-{seqs[30]}"') + len(
        f'id="letter-{seqs[30]}" '
    )
    assert "?after=0" in later


def test_asking_for_a_page_reads_nothing_and_a_post_does_p65(vera, echo):
    seq = mail(echo)
    for path in ("/inbox/", f"/inbox/m/{seq}/", "/inbox/news/?after=0"):
        assert '<b>1</b><span class="vh"> unread</span>' in shows(vera, path)
    assert Delivery.objects.get(message=seq).read_at is None
    page = does(vera, act="read", seq=seq, next=f"/inbox/m/{seq}/")
    assert 'id="read"' not in page and "> unread<" not in page
    assert Delivery.objects.get(message=seq).state == "waiting"


def test_several_are_done_with_at_once_and_the_page_says_what_came_of_each(vera, echo):
    seqs = [mail(echo) for _ in range(4)]
    leases.drain(person("vera"), 1, 600)
    assert "No message was ticked" in does(vera, act="ack")
    page = does(vera, act="ack", seq=seqs)
    assert "Nothing was done" in page and Delivery.objects.filter(state="acked").count() == 0
    page = does(vera, act="ack", seq=[*seqs[1:], 999])
    assert "3 messages done, 1 message not in your inbox." in page
    assert "3 messages done before." in does(vera, act="ack", seq=seqs[1:])


def test_an_act_goes_back_to_where_it_came_from_and_nowhere_else(vera, echo):
    for target, there in (
        ("/inbox/done/", "/inbox/done/"),
        ("https://evil.example/", "/inbox/"),
        ("/admin/", "/inbox/"),
    ):
        assert vera.post("/inbox/act/", {"act": "read", "seq": 1, "next": target}).url == there
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(User.objects.get(username="vera"))
    assert strict.post("/inbox/act/", {"seq": 1}).status_code == 403


def test_nobody_reads_the_mail_of_others_and_missing_is_the_same_as_foreign_p60(vera, echo):
    make.agent("analyst")
    foreign = mail(echo, "analyst")
    told = [shows(vera, f"/inbox/m/{seq}/", 404).replace(f"/m/{seq}/", "/m/N/") for seq in (foreign, 999, 2**70)]
    assert len({TOKEN.sub("", each) for each in told}) == 1
    for slug in ("analyst", "echo", "nobody", "vera"):
        assert vera.get(f"/inbox/of/{slug}/").status_code == 403
        assert vera.get(f"/inbox/of/{slug}/m/{foreign}/").status_code == 403
    assert not Event.objects.filter(kind="inbox_looked_at").exists()


def test_a_manager_looks_into_any_inbox_and_that_is_recorded_once(vera, mira, echo):
    seq = mail(echo, "vera", subject="for vera")
    page = shows(mira, "/inbox/of/vera/")
    assert "for vera" in page and "as a manager" in page and f'href="/inbox/of/vera/m/{seq}/"' in page
    page = shows(mira, f"/inbox/of/vera/m/{seq}/")
    assert "hello there" in page and "With vera: waiting" in page
    for act in ('name="act" value="ack"', ">Done</button>", ">Reply<", 'id="read"', "unread,"):
        assert act not in page, act
    assert [event.by for event in Event.objects.filter(kind="inbox_looked_at")] == ["mira"]
    shows(mira, "/inbox/of/nobody/", 404)
    shows(mira, "/inbox/of/vera/m/999/", 404)
    assert mira.get("/inbox/of/mira/done/").url == "/inbox/done/"


def test_a_manager_opens_a_message_between_others_by_its_number_and_is_told_so(vera, mira, echo):
    seq = mail(echo, "vera")
    page = shows(mira, f"/inbox/m/{seq}/")
    assert "between others" in page and ">Reply<" not in page and ">Done</button>" not in page
    assert Event.objects.filter(kind="inbox_looked_at", agent__slug="echo").count() == 1


def test_pages_of_a_box_neither_skip_nor_repeat_f103(vera, echo):
    seqs = [mail(echo) for _ in range(60)]
    first = shows(vera, "/inbox/")
    mail(echo)  # comes between two pages
    second = shows(vera, f"/inbox/?before={seqs[10]}")
    assert f"?before={seqs[10]}" in first and "To the newest" not in second
    found = [seq for seq in seqs if f'id="m{seq}"' in first] + [seq for seq in seqs if f'id="m{seq}"' in second]
    assert sorted(found) == seqs
    assert f'href="/inbox/m/{seqs[3]}/?before={seqs[10]}"' in second
    assert "Nothing further down" in shows(vera, f"/inbox/?before={seqs[0]}")


def test_empty_boxes_teach(vera):
    assert 'python3 -m agora_node send vera -m "hello"' in shows(vera, "/inbox/")
    assert "Write the first message" in shows(vera, "/inbox/sent/")
    for box in ("done", "dead", "archive"):
        assert '<div class="empty">' in shows(vera, f"/inbox/{box}/")


def test_the_count_in_the_head_is_of_what_is_unread_and_not_done_with(vera, echo):
    """What was acked or died needs no reading."""
    seqs = [mail(echo, expires_at=timezone.now() + timedelta(minutes=1) if n == 3 else None) for n in range(4)]
    for done, left in ((None, 4), (seqs[0], 3), (seqs[1], 2)):
        if done:
            leases.ack(person("vera"), [done])
        assert f"<b>{left}</b>" in shows(vera, "/inbox/news/")
    post.sweep(timezone.now() + timedelta(minutes=2))
    assert "<b>1</b>" in shows(vera, "/inbox/news/")
    reading.mark(Agent.objects.get(slug="vera"), seqs, timezone.now())
    assert "unread" not in shows(vera, "/inbox/news/")


def test_a_user_who_is_no_agent_is_told_how_to_become_one():
    people = make.people
    people.make_roles()
    user = User.objects.create_user("Strange Name")
    people.give_role(user, "viewer", by="t", now=timezone.now())
    client = Client()
    client.force_login(user)
    for path in ("/inbox/", "/inbox/write/", "/inbox/m/1/", "/inbox/news/"):
        assert "You have no inbox yet" in shows(client, path, 404)
    assert 'id="mail"' not in shows(client, "/")
    assert client.post("/inbox/act/", {"seq": 1}).status_code == 404
    assert Client().get("/inbox/").url.startswith("/sign-in/")


def test_what_arrived_behind_a_number_is_told_once_and_never_ones_own(vera, echo):
    first = mail(echo, subject="one")
    page = shows(vera, "/inbox/news/?after=0")
    assert f'data-newest="{first}" data-arrived="1"' in page and f'href="/inbox/m/{first}/"' in page
    assert "Mail from" in page and "one" in page
    second = mail(echo, subject="<i>two</i>")
    page = shows(vera, "/inbox/news/?after=0")
    assert "2 new messages" in page and "&lt;i&gt;two&lt;/i&gt;" in page and 'href="/inbox/"' in page
    assert 'data-arrived="0"' in shows(vera, f"/inbox/news/?after={second}")
    own = crowd.write(Agent.objects.get(slug="vera"), ["vera"], timezone.now()).seq
    assert f'data-newest="{own}" data-arrived="0"' in shows(vera, f"/inbox/news/?after={second}")
    leases.ack(person("vera"), [first, second, own])
    assert 'data-arrived="0"' in shows(vera, "/inbox/news/?after=0")
