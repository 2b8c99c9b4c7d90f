"""The pages of nodes: who asks what of whom, in which turn, and the switch."""

from __future__ import annotations

import re
from datetime import timedelta
from html import unescape

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from inbox.models import Exchange
from roster.models import Agent, Node
from roster.services import lifecycle, switch
from roster.services import nodes as roster_nodes
from tests import make

pytestmark = pytest.mark.django_db


@pytest.fixture
def mira(client):
    make.node("harbor")
    client.force_login(make.person("mira", "manager"))
    return client


def words(answer) -> str:
    main = answer.content.decode().partition("<main")[2].partition("</main>")[0]
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", main)))


def ask(client, body: str, key: str = "k" * 22, slug: str = "harbor"):
    return client.post(f"/nodes/{slug}/ask/", {"body": body, "key": key})


def test_without_nodes_the_page_teaches_the_command_that_enrols_one(client):
    client.force_login(make.person("mira", "manager"))
    text = unescape(client.get("/nodes/").content.decode())
    assert (
        "No node is enrolled yet" in text
        and "http://testserver/api/nodes" in text
        and "token create person mira" in text
    )


def test_the_list_says_of_each_node_whether_it_can_be_reached_and_what_its_agent_does_r154(mira):
    now = timezone.now()
    make.node("cedar")
    Node.objects.filter(slug="cedar").update(contact_at=now - timedelta(hours=1))
    Node.objects.filter(slug="harbor").update(contact_at=now)
    switch.disable(make.MANAGER, "cedar", "maintenance", now)
    ask(mira, "hello")
    said = words(mira.get("/nodes/"))
    assert all(each in said for each in ("unreachable since", "reachable · called", "disabled by mira", "1 waiting"))


def test_a_prompt_waits_in_its_place_and_stands_in_the_record(mira):
    done = ask(mira, "How full is the disk?")
    number = Exchange.objects.get().pk
    assert (done.status_code, done["Location"]) == (302, f"/nodes/harbor/#x{number}")
    page = mira.get("/nodes/harbor/")
    text = page.content.decode()
    assert f'id="x{number}"' in text and "How full is the disk?" in text and "waits for its turn" in text
    assert f"Your prompt is #{number}" in words(page)


def test_one_form_asks_once(mira):
    for _ in range(3):
        assert ask(mira, "hello").status_code == 302
    assert Exchange.objects.count() == 1


def test_a_disabled_agent_answers_at_once_and_the_page_says_so(mira):
    switch.disable(make.MANAGER, "harbor", "the disk is replaced", timezone.now())
    assert ask(mira, "hello").status_code == 302
    said = words(mira.get("/nodes/harbor/"))
    assert "was answered with that at once, and no model was called" in said and "the disk is replaced" in said
    assert Exchange.objects.get().outcome == "disabled"


@pytest.mark.parametrize(("body", "status"), [("", 422), ("  ", 422), ("x" * 300_000, 413)])
def test_what_cannot_be_asked_stays_in_the_form(mira, body, status):
    refused = ask(mira, body)
    assert refused.status_code == status and 'id="body-error"' in refused.content.decode()
    assert body.strip() in refused.content.decode() and not Exchange.objects.exists()


def test_a_node_that_is_being_retired_takes_no_prompt_and_keeps_what_was_typed(mira):
    roster_nodes.retire(make.MANAGER, "harbor", "", timezone.now())
    refused = ask(mira, "hello there")
    assert refused.status_code == 409 and "takes no prompts any more" in words(refused)


def test_the_retirement_of_a_node_that_nobody_runs_is_freed_on_its_own_page(mira):
    """What waits would hold it up for ever; the switch that answers it stays until the end."""
    now = timezone.now()
    ask(mira, "anybody there?")
    roster_nodes.retire(make.MANAGER, "harbor", "", now)
    finish = Agent.objects.get(slug="harbor").pk
    assert not lifecycle.settle(finish, now)
    assert 'action="/agents/harbor/disable/"' in mira.get("/nodes/harbor/").content.decode()
    mira.post("/agents/harbor/disable/", {"reason": "its machine is gone"})
    assert Exchange.objects.get().outcome == "disabled" and lifecycle.settle(finish, now)
    assert "/agents/harbor/enable/" not in mira.get("/nodes/harbor/").content.decode()


def test_the_page_of_a_node_says_the_whole_reason_of_its_switch(mira):
    why = "the disk is replaced, and everything on it is copied back before anybody is answered: ask mira " * 4
    switch.disable(make.MANAGER, "harbor", why, timezone.now())
    assert why.strip() in words(mira.get("/nodes/harbor/")) and why.strip() not in words(mira.get("/nodes/"))


def test_the_record_is_searched_and_paged(mira):
    for n in range(23):
        ask(mira, f"question {n} about the {'disk' if n == 3 else 'fan'}", key=f"{n:022}")
    first = mira.get("/nodes/harbor/").content.decode()
    assert "question 22" in first and "question 2 " not in first
    older = mira.get(unescape(re.search(r'href="([^"]+)">Earlier', first)[1])).content.decode()
    assert "question 2 " in older and "question 22" not in older
    found = mira.get("/nodes/harbor/?q=disk").content.decode()
    assert "question 3 " in found and "question 4 " not in found
    assert "Nothing in the record has this" in mira.get("/nodes/harbor/?q=sail").content.decode()
    assert mira.get("/nodes/harbor/?before=x&whole=y").status_code == 200


def test_a_hostile_prompt_is_inert(mira):
    ask(mira, "\"'><script>alert(1)</script><i hx-get=/x>\u202e")
    text = mira.get("/nodes/harbor/").content.decode()
    assert "<script>alert" not in text and "<i hx-get" not in text and "\u202e" not in text


def test_a_viewer_reads_and_asks_and_has_no_switch(client):
    make.node("harbor")
    client.force_login(make.person("vera"))
    text = client.get("/nodes/harbor/").content.decode()
    assert 'id="switch-button"' not in text and "Retire the node" not in text
    assert ask(client, "hello").status_code == 302
    assert client.get("/nodes/harbor/retire/").status_code == 403


def test_of_a_missing_node_there_is_no_page(mira):
    for path in ("/nodes/lime/", "/nodes/lime/retire/", "/nodes/%00/"):
        assert mira.get(path).status_code == 404
    assert ask(mira, "hello", slug="lime").status_code == 404


def test_a_disabled_agent_that_is_gone_says_both_f132(mira):
    now = timezone.now()
    switch.disable(make.MANAGER, "harbor", "maintenance", now)
    Agent.objects.filter(slug="harbor").update(
        last_seen=now - timedelta(hours=9), evidence_at=now - timedelta(hours=9), deadline=now - timedelta(hours=8)
    )
    for path in ("/", "/agents/harbor/", "/nodes/harbor/"):
        assert re.search(r"disabled by mira , also not seen since [\w: ]+ UTC : maintenance", words(mira.get(path))), (
            path
        )


def test_the_page_of_a_node_takes_few_queries_however_long_its_queue_and_its_record(
    mira, django_assert_max_num_queries
):
    for n in range(30):
        ask(mira, "hello", key=f"{n:022}")
    mira.get("/nodes/harbor/")
    with django_assert_max_num_queries(24):
        mira.get("/nodes/harbor/")


def test_what_waits_leads_to_its_place_in_the_record_however_much_was_asked_since(mira):
    """The record shows the newest, and the queue the oldest: with more than fit they have nothing in common."""
    for n in range(25):
        ask(mira, f"question {n}", key=f"{n:022}")
    first = Exchange.objects.order_by("pk").first().pk
    queue = mira.get("/nodes/harbor/").content.decode().partition('id="queue"')[2].partition("</section>")[0]
    leads_to = unescape(re.search(rf'href="([^"]+)">#{first}<', queue)[1]).partition("#")[0]
    assert f'id="x{first}"' in mira.get(leads_to).content.decode()


@pytest.mark.parametrize(
    "address",
    [
        "/nodes/%00/ask/",
        "/nodes/%00/retire/",
        "/agents/%00/disable/",
        "/agents/%00/record/ask/",
        "/agents/%00/reassign/",
    ],
)
def test_a_form_for_an_address_that_no_database_holds_is_404_before_it_is_looked_up(mira, address):
    with CaptureQueriesContext(connection) as asked:
        assert mira.post(address, {"body": "hello", "reason": "why", "node": "harbor"}).status_code == 404
    assert not any("roster_node" in each["sql"] or "slug" in each["sql"] and "\0" in each["sql"] for each in asked)
