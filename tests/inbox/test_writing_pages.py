"""Writing on a page: who gets it now and who later, errors at their fields, and one letter however often it is sent."""

from __future__ import annotations

import html
import re
from datetime import timedelta

import pytest
from django.test.client import BOUNDARY, MULTIPART_CONTENT, encode_multipart
from django.utils import timezone

from inbox import rules
from inbox.models import MailGroup, Message
from inbox.views.forms import Form
from roster.models import Agent
from tests import make
from tests.inbox import post
from tests.inbox.test_pages import signed_in

pytestmark = pytest.mark.django_db
TYPED = ("to", "subject", "body")
KEY = re.compile(r'name="key" value="([\w-]+)"')


@pytest.fixture
def vera():
    return signed_in("vera")


@pytest.fixture
def fleet():
    """Somebody live, somebody dormant, somebody disabled, somebody retired."""
    long_ago = timezone.now() - timedelta(days=3)
    made = {slug: make.agent(slug, liveness_mode="async") for slug in ("echo", "off", "left")}
    made["analyst"] = make.agent("analyst", long_ago, liveness_mode="async")
    Agent.objects.filter(slug="off").update(enabled=False, disabled_by="mira", disabled_at=long_ago)
    Agent.objects.filter(slug="left").update(lifecycle="retired", lifecycle_since=long_ago)
    return {slug: token for slug, (_, token) in made.items()}


def sends(client, status: int = 302, **form):
    given = {"act": "send", "key": "k" * 22, "to": "echo", "subject": "s", "body": "text", "importance": "normal"}
    answer = client.post("/inbox/write/", given | {"expires": ""} | form)
    assert answer.status_code == status, answer.content.decode()
    return answer


def expected(client, to: str) -> str:
    answer = client.get("/inbox/write/who/", {"to": to})
    assert answer.status_code == 200
    return " ".join(re.sub(r"<[^>]+>", " ", answer.content.decode()).split())


def test_the_form_knows_who_gets_it_now_and_who_when_they_wake(vera, fleet):
    now, later = expected(vera, "echo, analyst off").split("once awake")
    assert now.strip() == "gets it now echo"
    assert "analyst dormant since" in later and "off disabled since" in later
    told = expected(vera, "echo left")
    assert "cannot get it left is retired since" in told and "UTC" in told
    assert expected(vera, "live").startswith("gets it now echo once awake off disabled since")
    MailGroup.objects.create(name="ops").members.set(Agent.objects.filter(slug__in=["analyst", "echo"]))
    assert "gets it now echo" in expected(vera, "group:ops") and "analyst" in expected(vera, "group:ops")
    assert "did you mean" in expected(vera, "ECHO") and "no group" in expected(vera, "group:nope")
    assert "stands alone" in expected(vera, "echo live") and expected(vera, "") == ""


def test_an_unknown_id_hides_none_of_the_known_ones(vera, fleet):
    told = html.unescape(expected(vera, f"echo, bobo, analyst, {'x' * 90}"))
    assert told.startswith("There is no agent 'bobo', 'xxx") and "gets it now echo" in told and "analyst" in told
    assert html.unescape(expected(vera, "bobo")) == "There is no agent 'bobo'."
    page = sends(vera, 422, to="echo, bobo").content.decode()
    assert page.count("no agent &#x27;bobo&#x27;") == 1 and "gets it now" in page


def test_asking_who_gets_it_enters_nobody_p65(vera):
    make.profile("scribe", liveness_mode="async")
    assert "once awake scribe dormant" in expected(vera, "scribe")
    assert not Agent.objects.filter(slug="scribe").exists()


def test_without_scripts_a_button_checks_who_gets_it_and_keeps_what_was_typed(vera, fleet):
    page = sends(vera, 200, act="check", to="analyst", body="half a sent").content.decode()
    assert "once awake" in page and "half a sent" in page and KEY.search(page)[1] == "k" * 22
    assert not Message.objects.exists()


def test_a_letter_is_sent_and_the_page_says_of_each_recipient_what_it_means_p25(vera, fleet):
    there = sends(vera, to="echo, analyst,off", body="one\r\ntwo", importance="high", expires="1d").url
    message = Message.objects.get()
    assert message.body == "one\ntwo" and message.importance == "high" and message.sender.slug == "vera"
    assert message.expires_at - message.sent_at == timedelta(days=1)
    page = vera.get(there).content.decode()
    for words in ("Sent as #1", "gets it now", "gets it when it wakes", "once somebody enables it"):
        assert words in page, words
    assert "Sent as" not in vera.get("/inbox/m/1/").content.decode()


def test_a_double_click_and_a_reload_send_once_also_what_expires(vera, fleet):
    first = sends(vera, expires="1h").url
    assert sends(vera, expires="1h").url == first and Message.objects.count() == 1
    changed = sends(vera, 422, body="another text").content.decode()
    assert "another text" in changed and "was sent before" in changed and KEY.search(changed)[1] != "k" * 22
    assert sends(vera, body="another text", key=KEY.search(changed)[1]).url != first


@pytest.mark.parametrize(("field", "value", "words"), [
    ("to", "", "Names nobody"), ("to", "ecco", "did you mean"), ("to", "left", "retired"), ("to", "a live", "stands alone"),
    ("to", "group:nope", "no group"), ("to", " ".join(f"a{n}" for n in range(501)), "500 at most"),
    ("subject", "x" * 301, "300 at most"), ("subject", "x\0", "NUL"), ("body", " \n", "Is empty"),
    ("body", "x" * (rules.LARGEST_BODY + 1), "at most"), ("body", "ä" * (rules.LARGEST_BODY // 2 + 1), "at most"),
    ("importance", "urgent", "is one of"), ("expires", "2y", "none of the choices"),
])  # fmt: skip
def test_an_error_stands_at_its_field_and_nothing_typed_is_lost(vera, fleet, field, value, words):
    page = sends(vera, 422, **{"subject": "kept subject", "body": "kept body"} | {field: value}).content.decode()
    assert words.lower() in page.lower() and 'class="field-error"' in page
    if field in TYPED:
        assert f'id="{field}-error"' in page
    assert field not in TYPED or value[:300].replace("\0", "") in page.replace("\0", "")
    assert all(kept in page for kept in ("kept subject", "kept body") if field not in kept)
    assert not Message.objects.exists()


def test_the_largest_text_gets_through_however_it_is_written(vera, fleet):
    for n, text in enumerate(("ä\r\n" * (rules.LARGEST_BODY // 3), "%" * rules.LARGEST_BODY)):
        sends(vera, key=f"{n}" * 22, body=text)
    assert list(Message.objects.order_by("pk").values_list("size", flat=True)) == [262143, 262144]


def test_an_answer_goes_to_the_sender_into_the_thread_and_shows_what_it_answers(vera, fleet):
    asked = post.send(fleet["echo"], "vera", timezone.now(), "may I?", subject="A question").seq
    page = vera.get(f"/inbox/write/?reply={asked}").content.decode()
    assert 'value="echo"' in page and 'value="Re: A question"' in page and "may I?" in page
    sends(vera, reply=asked, subject="Re: A question", body="yes")
    assert Message.objects.get(body="yes").thread == asked and Message.objects.get(body="yes").in_reply_to_id == asked
    again = vera.get(f"/inbox/write/?reply={asked + 1}").content.decode()
    assert 'value="echo"' in again and 'value="Re: A question"' in again  # one's own message goes on to the same


def test_nobody_answers_a_foreign_message_nor_the_hub_itself_p30(vera, fleet):
    foreign = post.send(fleet["echo"], "analyst", timezone.now()).seq
    assert 'name="reply"' not in vera.get(f"/inbox/write/?reply={foreign}").content.decode()
    assert "may answer" in sends(vera, 422, reply=foreign).content.decode()
    sends(vera, to="analyst", expires="1h")
    post.sweep(timezone.now() + timedelta(hours=2))
    notice = post.notices("vera")[0].seq
    assert 'name="reply"' not in vera.get(f"/inbox/write/?reply={notice}").content.decode()
    assert ">Reply<" not in vera.get(f"/inbox/m/{notice}/").content.decode().split(f'id="letter-{notice}"')[1]


def test_an_address_fills_the_field_and_names_are_offered(vera, fleet):
    MailGroup.objects.create(name="ops")
    page = vera.get("/inbox/write/?to=echo").content.decode()
    assert 'name="to" value="echo"' in page
    offered = re.findall(r'<option value="([\w:-]+)"></option>', page)
    assert offered[:2] == ["live", "group:ops"] and "echo" in offered and "left" not in offered


def test_each_form_has_a_key_of_its_own():
    assert len({Form().key for _ in range(10)}) == 10


def test_a_nul_among_the_recipients_is_said_at_the_field(vera, fleet):
    """PostgreSQL takes none even to compare, so nobody may look for such an id, whatever else is wrong with the form."""
    assert "Holds a NUL character" in expected(vera, "e\0cho")
    for more in ({"act": "check"}, {"subject": "x" * 301}):
        answer = vera.post(
            "/inbox/write/", {"to": "e\0cho", "body": "text", "importance": "normal", "expires": ""} | more
        )
        assert answer.status_code in (200, 422) and "NUL character" in answer.content.decode()


def test_a_form_is_read_as_utf_8_whatever_it_says_of_itself(vera, fleet):
    """Django knows encodings that make a lone surrogate or a NUL of plain letters, and some that make no text at all."""
    given = {"to": "echo", "body": r"\ud800 \x00", "act": "send", "importance": "normal", "expires": ""}
    for encoding in ("unicode_escape", "rot13", "idna", "utf-16"):
        kind = f"{MULTIPART_CONTENT}; charset={encoding}"
        answer = vera.generic("POST", "/inbox/write/", encode_multipart(BOUNDARY, given), content_type=kind)
        assert answer.status_code == 302, encoding
    assert set(Message.objects.values_list("body", flat=True)) == {r"\ud800 \x00"}
