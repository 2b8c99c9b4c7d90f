"""The page of one inbox: a line that says that it changed."""

from __future__ import annotations

import json

from roster import clock, schemas

from .consumers import OneAgentPage


class BoxPage(OneAgentPage):
    """The mail of one agent: told that its row changed. What lies in the box is no business of the roster, so the page
    asks for it."""

    async def begin(self, version: int) -> None:
        await self.say(json.dumps({"now": schemas.stamp(clock.now()), "box": not self._is_at(version)}))

    async def tell(self) -> None:
        await self.say(json.dumps({"box": True}))

    async def seen(self, times: dict[str, str]) -> None:
        """When its agent was seen stands nowhere on the page."""
