"""The pages of nodes: a line that says that something on a node changed."""

from __future__ import annotations

from roster import clock, directory, queries
from roster.models import Agent
from roster.offload import in_database
from roster.rows import Row

from .box import BoxPage
from .feed import Rendered


class NodesPage(BoxPage):
    """One node, or all of them: told when an agent that is at home there changed, or was until then. What the page
    shows of it, it asks for."""

    async def open(self) -> tuple[int, list[Row]]:
        self._node, self._notices = self.scope["url_route"]["kwargs"].get("slug"), None
        version, _ = await in_database(directory.versions)
        rows = await in_database(self._at_home)
        self._keys = {row.pk for row in rows}
        await self.begin(version)
        return version, rows

    def _at_home(self) -> list[Row]:
        now = clock.now()
        nodes = queries.nodes(now) if self._node is None else [queries.node(self._node, now)]
        if None in nodes:
            raise Agent.DoesNotExist
        return [row for node in nodes for row in (node.agent, *node.employees) if row]

    def shown(self) -> set[int]:
        return self._keys

    async def changed(self, rows: list[Rendered], tail: str) -> None:
        told = [each.row for each in rows if each.row.registered]
        await self.mail(told)
        mine = {row.pk for row in told if row.home_node and self._node in (None, row.home_node)}
        if mine or any(row.pk in self._keys for row in told):
            self._keys |= mine
            await self.tell()
