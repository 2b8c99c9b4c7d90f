"""What somebody typed is not lost without a word where the form that held it cannot be taken."""

from __future__ import annotations

import pytest
from django.db import OperationalError
from django.test import Client

from inbox.views import writing
from tests import make
from tests.inbox.test_pages import signed_in
from tests.web.test_inert import HOSTILE, Elements

pytestmark = pytest.mark.django_db
TYPED = {"to": "echo", "subject": "Disk", "body": "\nThe <b>disk</b> is full.", "password": "not this"}
SHOWN = ("echo</textarea>", "Disk</textarea>", ">\n\nThe &lt;b&gt;disk&lt;/b&gt; is full.</textarea>")


def holds(answer, status: int, shown: bool = True) -> str:
    page = answer.content.decode()
    assert answer.status_code == status and [part in page for part in SHOWN] == [shown] * 3
    assert "not this" not in page and answer.headers["Cache-Control"] == "no-store"
    return page


def test_who_was_signed_out_while_writing_keeps_the_text():
    vera = signed_in("vera")
    vera.session.flush()
    page = holds(vera.post("/inbox/write/", TYPED), 401)
    assert "Your sign-in has ended" in page and 'href="/sign-in/" target="_blank"' in page
    assert "/sign-in/" in vera.post("/inbox/act/", {"seq": "1"}).headers["Location"]  # nothing typed is nothing lost


def test_who_signed_in_anew_elsewhere_while_writing_keeps_the_text():
    """The token of the form is of the sign-in before. A form of another site shows nothing under the hub's name."""
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(make.person("vera"))
    holds(strict.post("/inbox/write/", TYPED | {"csrfmiddlewaretoken": "x" * 64}), 403)
    holds(strict.post("/inbox/write/", TYPED, headers={"Origin": "https://evil.example"}), 403, shown=False)
    holds(strict.post("/inbox/write/", TYPED, headers={"Origin": "null"}), 403, shown=False)


def test_who_writes_while_the_database_is_away_keeps_the_text(monkeypatch):
    def away(*_):
        raise OperationalError("away")

    vera = signed_in("vera")
    monkeypatch.setattr(writing, "_send", away)
    holds(vera.post("/inbox/write/", TYPED | {"act": "send", "importance": "low"}), 503)


@pytest.mark.parametrize("text", HOSTILE, ids=ascii)
def test_what_is_shown_again_is_inert_p67(text):
    page = Client().post("/inbox/write/", {"to": text, "subject": text, "body": text}).content.decode()
    assert "What you typed" in page and Elements(page).acting == []
