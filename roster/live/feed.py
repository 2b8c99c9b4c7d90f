"""The process's one subscriber to the channel layer: it gathers, reads once, renders each row once and hands the
result to its own open pages (design walk 1).

A nudge is only a hint. Without any, the feed looks for a newer version every few seconds, so a lost push costs
seconds; and it looks at the rows on show, because time alone changes what is true of them.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol

from channels.layers import get_channel_layer
from django.template.loader import get_template

from roster import clock, directory, events, metrics, queries, schemas, showing
from roster.glance import Glance, Notice
from roster.offload import in_database
from roster.rows import Row

log = logging.getLogger("agora.live")
GATHER = 0.15  # seconds after the first nudge in which others join it
LOOK = 2.0  # seconds between two looks at the version when no nudge comes
REFRESH = 10.0  # seconds between two looks at the rows on show
MANY = 200  # rows in one look; beyond, each table is read anew, which costs what is shown and not what changed
OVERLAP = timedelta(seconds=10)  # by which a refresh looks back behind the last one: a page may have been opening then
REJOIN = 60.0  # seconds; a membership that the broker lost in silence comes back with it


@dataclass(frozen=True, slots=True)
class Rendered:
    """A row and its HTML, rendered once for every page that shows it."""

    row: Row
    html: str


class OpenPage(Protocol):
    person: int | None

    def shown(self) -> set[int]: ...

    async def changed(self, rows: list[Rendered], tail: str) -> None: ...

    async def mail(self, rows: list[Row]) -> None: ...

    async def anew(self, made: dict) -> None: ...

    async def members(self, version: int, made: dict) -> None: ...

    async def noticed(self, tail: str, notices: list[Notice]) -> None: ...

    async def seen(self, times: dict[str, str]) -> None: ...

    async def still(self) -> None: ...

    async def start_over(self) -> None: ...


class Feed:
    """Belongs to one event loop. Runs while at least one page is open."""

    def __init__(self):
        self.pages: set[OpenPage] = set()
        self._task: asyncio.Task | None = None
        self._nudged, self._hinted = asyncio.Event(), True
        self._channel = ""
        self._version = 0
        self._told: dict[int, tuple] = {}
        self._refreshed = clock.now()
        self._above: Glance | None = None

    async def join(self, page: OpenPage, version: int, rows: list[Row]) -> None:
        """From now on ``page``, which shows ``rows`` as they were at ``version``, hears of every later change."""
        self._told = {row.pk: _face(row) for row in rows} | self._told
        self.pages.add(page)
        if self._task is None or self._task.done():
            self._version, self._refreshed = version, clock.now()
            self._task = asyncio.create_task(self._run())
        elif version < self._version:  # what changed while the page opened is told once more, to all in one order
            self._version = version
        self._nudged.set()

    def leave(self, page: OpenPage) -> None:
        self.pages.discard(page)
        if not self.pages and self._task is not None:
            self._task.cancel()
            self._task = None

    async def _run(self) -> None:
        listener = asyncio.create_task(self._listen())
        try:
            loop = asyncio.get_running_loop()
            refresh_at = loop.time() + REFRESH
            while True:
                await self._wait()
                await self._safely(self._look)
                if loop.time() >= refresh_at:
                    await self._safely(self._refresh)
                    refresh_at = loop.time() + REFRESH
        finally:
            listener.cancel()

    async def _wait(self) -> None:
        try:
            await asyncio.wait_for(self._nudged.wait(), LOOK)
            await asyncio.sleep(GATHER)
        except TimeoutError:
            pass
        self._hinted = self._nudged.is_set()
        self._nudged.clear()

    async def _listen(self) -> None:
        """Turns messages of the layer into one flag; where the broker is away, tries again.

        The channel is one for good: whoever left a channel would be sent to for a day more, into this process's memory.
        """
        layer = get_channel_layer()
        while True:
            try:
                self._channel = self._channel or await layer.new_channel()
                await layer.group_add(events.GROUP, self._channel)
                async with asyncio.timeout(REJOIN):
                    while True:
                        await layer.receive(self._channel)
                        self._nudged.set()
            except TimeoutError:
                continue
            except Exception as error:
                log.warning("the feed lost the broker and tries again: %s", type(error).__name__)
                await asyncio.sleep(1)

    async def _safely(self, step) -> None:
        """A database that is away must not end the feed; the pages keep what they show and the next look goes on."""
        try:
            await step()
        except Exception as error:
            log.warning("the feed skipped a look: %s", type(error).__name__)

    async def _look(self) -> None:
        await self._push()
        await self._notice()
        await self._each(lambda page: page.still())  # only a look that worked may say that nothing is newer

    async def _push(self) -> None:
        since, hinted = self._version, self._hinted
        version, rows, profiles = await in_database(_changed, since)
        if version == since:
            return
        if not hinted:
            metrics.unhinted.inc()
        if self._version == since:  # else a page joined meanwhile that stands further back
            self._version = version
        try:
            await self._tell(rows, version)
            made: dict = {}
            await self._each(lambda page: page.members(profiles, made))
        except Exception:
            self._version = min(self._version, since)  # nobody was told: the next look tells it
            raise
        self._told |= {row.pk: _face(row) for row in rows}

    async def _tell(self, rows: list[Row], version: int) -> None:
        above, tail = await in_database(showing.tail, version, self._above)
        if len(rows) > MANY:
            made: dict = {}
            await self._each(lambda page: page.anew(made))
            await self._mail()
        else:
            rendered = await in_database(render, rows)
            await self._each(lambda page: page.changed(rendered, tail))
        self._above = above

    async def _mail(self) -> None:
        """Tells people of their mail where the rows at hand are only some of those that changed: a letter to everybody
        changes them all."""
        theirs = {page.person for page in self.pages} - {None}
        rows = await in_database(queries.by_keys, list(theirs), clock.now())
        await self._each(lambda page: page.mail(rows))

    async def _each(self, say: Callable[[OpenPage], Awaitable[None]]) -> None:
        """Says it to every page. One that cannot be told starts over, and costs the others nothing."""
        for page in list(self.pages):
            try:
                await say(page)
            except Exception as error:
                log.warning("a live page has to start over: %s", type(error).__name__)
                self.pages.discard(page)
                await page.start_over()

    async def _refresh(self) -> None:
        """Brings the pages up to date where time moved them: a word whole, also where it brings a row onto a page of
        those who are gone; a newer last_seen as a time."""
        on_show = set().union(*(page.shown() for page in self.pages)) if self.pages else set()
        self._told = {pk: face for pk, face in self._told.items() if pk in on_show}
        since, now = self._refreshed - OVERLAP, clock.now()
        rows = await in_database(queries.by_keys, list(on_show), now)
        turned = [row for row in rows if self._told.get(row.pk, _face(row))[0] != _face(row)[0]]
        times = {row.dom_id: schemas.stamp(row.last_seen) for row in rows if self._told.get(row.pk) != _face(row)}
        self._told |= {row.pk: _face(row) for row in rows}
        ended = await in_database(queries.ended_between, since, now, MANY + 1)
        turned += [row for row in ended if row.pk not in on_show]
        if turned:
            await self._tell(turned, self._version)
        self._refreshed = now
        await self._each(lambda page: page.seen(times))

    async def _notice(self) -> None:
        """What stands above the rows changes by time too: a sweep that stopped pushes nothing, nor does an agent whose
        window ends on no page."""
        above, tail = await in_database(showing.tail, self._version, self._above)
        if self._above is None or not above.shows_the_same(self._above):
            await self._each(lambda page: page.noticed(tail, above.notices))
        self._above = above


def _face(row: Row) -> tuple:
    """What time alone may turn, and when it was last seen."""
    return (row.presence.word, row.heartbeats_failing), row.last_seen


def _changed(version: int) -> tuple[int, list[Row], int]:
    """The version now, the rows changed since ``version`` (of more than MANY only some), and the version of the
    profiles: read last, so that an edit in between is told now or moves the first."""
    current, rows = queries.changed_since(version, clock.now(), MANY + 1)
    return current, rows, directory.versions()[1]


def render(rows: list[Row]) -> list[Rendered]:
    """Each row's ``<tr>``, from the same template as the page."""
    if not rows:
        return []
    template, now = get_template("roster/_row.html"), clock.now()
    return [Rendered(row, template.render({"row": row, "now": now})) for row in rows]


_feeds: dict[asyncio.AbstractEventLoop, Feed] = {}


def feed() -> Feed:
    """The feed of the running event loop; a server process has one."""
    loop = asyncio.get_running_loop()
    if loop not in _feeds:
        _feeds[loop] = Feed()
    return _feeds[loop]
