"""Searching one's own mail on its page: hits marked in their context, empty states that help, nothing of others."""

from __future__ import annotations

import pytest
from django.utils import timezone

from inbox.views import searching
from tests import make
from tests.inbox import post
from tests.inbox.test_pages import mail, shows, signed_in
from tests.web.test_inert import HOSTILE, Elements

pytestmark = pytest.mark.django_db


@pytest.fixture
def vera():
    return signed_in("vera")


@pytest.fixture
def echo(vera) -> str:
    return make.agent("echo")[1]


def test_a_hit_is_marked_in_what_surrounds_it_and_leads_to_its_message(vera, echo):
    seq = mail(echo, subject="Disk report", body="The disk on harbor is <b>nearly</b> full.")
    page = shows(vera, "/inbox/search/?q=disk+harb")
    assert "<mark>disk</mark>" in page and "<mark>harb</mark>or" in page or "<mark>harbor</mark>" in page
    assert f'href="/inbox/m/{seq}/"' in page and "&lt;b&gt;nearly" in page and 'value="disk harb"' in page


def test_nobody_finds_the_mail_of_others_p60(vera, echo):
    make.agent("analyst")
    mail(echo, "analyst", body="a secret word")
    page = shows(vera, "/inbox/search/?q=secret")
    assert "No message has this" in page and "<mark>" not in page


def test_what_cannot_be_looked_for_is_said_and_an_empty_search_explains_itself(vera):
    assert "holds no letter" in shows(vera, "/inbox/search/?q=%2B%2B")
    assert "longer than 200" in shows(vera, f"/inbox/search/?q={'x' * 201}")
    assert "Search your mail" in shows(vera, "/inbox/search/?q=+")
    assert shows(vera, "/inbox/search/?q=%00") and shows(vera, "/inbox/search/?q=x&before=nine").count("left out") == 1


def test_hits_come_a_page_at_a_time_newest_first(vera, echo):
    seqs = [mail(echo, body=f"word {n}") for n in range(searching.PAGE + 3)]
    first = shows(vera, "/inbox/search/?q=word")
    assert first.index(f"/m/{seqs[-1]}/") < first.index(f"/m/{seqs[-2]}/") and f"before={seqs[3]}" in first
    second = shows(vera, f"/inbox/search/?q=word&before={seqs[3]}")
    assert all(f'"/inbox/m/{seq}/"' in second for seq in seqs[:3]) and f'"/inbox/m/{seqs[3]}/"' not in second


@pytest.mark.parametrize("payload", HOSTILE)
def test_hostile_mail_is_text_on_every_page_of_it_f062(vera, echo, payload):
    seq = post.send(echo, "vera", timezone.now(), f"findme {payload}", subject=payload).seq
    paths = (
        "/inbox/",
        f"/inbox/m/{seq}/",
        f"/inbox/write/?reply={seq}",
        "/inbox/news/?after=0",
        "/inbox/search/?q=findme",
    )
    for path in paths:
        found = Elements(shows(vera, path))
        assert found.acting == [], path
        assert payload.partition("\u202e")[0] in "".join(found.text), path
        assert "\u202e" not in "".join(found.text), path
