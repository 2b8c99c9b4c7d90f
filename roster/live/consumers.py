"""One consumer an open page. It knows what its page shows and writes only that."""

from __future__ import annotations

import asyncio
import json
import logging
from contextlib import suppress
from datetime import timedelta
from urllib.parse import parse_qs

from channels.generic.websocket import AsyncWebsocketConsumer
from django.contrib.sessions.models import Session
from django.template.loader import get_template
from django.utils.dateparse import parse_datetime

from roster import access, clock, directory, metrics, queries, schemas, showing
from roster.glance import Notice
from roster.models import Agent
from roster.offload import in_database
from roster.rows import Row
from roster.services import people

from .feed import Rendered, feed, render
from .table import Table, partial

log, security = logging.getLogger("agora.live"), logging.getLogger("agora.security")
SIGNED_OUT, NO_RIGHT, NOBODY, COME_BACK = 4401, 4403, 4404, 4503
FRESH = timedelta(seconds=5)  # younger than this, a page needs no second look at its rows
QUIET = 15.0  # seconds after which a page that was told nothing is told that nothing is newer
REDRAW = 60.0  # seconds between two drawings of an agent to whom nothing happens
PATIENCE = 1.0  # seconds for a message to leave: some servers wait for a browser that does not read
RECHECK = 20.0  # seconds between two looks at whether the person may still watch


class LivePage(AsyncWebsocketConsumer):
    """What the live pages share: who may watch, for how long, and how messages leave."""

    # Pages hear from the feed alone: with a subscription of its own each would end when the broker does.
    channel_layer_alias = "none"

    async def __call__(self, scope, receive, send):
        """The whole life of the page. A server that waited too long for the page's end cancels it, wherever it is."""
        self._guard: asyncio.Task | None = None
        try:
            return await super().__call__(scope, receive, send)
        finally:
            feed().leave(self)
            if self._guard is not None:
                self._guard.cancel()
                metrics.pages.dec()

    async def connect(self):
        await self.accept()  # a refusal before this reads as a broken line to the browser, which then tries for ever
        try:
            if code := await in_database(self._refusal):
                security.warning("a live page was turned away: %s", self.scope["path"])
                return await self.close(code)
            metrics.pages.inc()
            self._guard = asyncio.create_task(self._watch_session())
            version, rows = await self.open()
            if self._own:
                await self.say(_waiting(self._own[1]))
            await feed().join(self, version, rows)
        except Agent.DoesNotExist:
            await self.close(NOBODY)
        except Exception as error:
            log.warning("a live page could not start: %s", type(error).__name__)
            await self.start_over()

    async def receive(self, text_data=None, bytes_data=None):
        """Nothing is taken from a page: acts are POSTs."""

    async def start_over(self) -> None:
        """Lets the page connect anew, which brings it up to date. One that cannot be told is left to the server."""
        with suppress(Exception):
            async with asyncio.timeout(PATIENCE):
                await self.close(COME_BACK)

    async def say(self, text: str) -> None:
        metrics.pushes.inc()
        self._said = asyncio.get_running_loop().time()
        async with asyncio.timeout(PATIENCE):
            await self.send(text_data=text)

    async def still(self) -> None:
        """Nothing is newer than what the page shows. It is told so now and then: a line that is silent looks dead."""
        if asyncio.get_running_loop().time() - self._said >= QUIET:
            await self.say(json.dumps({"now": schemas.stamp(clock.now())}))

    def _is_at(self, version: int) -> bool:
        """Whether the page, by its cursor, shows this version already, and was made so lately that time alone cannot
        have turned a word on it either."""
        asked = parse_qs(self.scope["query_string"].decode("latin-1"))
        made = parse_datetime(asked.get("as_of", [""])[0].replace(" ", "+"))
        return asked.get("rev") == [str(version)] and made is not None and clock.now() - made < FRESH

    @property
    def person(self) -> int | None:
        """The key of the agent that the person whose page it is has, if there is one."""
        return self._own[0] if self._own else None

    async def mail(self, rows: list[Row]) -> None:
        """Tells the person whose page it is that something else waits for them now. What it is, the page asks."""
        mine = {row.pk: row.waiting for row in rows if row.registered}
        if self._own and mine.get(self._own[0], self._own[1]) != self._own[1]:
            self._own = self._own[0], mine[self._own[0]]
            await self.say(_waiting(self._own[1]))

    def _refusal(self) -> int | None:
        """Why this socket may not go on: the session ended, the person was deactivated or holds no role any more."""
        session = self.scope["session"]
        stored = Session.objects.filter(pk=session.session_key, expire_date__gt=clock.now()).first()
        data = stored.get_decoded() if stored else {}
        user = access.active_user(data, clock.now())
        if user is None:
            return SIGNED_OUT
        if access.role_of(user) is None:
            return NO_RIGHT
        people.at_a_page(user, clock.now())
        if not hasattr(self, "_own"):  # the person's own row: its key, and how much mail waits
            self._own = Agent.objects.filter(user=user).values_list("pk", "waiting").first()
        return None

    async def _watch_session(self) -> None:
        while True:
            await asyncio.sleep(RECHECK)
            try:
                code = await in_database(self._refusal)
            except Exception as error:
                log.warning("a session could not be looked at: %s", type(error).__name__)
                continue
            if code:
                security.warning("a live page was ended: %s", self.scope["path"])
                feed().leave(self)
                await self.close(code)
                return


class RosterPage(LivePage):
    """The roster: rows that changed, rows that came, rows that left, in the order of the table."""

    async def open(self) -> tuple[int, list[Row]]:
        self.selection = showing.selection(parse_qs(self.scope["query_string"].decode("utf-8", "replace")))
        page = await in_database(queries.page, self.selection, clock.now())
        self._shows(page)
        text = "" if self._is_at(page.version) else await in_database(_whole, self.selection, page)
        await self.say(text + await in_database(showing.opening, page.version))
        return page.version, page.rows

    async def anew(self, made: dict) -> None:
        """The whole table as it is now. ``made`` holds those that other pages were told in the same look."""
        if self.selection not in made:
            page = await in_database(queries.page, self.selection, clock.now())
            made[self.selection] = page, await in_database(_whole, self.selection, page)
        page, text = made[self.selection]
        self._shows(page)
        await self.say(text + await in_database(showing.opening, page.version))

    def _shows(self, page: queries.Page) -> None:
        self.profiles, self.table = page.profiles, Table(self.selection, page)

    def shown(self) -> set[int]:
        return self.table.agents()

    async def changed(self, rows: list[Rendered], tail: str) -> None:
        await self.mail([each.row for each in rows])
        await self.say("".join(map(self.table.step, rows)) + tail)
        if not self.table.is_a_page():
            await self.anew({})

    async def members(self, version: int, made: dict) -> None:
        """A member without an agent row has no version of its own: where the profiles moved, the table comes whole."""
        if version != self.profiles:
            await self.anew(made)

    async def noticed(self, tail: str, notices: list[Notice]) -> None:
        await self.say(tail)

    async def seen(self, times: dict[str, str]) -> None:
        if mine := self.table.among(times):
            await self.say(json.dumps({"seen": mine}))


def _whole(selection: queries.Selection, page: queries.Page) -> str:
    """All rows of a page, and the links to those beside it."""
    body = "".join(each.html for each in render(page.rows))
    links = get_template("roster/_pages.html").render(showing.beside(selection, page))
    return partial("#rows", "innerMorph", body) + partial("#pages", "outerMorph", links)


class OneAgentPage(LivePage):
    """What the pages about one agent share: they show it alone, and are told again whenever its row or a notice above
    it changed. Each says in its own way where it stands when it opens (``begin``), and what it is told (``tell``)."""

    async def open(self) -> tuple[int, list[Row]]:
        self.pk, self._notices = int(self.scope["url_route"]["kwargs"]["pk"]), None
        version, _ = await in_database(directory.versions)
        rows = await in_database(queries.by_keys, [self.pk], clock.now())
        if not rows:
            raise Agent.DoesNotExist
        await self.begin(version)
        return version, rows

    def shown(self) -> set[int]:
        return {self.pk}

    async def changed(self, rows: list[Rendered], tail: str) -> None:
        await self.mail([each.row for each in rows])
        if any(each.row.registered and each.row.pk == self.pk for each in rows):
            await self.tell()

    async def anew(self, made: dict) -> None:
        await self.tell()

    async def members(self, version: int, made: dict) -> None:
        """A profile moves its agent's version too, and nothing else here."""

    async def noticed(self, tail: str, notices: list[Notice]) -> None:
        if notices != self._notices:
            self._notices = notices
            await self.tell()


class AgentPage(OneAgentPage):
    """One agent: its blocks again whenever it changed."""

    async def begin(self, version: int) -> None:
        await self.tell()

    async def seen(self, times: dict[str, str]) -> None:
        if f"agent-{self.pk}" in times:
            await self.say(json.dumps({"seen": times}))

    async def still(self) -> None:
        """The picture of its last day ends now, and now moves on."""
        if asyncio.get_running_loop().time() - self._drawn >= REDRAW:
            await self.tell()
        await super().still()

    async def tell(self) -> None:
        self._drawn = asyncio.get_running_loop().time()
        await self.say(await in_database(showing.agent_message, self.pk))


def _waiting(count: int) -> str:
    return json.dumps({"mail": {"waiting": count}})


class Nowhere(AsyncWebsocketConsumer):
    """Any other address: refused before it is accepted."""

    async def connect(self):
        await self.close()
