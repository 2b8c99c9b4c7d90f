"""What an open page says of its person, and what is forgotten of ended sign-ins."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.sessions.models import Session

from roster.models import Event, SignInLink
from roster.services import people
from tests import make

pytestmark = pytest.mark.django_db


def test_a_hundred_pages_of_one_person_write_like_one(now, django_assert_num_queries):
    user = make.person("mira")
    people.at_a_page(user, now)
    for n in range(3):
        with django_assert_num_queries(3):  # one question inside a savepoint
            people.at_a_page(user, now + timedelta(seconds=n))
    user.agent.refresh_from_db()
    assert user.agent.last_seen == now
    people.at_a_page(user, now + timedelta(seconds=16))
    user.agent.refresh_from_db()
    assert user.agent.last_seen == now + timedelta(seconds=16)


def test_ended_sign_ins_are_forgotten_and_the_journal_keeps_them(now):
    user = make.person("mira")
    for name, off in (("over", -1), ("good", 1)):
        Session.objects.create(session_key=name, session_data="", expire_date=now + timedelta(hours=off))
    people.sign_in_link("mira", by="test", now=now - timedelta(days=2))
    usable = people.sign_in_link("mira", by="test", now=now)
    people.forget_ended(now)
    assert [each.session_key for each in Session.objects.all()] == ["good"]
    assert SignInLink.objects.count() == 1 and people.use_link(usable, now) == user
    assert Event.objects.filter(kind="sign_in_link").count() == 2
