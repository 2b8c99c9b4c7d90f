"""What happened and what is wrong, as pages: filters, paging from number to number, and what each row leads to."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from html import unescape
from pathlib import Path

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from roster.models import Agent, Anomaly, Event
from roster.services import conduct, finishing, guard
from roster.services.anomalies import close_anomaly, open_anomaly
from roster.templatetags.wrong import MEANINGS
from roster.views import history
from tests import make

pytestmark = pytest.mark.django_db
QUERIES = 9  # the roster's eight and, with two days asked for, one more
MIDNIGHT = (timezone.now() + timedelta(days=3)).replace(hour=0, minute=0, second=0, microsecond=0)  # after the fixtures
PATHS = ("/events/", "/events/newer/?after=0", "/anomalies/", "/anomalies/newer/?newest=0&open=0")


@pytest.fixture
def vera(client):
    client.force_login(make.person("vera"))
    return client


def happen(slug: str | None, kind: str = "presence", at: datetime | None = None, by: str = "hub", **states) -> Event:
    agent = Agent.objects.get_or_create(slug=slug)[0] if slug else None
    return Event.objects.create(agent=agent, kind=kind, at=at or timezone.now(), by=by, **states)


def text(page: str) -> str:
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", "", page)))


def shown(client, address: str) -> list[int]:
    """The numbers of the events on a page, from above."""
    return [int(number) for number in re.findall(r'<tr id="e(\d+)"', read(client, address))]


def read(client, address: str) -> str:
    answer = client.get(address)
    assert answer.status_code == 200
    return answer.content.decode()


def link(page: str, words: str) -> str | None:
    """Where the link with these words leads."""
    found = re.search(rf'<a href="([^"]*)">{words}</a>', page)
    return unescape(found[1]) if found else None


@pytest.mark.parametrize("path", PATHS)
def test_the_history_is_for_whoever_may_read_and_nobody_else(client, path):
    assert client.get(path).headers["Location"].startswith("/sign-in/?next=/")
    client.force_login(make.person("nobody-yet", role=None))
    assert client.get(path).status_code == 403
    client.force_login(make.person("vera"))
    assert client.get(path).status_code == 200
    assert client.post(path).status_code == 405


def test_events_are_found_by_agent_kind_actor_and_day(vera):
    day = MIDNIGHT + timedelta(hours=12)
    first, second, third = (f"{MIDNIGHT + timedelta(days=n):%Y-%m-%d}" for n in range(3))
    edge = happen("echo", at=day, before="live", after="dormant").pk
    said = happen("echo", "activity", at=day, by="echo", after={"activity": "idle", "task": None}).pk
    act = happen("bard", "edited", at=day + timedelta(days=1), by="mira", before={"ttl": 60}, after={"ttl": 90}).pk
    other = happen("bard", "role_given", at=day + timedelta(days=2), by="ada", before="", after="viewer").pk

    def numbers(query):
        return [pk for pk in shown(vera, f"/events/?{query}") if pk >= edge]

    assert numbers("") == [other, act, said, edge]
    assert numbers("agent=echo") == [said, edge] and numbers("agent=ECHO&kind=presence") == [edge]
    assert numbers("kind=activity") == [said] and numbers("kind=acts") == [other, act]
    assert numbers("by=mira") == [act] and numbers("by=echo") == []
    assert numbers(f"from={first}&to={first}") == [said, edge]
    assert numbers(f"from={second}") == [other, act] and numbers(f"to={second}") == [act, said, edge]
    assert numbers(f"from={third}&to={first}") == [] and numbers("from=2926-01-01") == []


def test_every_event_belongs_to_exactly_one_day_however_late_it_was_written_down(vera):
    """A sweep records an edge after midnight that was before it."""
    happen("first", at=MIDNIGHT - timedelta(hours=1))
    happen("second", at=MIDNIGHT + timedelta(seconds=30))
    happen("late", at=MIDNIGHT - timedelta(minutes=2))
    happen("third", at=MIDNIGHT + timedelta(hours=1))
    named = (f"{MIDNIGHT + timedelta(days=n):%Y-%m-%d}" for n in (-1, 0))
    days = [shown(vera, f"/events/?kind=presence&from={day}&to={day}") for day in named]
    everything = shown(vera, "/events/?kind=presence")
    assert days[1] + days[0] == everything and len(days[0]) == 1


def test_a_walk_through_the_pages_neither_skips_nor_repeats_while_more_happens_P24(vera, monkeypatch):
    monkeypatch.setattr(history, "PAGE", 7)
    for number in range(40):
        happen(f"agent-{number % 3}", "presence" if number % 2 else "activity")
    for query in ("", "?kind=presence", "?agent=agent-1"):
        expected, walked, address = None, [], f"/events/{query}"
        while address:
            page = read(vera, address)
            walked += [int(number) for number in re.findall(r'<tr id="e(\d+)"', page)]
            expected = expected or [pk for pk in _all(query) if pk <= walked[0]]
            happen("agent-1"), happen("agent-2", "activity")
            address = link(page, "Older")
        assert walked == expected and len(walked) > 7


def _all(query: str) -> list[int]:
    found = Event.objects.order_by("-pk")
    if "kind=" in query:
        found = found.filter(kind="presence")
    if "agent=" in query:
        found = found.filter(agent__slug="agent-1")
    return list(found.values_list("pk", flat=True))


def test_a_row_links_its_agent_and_its_number_can_be_sent_to_somebody(vera, monkeypatch):
    monkeypatch.setattr(history, "PAGE", 3)
    mine = happen("echo", before="live", after="dormant").pk
    page = read(vera, "/events/")
    assert 'href="/agents/echo/"' in page
    address = f"/events/?at={mine}#e{mine}"
    assert f'href="{address}"' in page and f'<tr id="e{mine}"' in page
    for _ in range(9):
        happen("bard")
    assert shown(vera, address)[0] == mine, "the page that was sent begins with the same event"
    assert link(read(vera, address), "Newest") == "/events/"


WRONG = {
    "kind=nonsense": "“kind” was left out: “nonsense” is none of",
    "from=2026-13-01": "“from” was left out: “2026-13-01” is no day",
    "to=yesterday": "“to” was left out",
    "at=x1": "“at” was left out",
    "at=²": "“at” was left out",
    f"at={10**30}": "“at” was left out",
    "at=-1": "“at” was left out",
    "kind=presence&by=mira": "“by” was left out",
    "at=999999": "Nothing has the number 999999 yet",
}


@pytest.mark.parametrize("query", WRONG)
def test_a_value_that_means_nothing_is_left_out_and_said_so(vera, query):
    happen("echo")
    page = read(vera, f"/events/?{query}")
    assert WRONG[query] in text(page) and "<tr id=" in page


@pytest.mark.parametrize("query", ["to=9999-12-31&from=0001-01-01", "agent=%00&by=%00", "agent=" + "x" * 5000, "at=0"])
def test_no_value_breaks_the_events(vera, query):
    happen("echo")
    assert vera.get(f"/events/?{query}").status_code == 200


def test_a_day_of_long_ago_is_given_back_as_the_day_that_it_is(vera):
    page = read(vera, "/events/?from=0001-01-01&to=0987-06-05")
    assert 'value="0001-01-01"' in page and 'value="0987-06-05"' in page and "left out" not in page


def test_an_id_that_nobody_has_is_said_with_those_that_are_nearly_it(vera):
    happen("analyst")
    page = read(vera, "/events/?agent=analist")
    assert "Nobody has the id analist" in text(page) and 'href="/events/?agent=analyst"' in page
    assert "No such event" in read(vera, "/events/?agent=analyst&kind=edited")


@pytest.mark.parametrize(
    "query", ["", "?kind=presence", "?agent=echo&from=2026-01-01&to=2126-01-01", "?kind=acts&by=x"]
)
def test_a_long_page_of_events_asks_as_many_questions_as_a_short_one_P53(vera, query, monkeypatch):
    monkeypatch.setattr(history, "PAGE", 500)
    counted = []
    for more in (10, 490):
        echo = Agent.objects.get_or_create(slug="echo")[0]
        rows = [
            {"agent": echo, "at": timezone.now(), "kind": kind, "by": "x"} for kind in ("presence", "edited")
        ] * more
        Event.objects.bulk_create(Event(**row) for row in rows)
        with CaptureQueriesContext(connection) as queries:
            assert len(shown(vera, f"/events/{query}")) >= 10
        counted.append(len(queries))
    assert counted[0] == counted[1] <= QUERIES, counted


def test_the_line_above_counts_what_came_since_the_page_and_only_what_it_asks_for(vera):
    happen("echo")
    asks = unescape(re.search(r'data-ask="([^"]+)"', read(vera, "/events/?kind=presence"))[1])
    assert "nothing newer" in read(vera, asks)
    happen("echo"), happen("echo", "edited")
    assert text(read(vera, asks)).strip() == "1 newer event: show it"
    Event.objects.bulk_create(Event(at=timezone.now(), kind="presence", by="hub") for _ in range(150))
    assert text(read(vera, asks)).strip() == "100 or more newer events: show them"
    assert 'href="/events/?kind=presence"' in read(vera, asks)


def test_events_that_happened_before_the_page_was_made_are_never_announced(vera):
    """Also on an older page, which does not show the newest."""
    first = happen("echo").pk
    happen("echo")
    for address in ("/events/", f"/events/?at={first}"):
        asks = unescape(re.search(r'data-ask="([^"]+)"', read(vera, address))[1])
        assert "nothing newer" in read(vera, asks)


def test_without_scripts_each_page_says_of_when_it_is(vera):
    for address in ("/events/", "/anomalies/"):
        page = text(read(vera, address))
        assert "page as of" in page and "reload" in page


# ---- anomalies ------------------------------------------------------------------------------------------------------


def test_what_is_wrong_is_told_with_its_evidence_what_it_means_and_what_to_do(vera, now):
    agent = make.agent("echo")[0]
    open_anomaly("silent_always_on", "echo", now, agent=agent, last_seen=now.isoformat(), claims="idle", interval=300)
    open_anomaly("duplicate_sessions", "echo", now, agent=agent, sessions=[{"session": "one", "host": "harbor"}])
    open_anomaly("sweep_late", "expire_ephemeral", now)
    open_anomaly("mass_change", "dormancy_and_silence", now, would_flip=9, live=12)
    page = read(vera, "/anomalies/")
    words = text(page)
    for told in (
        "beats every 5 min",
        "last said “idle”",
        "one on harbor",
        "would be called gone 9",
        "heartbeat closes this",
    ):
        assert told in words, told
    assert 'href="/guard/"' in page and page.count('href="/agents/echo/"') == 2
    assert 'href="/events/?agent=echo"' in page


def test_every_kind_of_anomaly_that_the_hub_opens_has_a_meaning():
    opened = {guard.KIND, conduct.PROPOSED, finishing.LATE, finishing.ORPHAN}
    for path in Path(guard.__file__).parent.glob("*.py"):
        opened |= set(re.findall(r'(?:open_anomaly|keep_anomaly|Anomaly)\((?:kind=)?"(\w+)"', path.read_text()))
    assert len(opened) > 6, "the pattern finds nothing, so it proves nothing"
    assert opened == set(MEANINGS)


def test_open_anomalies_come_first_and_closed_ones_tell_how_long_they_lasted(vera, now):
    for slug in ("echo", "bard"):
        open_anomaly("silent_always_on", slug, now, agent=make.agent(slug)[0], last_seen=now.isoformat())
    close_anomaly("silent_always_on", "echo", now + timedelta(minutes=90))
    page = read(vera, "/anomalies/")
    assert page.index('href="/agents/bard/"') < page.index('href="/agents/echo/"')
    assert "1 h 30 min" in text(page)
    assert "bard" not in read(vera, "/anomalies/?state=closed") and "echo" not in read(vera, "/anomalies/?state=open")
    assert "echo" not in text(read(vera, "/anomalies/?subject=bard"))
    assert "“kind” was left out" in text(read(vera, "/anomalies/?kind=nonsense"))
    assert "No open anomaly fits" in text(read(vera, "/anomalies/?kind=sweep_late"))


def test_a_calm_hub_says_what_it_looks_out_for(vera):
    assert "Nothing is wrong that the hub knows of" in text(read(vera, "/anomalies/"))


def test_a_walk_through_closed_anomalies_neither_skips_nor_repeats_P24(vera, now, monkeypatch):
    monkeypatch.setattr(history, "PAGE", 4)
    for number in range(11):
        open_anomaly("sweep_late", f"sweep-{number}", now)
        close_anomaly("sweep_late", f"sweep-{number}", now)
    walked, address = [], "/anomalies/"
    while address:
        page = read(vera, address)
        walked += [int(number) for number in re.findall(r'<tr id="a(\d+)"', page)]
        address = link(page, "Older")
        open_anomaly("sweep_late", f"more-{len(walked)}", now)
        close_anomaly("sweep_late", f"more-{len(walked)}", now)
    assert walked == sorted(walked, reverse=True) and len(walked) == 11


def test_the_line_above_the_anomalies_tells_that_one_opened_or_closed(vera, now):
    open_anomaly("sweep_late", "one", now)
    asks = unescape(re.search(r'data-ask="([^"]+)"', read(vera, "/anomalies/"))[1])
    assert "nothing newer" in read(vera, asks)
    close_anomaly("sweep_late", "one", now)
    assert "opened or closed" in read(vera, asks)
    open_anomaly("sweep_late", "two", now)
    assert "opened or closed" in read(vera, asks), "as many are open as were, and still another one"


def test_a_long_page_of_anomalies_asks_as_many_questions_as_a_short_one_P53(vera, now, monkeypatch):
    monkeypatch.setattr(history, "PAGE", 500)
    counted = []
    for numbers in (range(10), range(10, 500)):
        agents = Agent.objects.bulk_create(Agent(slug=f"agent-{number}") for number in numbers)
        rows = [{"kind": "silent_always_on", "subject": each.slug, "agent": each, "opened_at": now} for each in agents]
        Anomaly.objects.bulk_create(Anomaly(**row, closed_at=closed) for closed in (None, now) for row in rows)
        with CaptureQueriesContext(connection) as queries:
            assert read(vera, "/anomalies/").count("<tr id=") >= 20
        counted.append(len(queries))
    assert counted[0] == counted[1] <= QUERIES, counted
