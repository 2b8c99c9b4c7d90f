"""Whom the link that a start prints signs in: there is always a way in, and nobody gets back a role that was taken."""

import pytest
from django.contrib.auth.models import User

from roster import access
from roster.models import Event
from roster.services import people
from tests import make

pytestmark = pytest.mark.django_db


@pytest.fixture
def admin(now) -> User:
    people.make_roles()
    return people.first_admin(now)


def left(user: User) -> None:
    user.is_active = False
    user.save(update_fields=["is_active"])


def test_the_first_start_makes_the_admin_and_the_next_ones_find_it(admin, now):
    assert (admin.username, access.role_of(admin)) == ("admin", "admin")
    assert not admin.has_usable_password()
    assert people.first_admin(now) == admin
    assert people.sign_in_link(admin.username, by="hub", now=now)


def test_where_the_first_admin_has_left_the_link_is_the_next_admins_and_the_hub_starts(admin, now):
    ada = make.person("ada", "admin")
    make.person("mira", "manager")
    left(admin)
    assert people.first_admin(now) == ada
    assert not User.objects.get(username="admin").is_active


def test_a_first_admin_who_was_given_another_role_keeps_it_over_a_start(admin, now):
    ada = make.person("ada", "admin")
    people.give_role(admin, "viewer", by="ada", now=now)
    assert people.first_admin(now) == ada
    assert access.role_of(User.objects.get(username="admin")) == "viewer"


def test_where_no_admin_is_left_the_first_one_is_one_again_and_the_journal_says_so(admin, now):
    make.person("mira", "manager")
    people.give_role(admin, "", by="admin", now=now)
    left(admin)
    assert access.role_of(people.first_admin(now)) == "admin"
    assert list(Event.objects.filter(by="hub").order_by("pk").values_list("kind", flat=True))[-2:] == [
        "person_edited", "role_given",
    ]  # fmt: skip
