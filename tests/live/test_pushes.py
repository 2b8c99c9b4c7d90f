"""What an open page is sent: what was committed, rendered once for all, in order, also where a nudge is lost."""

from __future__ import annotations

import asyncio
import json
import re
from datetime import datetime, timedelta

import pytest
from asgiref.sync import sync_to_async
from channels.layers import get_channel_layer
from django.db import OperationalError, transaction
from django.utils import timezone

from roster import events, metrics, showing
from roster.live import consumers
from roster.live import feed as feeds
from roster.live.consumers import COME_BACK
from roster.models import HubUptime
from roster.services import profiles
from tests import make
from tests import settings as servers
from tests.live.conftest import closed_with, joined, said_until, version


class RolledBack(Exception):
    pass


def version_of(text: str) -> int:
    return int(re.search(r'data-rev="(\d+)"', text)[1])


@pytest.mark.core
async def test_a_committed_change_is_pushed_to_an_open_page(pages, cookie, agent, beat):
    page = await pages.open(cookie)
    row, token = await agent("echo", status="idle")
    assert "says" in await said_until(page, f'<tr id="agent-{row.pk}"')
    await beat(token, status="working: release notes")
    text = await said_until(page, "release notes")
    assert f'hx-target="#agent-{row.pk}" hx-swap="outerMorph"' in text
    assert version_of(text) == await version()


@pytest.mark.core
async def test_what_was_rolled_back_is_never_pushed_P42(pages, cookie, agent, beat):
    """A hundred changes that were rolled back: neither a nudge on the channel layer nor a message on the page."""
    _, token = await agent("echo", status="idle")
    page = await pages.open(cookie)
    await said_until(page, "echo")
    await beat(token, status="working: settled")
    await said_until(page, "settled")
    layer = get_channel_layer()
    channel = await layer.new_channel()
    await layer.group_add(events.GROUP, channel)

    @sync_to_async
    def rolled_back(n: int):
        with pytest.raises(RolledBack), transaction.atomic():
            make.beat(token, timezone.now(), status=f"working: never {n}")
            raise RolledBack

    for n in range(100):
        await rolled_back(n)
    while not await page.receive_nothing(feeds.GATHER * 2):  # what stands above the rows may be counted meanwhile
        assert "<tr" not in await page.receive_from()
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(layer.receive(channel), feeds.GATHER)
    await beat(token, status="working: kept")
    nudge = await asyncio.wait_for(layer.receive(channel), 5)
    text = await said_until(page, "echo")
    assert "kept" in text and "never" not in text
    assert nudge["version"] == version_of(text) == await version()


@pytest.mark.core
async def test_a_row_is_rendered_once_for_all_twenty_pages_that_show_it(pages, cookie, agent, beat, monkeypatch):
    """One change costs one render a process, however many pages are open."""
    row, token = await agent("echo", status="idle")
    await agent("other", status="idle")
    opened = [await pages.open(cookie) for _ in range(20)]
    await joined(20)
    rendered = []

    def counted(rows):
        rendered.extend(each.pk for each in rows)
        return render(rows)

    render = feeds.render
    monkeypatch.setattr(feeds, "render", counted)
    await beat(token, status="working: for all")
    for page in opened:
        await said_until(page, "for all")
    assert rendered == [row.pk]


async def test_a_page_hears_of_the_summary_and_the_notices_when_they_change(pages, cookie, agent, beat):
    page = await pages.open(cookie)
    _, token = await agent("echo", status="idle")
    assert 'hx-target="#notices"' in await said_until(page, "#summary")
    now = timezone.now()
    down = now - timedelta(minutes=9)
    await sync_to_async(HubUptime.objects.create)(up_at=now, alive_at=now, down_at=down, moved=1)
    await beat(token, status="working: again")
    assert 'hx-target="#notices"' in await said_until(page, "The hub was down")


async def test_a_member_who_only_has_a_profile_comes_and_goes_on_an_open_page(pages, cookie):
    """It has no row in the registry and so no version, but it is counted: the table must show whom the counts count."""
    page = await pages.open(cookie)
    await said_until(page, "summary")
    member = await sync_to_async(make.profile)("scribe", liveness_mode="async", title="Scribe")
    assert f'<tr id="profile-{member.pk}"' in await said_until(page, "Scribe")
    member.title = "Writer"
    await sync_to_async(profiles.save)(member, by="mira", now=timezone.now())
    await said_until(page, "Writer")
    member.liveness_mode = None
    await sync_to_async(profiles.save)(member, by="mira", now=timezone.now())
    while "Writer" in await said_until(page, 'hx-target="#rows"'):
        pass


@pytest.fixture
def late_joiner(pages, cookie, beat, monkeypatch):
    """Opens a page that stands still between its first message and its joining of the feed, until every beat of
    ``changes`` has been pushed to a page that was there before."""
    join = feeds.Feed.join

    async def opened(path, before, *changes):
        async def late(self, page, *args):
            monkeypatch.setattr(feeds.Feed, "join", join)
            for token, status in changes:
                await beat(token, status=status)
                await said_until(before, status.removeprefix("working: "))
            await join(self, page, *args)

        monkeypatch.setattr(feeds.Feed, "join", late)
        return await pages.open(cookie, path)

    return opened


async def shown_at_last(page, rows: dict[str, str]) -> None:
    """Reads the page's messages until its rows show the words of ``rows`` (DOM id to words) for good."""
    shows: dict[str, str] = {}
    while any(words not in shows.get(row, "") for row, words in rows.items()):
        text = await page.receive_from(timeout=10)
        shows.update(re.findall(r'<tr id="([\w-]+)">(.*?)</tr>', text, re.DOTALL))


async def test_changes_between_the_first_message_and_the_joining_are_not_missed_F148(
    pages, cookie, agent, late_joiner, soak
):
    """Three changes arrive while a new page's first message is under way and other pages are already served.

    The scenario delays the fragment by 2 s; here the page stands still at the worst moment for as long as it takes.
    """
    (row, token), (other_row, other) = await agent("echo", status="idle"), await agent("other", status="idle")
    before = await pages.open(cookie)
    await said_until(before, "other")
    for n in range(100 if soak else 4):
        changes = ((token, f"working: a{n}x"), (other, f"working: b{n}x"), (token, f"working: c{n}x"))
        page = await late_joiner("/live/roster/", before, *changes)
        await shown_at_last(page, {f"agent-{row.pk}": f"c{n}x", f"agent-{other_row.pk}": f"b{n}x"})


async def test_an_agent_page_does_not_miss_a_change_while_it_opens_either(pages, cookie, agent, late_joiner):
    row, token = await agent("echo", status="idle")
    before = await pages.open(cookie)
    await said_until(before, "echo")
    page = await late_joiner(f"/live/agents/{row.pk}/", before, (token, "working: meanwhile"))
    await said_until(page, "meanwhile")


async def test_where_the_nudges_are_lost_the_page_catches_up_by_itself(pages, cookie, agent, beat):
    """The broker is killed: the change is there within seconds all the same, and nudges work again after its return."""
    _, token = await agent("echo", status="idle")
    page = await pages.open(cookie)
    await said_until(page, "echo")
    servers._valkey.kill()
    try:
        await beat(token, status="working: in the dark")
        await said_until(page, "in the dark", feeds.LOOK + 3)
    finally:
        servers._valkey.start()
    await beat(token, status="working: by light")
    await said_until(page, "by light")


async def test_time_alone_turns_the_word_on_an_open_page(pages, cookie, agent, monkeypatch):
    """No heartbeat, no sweep, no event: the window ends and the open page says so at its next look."""
    monkeypatch.setattr(feeds, "REFRESH", 0.3)
    monkeypatch.setattr(feeds, "LOOK", 0.2)
    nearly_over = timezone.now() - timedelta(seconds=9)
    row, _ = await sync_to_async(make.agent)("echo", nearly_over, liveness_mode="async", expected_interval=5)
    page = await pages.open(cookie)
    assert "dormant" not in row.recorded
    assert f'<tr id="agent-{row.pk}"' in await said_until(page, "on-dormant")


async def test_a_look_that_fails_half_way_is_made_again(pages, cookie, agent, beat, monkeypatch):
    """The database goes away between the rows and the summary: the rows are not lost, they come seconds later."""
    _, token = await agent("echo", status="idle")
    page = await pages.open(cookie)
    await said_until(page, "echo")
    tail, failures = feeds.showing.tail, [OperationalError("gone")]

    def fails_once(*args, **kwargs):
        if failures:
            raise failures.pop()
        return tail(*args, **kwargs)

    monkeypatch.setattr(feeds.showing, "tail", fails_once)
    await beat(token, status="working: half way")
    await said_until(page, "half way", feeds.LOOK + 3)
    assert not failures


async def test_a_page_that_cannot_be_told_starts_over_and_costs_the_others_nothing(
    pages, cookie, agent, beat, monkeypatch
):
    row, token = await agent("echo", status="idle")
    broken = await pages.open(cookie, f"/live/agents/{row.pk}/")
    await said_until(broken, "echo")
    sound = [await pages.open(cookie) for _ in range(3)]

    def away(*args):
        raise OperationalError("gone")

    monkeypatch.setattr(showing, "agent_message", away)
    await beat(token, status="working: all the same")
    for page in sound:
        await said_until(page, "all the same")
    assert await closed_with(broken) == COME_BACK


async def test_pages_that_come_and_go_leave_no_channels_behind(pages, cookie, monkeypatch):
    """Each channel left in the group would be sent every nudge for a day, and the web process would keep them all."""
    layer, joined = get_channel_layer(), asyncio.Queue()
    group_add = layer.group_add

    async def noted(group, channel):
        await group_add(group, channel)
        joined.put_nowait(channel)

    monkeypatch.setattr(layer, "group_add", noted)
    channels = set()
    for _ in range(5):
        page = await pages.open(cookie)
        channels.add(await asyncio.wait_for(joined.get(), 5))
        await page.disconnect(timeout=5)
    assert len(channels) == 1


async def test_time_alone_turns_the_counts_also_where_no_row_is_on_show(pages, cookie, agent, monkeypatch):
    """The page shows the always-on agents only; another's window ends and no sweep has come by."""
    monkeypatch.setattr(feeds, "REFRESH", 0.3)
    monkeypatch.setattr(feeds, "LOOK", 0.2)
    nearly_over = timezone.now() - timedelta(seconds=4)
    await sync_to_async(make.agent)("echo", nearly_over, liveness_mode="async", expected_interval=5)
    page = await pages.open(cookie, "/live/roster/?mode=always-on")
    nobody = re.compile(r'data-v="dormant" class="[^"]*\bnone\b')
    assert nobody.search(await said_until(page, 'id="summary"'))
    while nobody.search(await said_until(page, 'id="summary"', 20)):
        pass


async def test_a_page_that_heard_nothing_for_a_while_is_told_that_nothing_is_newer(pages, cookie, monkeypatch):
    """Without a word now and then a page could not tell a quiet hub from a line that is dead."""
    assert consumers.QUIET + feeds.LOOK + feeds.GATHER < 20
    monkeypatch.setattr(feeds, "LOOK", 0.1)
    monkeypatch.setattr(consumers, "QUIET", 0.3)
    page = await pages.open(cookie)
    said = json.loads(await said_until(page, '{"now"'))
    assert abs(datetime.fromisoformat(said["now"]) - timezone.now()) < timedelta(seconds=5)


async def test_while_the_database_is_away_no_page_is_told_that_nothing_is_newer(pages, cookie, monkeypatch):
    monkeypatch.setattr(feeds, "LOOK", 0.05)
    monkeypatch.setattr(consumers, "QUIET", 0.1)
    page = await pages.open(cookie)
    await said_until(page, '"now"')

    def away(version):
        raise OperationalError("gone")

    with monkeypatch.context() as outage:
        outage.setattr(feeds, "_changed", away)
        while not await page.receive_nothing(0.5):
            await page.receive_from()
    await said_until(page, '"now"')


async def test_a_change_that_no_hint_told_of_is_counted(pages, cookie, agent, beat, monkeypatch):
    _, token = await agent("echo", status="idle")
    page = await pages.open(cookie)
    await said_until(page, "echo")
    await beat(token, status="working: with a hint")
    await said_until(page, "with a hint")
    before = metrics.unhinted._value.get()
    monkeypatch.setattr(events, "nudge", lambda version: None)
    for n in range(5):  # a hint of the beat before may still be on its way
        await beat(token, status=f"working: without {n}")
        await said_until(page, f"without {n}", feeds.LOOK + 3)
        if metrics.unhinted._value.get() > before:
            return
    pytest.fail("no change was counted as one that no hint told of")


async def test_the_page_of_an_agent_that_is_not_there_is_told_so_for_good(pages, cookie):
    page = await pages.open(cookie, "/live/agents/4040/")
    assert await closed_with(page) == consumers.NOBODY


async def test_an_agents_picture_is_drawn_anew_though_nothing_happens_to_it(pages, cookie, agent, monkeypatch):
    """It ends at the present moment, which moves on."""
    monkeypatch.setattr(feeds, "LOOK", 0.1)
    monkeypatch.setattr(consumers, "REDRAW", 0.3)
    monkeypatch.setattr(showing, "SHARED", timedelta())
    row, _ = await agent("echo", status="idle")
    page = await pages.open(cookie, f"/live/agents/{row.pk}/")
    for _ in range(3):
        await said_until(page, "#reachable")


async def test_all_pages_of_one_agent_are_served_by_one_rendering(pages, cookie, agent, beat, monkeypatch):
    row, token = await agent("echo", status="idle")
    opened = [await pages.open(cookie, f"/live/agents/{row.pk}/") for _ in range(4)]
    for page in opened:
        await said_until(page, "#reachable")
    drawn, agent_of = [], showing.agent

    def counting(*args):
        drawn.append(args)
        return agent_of(*args)

    monkeypatch.setattr(showing, "agent", counting)
    await beat(token, status="working: for all")
    for page in opened:
        await said_until(page, "for all")
    assert len(drawn) == 1


async def test_time_alone_brings_an_agent_onto_a_page_of_those_who_are_gone(pages, cookie, agent, monkeypatch):
    """Its window ends while no page shows it, and the sweep that records that may be minutes away."""
    monkeypatch.setattr(feeds, "REFRESH", 0.3)
    monkeypatch.setattr(feeds, "LOOK", 0.2)
    nearly_over = timezone.now() - timedelta(seconds=7)
    row, _ = await sync_to_async(make.agent)("echo", nearly_over, liveness_mode="always-on", expected_interval=5)
    page = await pages.open(cookie, "/live/roster/?presence=silent")
    assert f'<tr id="agent-{row.pk}"' not in await said_until(page, 'hx-target="#rows"')
    assert 'hx-target="#rows" hx-swap="afterbegin"' in await said_until(page, f'<tr id="agent-{row.pk}"')
