"""Mail in the admin: read without a trace in it, put away on purpose, addressed by groups."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from django.utils import timezone

from inbox import rules
from inbox.models import Delivery, Lease, Message
from inbox.plans import PLAN
from inbox.services import boxes, sweeping
from roster.models import Agent, Counter, Event
from roster.templatetags.told import told
from tests import make
from tests.web.test_admin_lists import shown
from tests.web.test_inert import HOSTILE, Elements

pytestmark = pytest.mark.django_db


@pytest.fixture
def boss(client):
    client.force_login(make.person("boss", "admin"))
    return client


def letter(seq: int, sender: str | None, *to: str, subject: str = "Hello", body: str = "Inside.", **more) -> Message:
    """A stored message with one delivery for each of ``to``; ``more`` are columns of the deliveries."""
    agents = {
        slug: Agent.objects.filter(slug=slug).first() or make.agent(slug)[0] for slug in filter(None, (sender, *to))
    }
    at = {"sent_at": timezone.now(), "thread": more.pop("thread", seq)}
    message = Message(seq=seq, sender=agents.get(sender), subject=subject, body=body, size=len(body), **at)
    message.save(force_insert=True)
    for slug in to:
        Delivery.objects.create(
            message=message, recipient=agents[slug], size=message.size, **{"addressed_as": slug, **more}
        )
    return message


def leased(slug: str, until: datetime) -> dict:
    lease = Lease.objects.create(key=f"key-{slug}", agent=Agent.objects.get(slug=slug), began_at=until, until=until)
    return {"state": rules.LEASED, "lease": lease}


def mail(boss, asked: str) -> list[str]:
    """The numbers in a list of the admin."""
    page = boss.get(f"/admin/inbox/{asked}")
    assert page.status_code == 200, asked
    return shown(page, "message" if asked.startswith("delivery") else "seq")


def looked(slug: str) -> list:
    return list(Event.objects.filter(kind="inbox_looked_at", agent__slug=slug).values_list("by", flat=True))


def states(*seqs: int) -> list[str]:
    return list(Delivery.objects.filter(message__in=seqs).order_by("message").values_list("state", flat=True))


def archive(boss, *seqs: int, reason: str = "") -> str:
    keys = list(Delivery.objects.filter(message__in=seqs).values_list("pk", flat=True))
    form = {"action": "put_away", "_selected_action": keys, "reason": reason}
    return boss.post("/admin/inbox/delivery/", form, follow=True).content.decode()


# ---- reading --------------------------------------------------------------------------------------------------------


def test_a_list_shows_the_outside_of_a_message_and_its_page_the_inside(boss):
    letter(1, "echo", "iris", subject="The outside", body="The inside.")
    for address in ("/admin/inbox/message/", "/admin/inbox/delivery/"):
        page = boss.get(address).content.decode()
        assert "The outside" in page and "The inside" not in page
    assert "The inside." in boss.get("/admin/inbox/message/1/change/").content.decode()


def test_nothing_in_the_admin_tells_whether_a_message_was_read_r208(boss):
    now = timezone.now().replace(year=2031)
    delivery = letter(1, "echo", "iris", read_at=now).deliveries.get()
    for page in ("message/", "delivery/", "message/1/change/", f"delivery/{delivery.pk}/change/"):
        text = boss.get(f"/admin/inbox/{page}").content.decode()
        assert "2031" not in text and "read_at" not in text


def test_who_opens_a_message_is_named_in_the_journal_once(boss):
    letter(1, "echo", "iris")
    for address in ("message/", "delivery/", "message/1/change/", "message/1/change/", "message/999/change/"):
        boss.get(f"/admin/inbox/{address}")
    assert (looked("echo"), looked("iris")) == (["boss"], [])


@pytest.mark.parametrize("asked", ["delivery/?of=iris", "message/?to=iris", "message/?from=Iris"])
def test_who_narrows_a_list_to_one_agent_is_named_in_the_journal(boss, asked):
    letter(1, "echo", "iris")
    boss.get(f"/admin/inbox/{asked}")
    assert (looked("iris"), looked("echo")) == (["boss"], [])


def test_who_looks_at_their_own_mail_is_not_named(boss):
    letter(1, "echo", "boss")
    letter(2, "boss", "echo")
    for asked in (
        "message/1/change/",
        "message/2/change/",
        "delivery/?of=boss",
        "message/?from=boss",
        "message/?to=boss",
    ):
        assert boss.get(f"/admin/inbox/{asked}").status_code == 200
    assert not Event.objects.filter(kind="inbox_looked_at").exists()


@pytest.mark.parametrize("what", ["message", "delivery"])
def test_mail_is_neither_written_nor_changed_nor_deleted_by_an_admin_r206(boss, what):
    message = letter(1, "echo", "iris", body="As it was.")
    key = message.pk if what == "message" else message.deliveries.get().pk
    before = list(Message.objects.values()), list(Delivery.objects.values())
    changes = {"body": "Other.", "subject": "Other", "state": "acked", "post": "yes"}
    for address in (f"{what}/add/", f"{what}/{key}/change/", f"{what}/{key}/delete/"):
        assert boss.post(f"/admin/inbox/{address}", changes).status_code == 403, address
    assert "delete_selected" not in boss.get(f"/admin/inbox/{what}/").content.decode()
    assert (list(Message.objects.values()), list(Delivery.objects.values())) == before


@pytest.mark.parametrize("payload", [*HOSTILE, "one\r\nBcc: two", "\x07\x1b[31m"])
def test_what_a_message_holds_is_shown_harmless_f062(boss, payload):
    delivery = letter(1, "echo", "iris", subject=payload, body=f"{payload}\n{payload}").deliveries.get()
    for page in ("message/", "delivery/", "message/1/change/", f"delivery/{delivery.pk}/change/"):
        text = boss.get(f"/admin/inbox/{page}").content.decode()
        assert Elements(text).acting == [], page
        assert not set("\u202e\x07\x1b") & set(text), page


def test_a_line_break_ends_a_line_of_a_body_and_never_of_a_subject(boss):
    letter(1, "echo", "iris", subject="one\r\ntwo", body="one\r\n\ttwo")
    page = boss.get("/admin/inbox/message/1/change/").content.decode()
    assert "one\n    two" in page and "one␍␊two" in page


# ---- finding --------------------------------------------------------------------------------------------------------


@pytest.fixture
def some(boss):
    """Letters from here to there; the newest is a notice of the hub."""
    soon, past = timezone.now() + timedelta(hours=1), timezone.now() - timedelta(seconds=1)
    letter(1, "echo", "iris", state=rules.ARCHIVED)
    letter(2, "iris", "echo", "nova", state=rules.ACKED, thread=1)
    letter(3, "echo", "iris", "nova", addressed_as="group:ops")
    letter(4, "nova", "iris", **leased("iris", soon))
    letter(5, "echo", "nova", **leased("nova", past))
    letter(6, None, "echo", state=rules.DEAD)
    return boss


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("message/", "6 5 4 3 2 1"),
        ("message/?from=echo", "5 3 1"),
        ("message/?from=Echo&to=nova", "5 3"),
        ("message/?from=hub", "6"),
        ("message/?to=iris", "4 3 1"),
        ("message/?from=nobody", ""),
        ("message/?thread=1", "2 1"),
        ("delivery/", "#6 #5 #4 #3 #3 #2 #2 #1"),
        ("delivery/?of=iris", "#4 #3 #1"),
        ("delivery/?of=iris&state=archived", "#1"),
        ("delivery/?of=nova&state=acked", "#2"),
        ("delivery/?of=nobody", ""),
        ("delivery/?state=dead", "#6"),
        ("delivery/?state=waiting", "#3 #3"),
        ("delivery/?message=%232", "#2 #2"),
        ("delivery/?message=99999999999999999999", ""),
    ],
)
def test_mail_is_found_by_who_and_thread_and_state_f110(some, asked, found):
    assert mail(some, asked) == found.split()


@pytest.fixture
def written(boss):
    """Words here and there; the newest has none of them."""
    letter(1, "echo", "iris", subject="The nightly build", body="All green.")
    letter(2, "iris", "nova", subject="Lunch", body="Green soup, after the build.")
    letter(3, "echo", "nova", subject="Nightly", body="No builds tonight.")
    letter(4, "nova", "echo", subject="Something else", body="Nothing.")
    return boss


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("q=green", "2 1"),
        ("q=Nightly", "3 1"),
        ("q=green+nightly", "1"),
        ("q=buil", "3 2 1"),
        ("q=build+green", "2 1"),
        ("q=green&from=iris", "2"),
        ("q=%233", "3"),
        ("q=3", ""),
        ("q=absent", ""),
        ("q=green+OR+nightly", ""),
        ("q=%22", ""),
        ("q=%00", "4 3 2 1"),
        ("q=" + "x" * 201, ""),
        ("q=", "4 3 2 1"),
    ],
)
def test_messages_are_found_by_their_words_f110(written, asked, found):
    assert mail(written, f"message/?{asked}") == found.split()


def test_a_search_finds_the_newest_and_no_more(written, monkeypatch):
    monkeypatch.setattr("inbox.admin.mail.FOUND", 2)
    assert mail(written, "message/?q=build") == ["3", "2"]


def test_who_searches_everybodys_mail_is_named_in_the_journal_once_without_the_words(written):
    for asked in ("q=green", "q=soup", "q=%232"):
        written.get(f"/admin/inbox/message/?{asked}")
    (event,) = Event.objects.filter(kind="mail_searched")
    assert (event.by, event.agent, event.before, event.after, event.reason) == ("boss", None, None, None, "")


def test_a_search_for_no_word_says_so(written):
    assert "holds no letter and no digit" in written.get("/admin/inbox/message/?q=!!").content.decode()


@pytest.mark.parametrize("asked", ["?state=acked", "?state=archived", "?state=x", "?message=one", "?message=%C2%B2"])
def test_a_filter_that_makes_no_sense_is_left_out_of_the_list(some, asked):
    assert some.get(f"/admin/inbox/delivery/{asked}").status_code == 302


def test_what_is_done_with_is_offered_for_one_inbox_only(some):
    offered = ["state=waiting", "state=leased", "state=dead", "state=acked", "state=archived"]
    for asked, count in (("", 3), ("?of=iris", 5)):
        page = some.get(f"/admin/inbox/delivery/{asked}").content.decode()
        assert ("Acked and archived: for one recipient" in page) == (not asked)
        assert [each for each in offered if each in page] == offered[:count]


def test_a_list_names_the_address_that_was_written_to(some):
    to = dict(zip(mail(some, "message/"), shown(some.get("/admin/inbox/message/"), "to"), strict=True))
    assert (to["1"], to["2"], to["3"]) == ("iris", "echo and more", "group:ops")


def test_a_message_leads_to_its_deliveries_its_thread_and_what_it_answers(some):
    Message.objects.bulk_create([Message(seq=7, sender=None, body="x", size=1, thread=1, in_reply_to_id=2,
                                         sent_at=timezone.now())])  # fmt: skip
    page = some.get("/admin/inbox/message/7/change/").content.decode()
    for address in ("delivery/?message=7", "message/?thread=1", "message/2/change/"):
        assert f'href="/admin/inbox/{address}"' in page


def test_a_lease_that_lapsed_holds_nothing_whether_or_not_a_sweep_ran(some):
    page = some.get("/admin/inbox/delivery/")
    found = dict(zip(shown(page, "message"), shown(page, "state_now"), strict=True))
    assert (found["#4"], found["#5"]) == ("leased", "waiting")


# ---- putting away ---------------------------------------------------------------------------------------------------


def waiting() -> dict[str, int]:
    return dict(Agent.objects.filter(slug__in=("echo", "iris", "nova")).values_list("slug", "waiting"))


def notices(to: str) -> list[str]:
    found = Message.objects.filter(kind=rules.SYSTEM, deliveries__recipient__slug=to).order_by("seq")
    return list(found.values_list("body", flat=True))


def test_an_admin_puts_mail_away_with_a_row_in_the_journal_f026(some):
    boxes.recount(Agent.objects.values_list("pk", flat=True))
    assert waiting() == {"echo": 0, "iris": 1, "nova": 1}
    assert "5 archived." in archive(some, 2, 3, 6, reason="nobody will need it")
    assert states(2, 3, 6) == ["archived"] * 5
    assert waiting() == {"echo": 0, "iris": 0, "nova": 0}
    events = Event.objects.filter(kind="mail_archived").order_by("agent__slug")
    assert list(events.values_list("agent__slug", "by", "reason", "after")) == [
        ("echo", "boss", "nobody will need it", {"messages": [2, 6]}),
        ("iris", "boss", "nobody will need it", {"messages": [3]}),
        ("nova", "boss", "nobody will need it", {"messages": [2, 3]}),
    ]
    assert told(events[0]).what == "mail put away"


def test_what_was_put_away_is_as_it_was_and_can_be_read_r206(some):
    before = Message.objects.values().get(seq=3)
    archive(some, 3, reason="over")
    assert Message.objects.values().get(seq=3) == before
    assert mail(some, "delivery/?of=iris&state=archived") == ["#3", "#1"]
    assert "Inside." in some.get("/admin/inbox/message/3/change/").content.decode()


def test_what_somebody_holds_is_left_to_them_and_a_lapsed_lease_holds_nothing_f026(some):
    shown_after = archive(some, 3, 4, 5, reason="done elsewhere")
    assert "3 archived." in shown_after and "1 left: held by" in shown_after
    assert states(3, 4, 5) == ["archived", "archived", "leased", "archived"]


def test_the_sender_of_mail_that_nobody_acked_is_told_once_who_put_it_away(some):
    Counter.objects.update_or_create(name="mail", defaults={"value": 6})
    archive(some, 1, 2, 3, reason="the project ended")
    for _ in range(2):
        sweeping.run(PLAN, timezone.now() + timedelta(seconds=5))
    (notice,) = notices("echo")
    assert "#3 waits no longer for" in notice
    assert "iris: put away by boss: the project ended\nnova: put away by boss: the project ended" in notice
    assert notices("iris") == []  # 2 was acked


def test_unacked_mail_is_not_put_away_without_a_reason(some):
    before = list(Delivery.objects.order_by("pk").values())
    said = archive(some, 2, 3, reason=" ")
    assert "Nothing was archived: 2 of these are not acked; say why" in said and 'class="success"' not in said
    assert list(Delivery.objects.order_by("pk").values()) == before
    assert not Event.objects.filter(kind="mail_archived").exists()
    assert "3 archived." in archive(some, 2, 6)  # nobody waits for these


def test_the_list_says_what_archiving_does(some):
    assert "puts away for good" in some.get("/admin/inbox/delivery/").content.decode()


def test_mail_is_put_away_once(some):
    archive(some, 2)
    before = list(Delivery.objects.order_by("pk").values())
    said = archive(some, 1, 2)
    assert "0 archived. 3 left: in the archive already." in said and 'class="success"' not in said
    assert list(Delivery.objects.order_by("pk").values()) == before
    assert Event.objects.filter(kind="mail_archived").count() == 2


def test_an_address_asks_for_nothing_but_the_filters_r207(boss):
    """Not for what somebody has read, and not for words of a body behind the journal's back."""
    letter(1, "echo", "bob")
    for asked in ("delivery/?read_at__isnull=True", "message/?body__contains=Inside", "message/?seq__gt=0"):
        assert boss.get(f"/admin/inbox/{asked}").status_code == 400, asked


@pytest.mark.core
@pytest.mark.parametrize("asked", ["message/?from=%00", "message/?to=e%00", "delivery/?of=%00&state=acked"])
def test_a_nul_in_a_filter_finds_nothing(boss, asked):
    letter(1, "echo", "bob")
    assert mail(boss, asked) == []
