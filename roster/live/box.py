"""The page of one inbox: a line that says that it changed."""

from __future__ import annotations

import json

from roster import clock, directory, queries, schemas
from roster.glance import Notice
from roster.models import Agent
from roster.offload import in_database
from roster.rows import Row

from .consumers import LivePage
from .feed import Rendered


class BoxPage(LivePage):
    """The mail of one agent: told that its row changed. What lies in the box is no business of the roster, so the page
    asks for it."""

    async def open(self) -> tuple[int, list[Row]]:
        self.pk, self._notices = int(self.scope["url_route"]["kwargs"]["pk"]), None
        version, _ = await in_database(directory.versions)
        rows = await in_database(queries.by_keys, [self.pk], clock.now())
        if not rows:
            raise Agent.DoesNotExist
        await self.say(json.dumps({"now": schemas.stamp(clock.now()), "box": not self._is_at(version)}))
        return version, rows

    def shown(self) -> set[int]:
        return {self.pk}

    async def changed(self, rows: list[Rendered], tail: str) -> None:
        await self.mail([each.row for each in rows])
        if any(each.row.registered and each.row.pk == self.pk for each in rows):
            await self._ask()

    async def anew(self, made: dict) -> None:
        await self._ask()

    async def members(self, version: int, made: dict) -> None:
        """Who is a member changes no box."""

    async def noticed(self, tail: str, notices: list[Notice]) -> None:
        if notices != self._notices:
            self._notices = notices
            await self._ask()

    async def seen(self, times: dict[str, str]) -> None:
        """When its agent was seen stands nowhere on the page."""

    async def _ask(self) -> None:
        await self.say(json.dumps({"box": True}))
