"""The record in the admin: found by either side, read, and not changed by anybody."""

from __future__ import annotations

import pytest

from inbox.models import Exchange
from tests import make
from tests.inbox import asking
from tests.web.test_admin_lists import shown

pytestmark = pytest.mark.django_db


@pytest.fixture
def boss(client):
    client.force_login(make.person("boss", "admin"))
    return client


@pytest.fixture
def asked(now) -> list[int]:
    """An answered one, one whose runner is lost, one that waits."""
    alder, scribe = make.node("alder", now)[2], make.agent("scribe", now)[1]
    ada = make.agent("ada", now)[1]
    numbers = [
        asking.ask(token, "alder", now, f"<b>question</b> of {n}").exchange
        for n, token in enumerate([scribe, ada, ada])
    ]
    asking.run(alder, "alder", now, "<i>well</i>")
    asking.turn(alder, "alder", now, seconds=60)
    return numbers


def found(boss, asked: str = "") -> list[str]:
    page = boss.get(f"/admin/inbox/exchange/{asked}")
    assert page.status_code == 200
    return shown(page, "number")


def test_the_list_tells_what_each_is_now_and_is_narrowed_by_either_side(boss, asked):
    newest_first = [f"#{number}" for number in reversed(asked)]
    assert found(boss) == newest_first
    page = boss.get("/admin/inbox/exchange/")
    assert shown(page, "state_now") == ["queued", "failed", "answered"], "a lease that lapsed is told before the sweep"
    assert found(boss, "?target=alder") == newest_first
    assert found(boss, "?caller=ada") == newest_first[:2]
    assert found(boss, "?caller=alder") == found(boss, "?target=nobody") == []
    assert found(boss, "?state=queued") == newest_first[:1]
    assert "question" not in page.content.decode()


def test_its_page_shows_both_sides_and_takes_nothing(boss, asked):
    address = f"/admin/inbox/exchange/{asked[0]}/change/"
    page = boss.get(address).content.decode()
    assert "&lt;b&gt;question&lt;/b&gt;" in page and "&lt;i&gt;well&lt;/i&gt;" in page
    before = list(Exchange.objects.values())
    for where in (address, f"/admin/inbox/exchange/{asked[0]}/delete/", "/admin/inbox/exchange/add/"):
        assert boss.post(where, {"note": "x"}).status_code == 403

    assert list(Exchange.objects.values()) == before
