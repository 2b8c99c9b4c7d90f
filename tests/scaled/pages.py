"""Many open pages without a browser: real websockets, and what each page shows by what it was sent."""

from __future__ import annotations

import asyncio
import re
from contextlib import asynccontextmanager

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from tests.scaled.parts import Web

ROW = re.compile(r'<tr id="([\w-]+)".*?</tr>', re.DOTALL)
GONE = re.compile(r'hx-target="#([\w-]+)" hx-swap="delete"')
NAME = re.compile(r'<a class="id" href="/agents/([^/]+)/"')
WORD = re.compile(r'class="c-presence on-(\w+)')
VERSION = re.compile(r'id="cursor" data-rev="(\d+)"')


class OpenPage:
    """One open roster page: the rows it shows by DOM id, and its cursor after each message."""

    def __init__(self, socket: ClientConnection):
        self.socket, self.rows, self.versions = socket, {}, []
        self._reading = asyncio.create_task(self._read())

    @property
    def version(self) -> int:
        return self.versions[-1] if self.versions else 0

    @property
    def words(self) -> dict[str, str]:
        """The presence on show of each agent."""
        return {NAME.search(row)[1]: WORD.search(row)[1] for row in self.rows.values()}

    def shows(self, text: str) -> bool:
        return any(text in row for row in self.rows.values())

    async def close(self) -> None:
        await self.socket.close()
        await self._reading

    async def closed_with(self, seconds: float = 20) -> int:
        """The code that the server closes it with."""
        await asyncio.wait_for(self.socket.wait_closed(), seconds)
        return self.socket.close_code

    async def _read(self) -> None:
        try:
            async for text in self.socket:
                self._take(text)
        except ConnectionClosed:
            pass

    def _take(self, text: str) -> None:
        if 'hx-target="#rows" hx-swap="innerMorph"' in text:
            self.rows.clear()
        for dom_id in GONE.findall(text):
            self.rows.pop(dom_id, None)
        self.rows.update({row[1]: row[0] for row in ROW.finditer(text)})
        if found := VERSION.search(text):
            self.versions.append(int(found[1]))


async def open_page(web: Web, cookie: str, query: str = "", origin: str | None = None) -> OpenPage:
    """A page at ``web``; ``query`` is its selection, as in its address. It shows everything once it is returned."""
    url = f"{web.url.replace('http', 'ws', 1)}/live/roster/?{query}"
    socket = await connect(url, additional_headers={"Cookie": cookie}, origin=origin or web.url, open_timeout=60,
                           max_size=None, ping_interval=None, proxy=None)  # fmt: skip
    page = OpenPage(socket)
    await until(lambda: page.version or page.socket.close_code, what="the first message of a page")
    return page


@asynccontextmanager
async def open_pages(*each: tuple[Web, str, str]):
    """A page for each (web, cookie, query), opened all at once, closed at the end."""
    opened = await asyncio.gather(*(open_page(*one) for one in each))
    try:
        yield opened
    finally:
        await asyncio.gather(*(page.close() for page in opened))


async def all_show(pages: list[OpenPage], text: str, seconds: float = 10) -> None:
    await until(lambda: all(page.shows(text) for page in pages), seconds, f"'{text}' on all pages")


async def until(condition, seconds: float = 30, what: str = "it"):
    """The first true value of ``condition()``, while everything else goes on."""
    deadline = asyncio.get_running_loop().time() + seconds
    while not (value := condition()):
        assert asyncio.get_running_loop().time() < deadline, f"{what} did not happen within {seconds} s"
        await asyncio.sleep(0.02)
    return value
