"""Groups: who gets what is sent to ``group:NAME``, edited in the admin and kept for good."""

from __future__ import annotations

import pytest
from django.utils import timezone

from inbox.models import MailGroup
from inbox.services import groups
from roster.errors import Invalid
from roster.models import Event
from roster.models.base import NothingIsDeleted
from roster.templatetags.told import told
from tests import make, volume
from tests.web.test_admin import opened
from tests.web.test_admin_lists import shown

pytestmark = pytest.mark.django_db
ADD = "/admin/inbox/mailgroup/add/"


@pytest.fixture
def boss(client):
    client.force_login(make.person("boss", "admin"))
    for slug in ("echo", "iris", "nova"):
        make.agent(slug)
    return client


def members(name: str = "ops") -> list[str]:
    return list(MailGroup.objects.get(name=name).members.order_by("slug").values_list("slug", flat=True))


def edits() -> list[dict]:
    return list(Event.objects.filter(kind="group_edited", by="boss").order_by("pk").values_list("after", flat=True))


def change(name: str = "ops") -> str:
    return f"/admin/inbox/mailgroup/{MailGroup.objects.get(name=name).pk}/change/"


def test_members_are_typed_as_ids_however_they_are_separated(boss):
    assert boss.post(ADD, {"name": "ops", "ids": "echo, iris\r\nNOVA  echo"}).status_code == 302
    assert members() == ["echo", "iris", "nova"]
    assert edits() == [{"group": "ops", "members": 3, "joined": ["echo", "iris", "nova"]}]
    assert shown(boss.get("/admin/inbox/mailgroup/"), "size") == ["3"]


def test_a_change_is_journaled_as_who_joined_and_who_left(boss):
    boss.post(ADD, {"name": "ops", "ids": "echo iris"})
    boss.post(change(), {**opened_form(boss), "ids": "iris nova"})
    assert members() == ["iris", "nova"]
    assert edits()[1:] == [{"group": "ops", "members": 2, "joined": ["nova"], "left": ["echo"]}]
    said = told(Event.objects.filter(kind="group_edited").latest("pk"))
    parts = {"group ops", "members 2", "joined nova", "left echo"}  # in an order that PostgreSQL chooses itself
    assert (said.what, set(said.change.split(", "))) == ("group edited", parts)


def test_a_form_that_changes_nothing_is_no_event(boss):
    boss.post(ADD, {"name": "ops", "ids": "echo iris"})
    boss.post(change(), opened_form(boss))
    assert len(edits()) == 1


def opened_form(boss) -> dict[str, str]:
    """The open form; the name is not among its fields any more."""
    return opened(boss, change())


def test_two_admins_who_edit_one_group_at_once_keep_each_others_changes(boss):
    boss.post(ADD, {"name": "ops", "ids": "echo"})
    first, second = opened_form(boss), opened_form(boss)
    boss.post(change(), {**first, "ids": "echo iris"})
    boss.post(change(), {**second, "ids": "nova"})
    assert members() == ["iris", "nova"]


@pytest.mark.parametrize(
    ("form", "problem"),
    [
        (
            {"name": "ops", "ids": "echo ghost <b>"},
            "No agent or person has the id &#x27;&lt;b&gt;&#x27;, &#x27;ghost&#x27;.",
        ),
        ({"name": "ops", "ids": "ehco"}, "(did you mean &#x27;echo&#x27;?)"),
        ({"name": "Two words", "ids": ""}, "A name has lower-case letters"),
        ({"name": "", "ids": "echo"}, "required"),
        ({"name": "taken", "ids": "echo"}, "already exists"),
    ],
)
def test_an_illegal_or_taken_name_and_an_id_of_nobody_are_refused_with_the_reason(boss, form, problem):
    boss.post(ADD, {"name": "taken", "ids": ""})
    answer = boss.post(ADD, form)
    assert (answer.status_code, problem in answer.content.decode()) == (200, True)
    assert list(MailGroup.objects.values_list("name", flat=True)) == ["taken"]


def test_a_group_keeps_its_name_and_is_emptied_but_never_deleted(boss):
    boss.post(ADD, {"name": "ops", "ids": "echo"})
    boss.post(change(), {**opened_form(boss), "name": "other", "ids": ""})
    assert members() == []
    assert boss.post(change().replace("change", "delete"), {"post": "yes"}).status_code == 403
    for delete in (MailGroup.objects.get().delete, MailGroup.objects.all().delete):
        with pytest.raises(NothingIsDeleted):
            delete()


def test_a_long_list_of_unknown_ids_is_named_in_part():
    with pytest.raises(Invalid) as why:
        groups.keys_of([f"ghost-{number:02}" for number in range(13)])
    assert "'ghost-09' and 3 others" in why.value.message and "ghost-10" not in why.value.message


def test_a_group_of_thousands_is_opened_and_changed(boss, django_assert_max_num_queries):
    volume.members(range(3000), timezone.now())
    everybody = " ".join(map(volume.slug, range(3000)))
    assert boss.post(ADD, {"name": "all", "ids": everybody}).status_code == 302
    with django_assert_max_num_queries(12):
        form = opened(boss, change("all"))
    boss.post(change("all"), {**form, "ids": form["ids"].replace("agent-000007", "echo")})
    assert len(members("all")) == 3000 and "echo" in members("all")
