"""The table of one open page: which rows it shows in which order, and the step that a changed row takes it."""

from __future__ import annotations

import bisect

from roster import queries
from roster.rows import Row

from .feed import Rendered


class Table:
    """The rows of ``page``, one page of ``selection``.

    A row keeps the place that it came to. In an order that its own change moves it in, it would jump under the
    reader's eyes; the next page that is asked for has it where it belongs.
    """

    def __init__(self, selection: queries.Selection, page: queries.Page):
        self._selection, order = selection, selection.order
        self._begin = order.cursor_key(selection.after)
        self._end = order.key(page.rows[-1]) if page.next else None
        self._keys = {row.id: order.key(row) for row in page.rows}
        self._places = [(self._keys[row.id], row.dom_id, row.pk) for row in page.rows]  # their keys rise

    def agents(self) -> set[int]:
        """The primary keys of the agents among the rows."""
        return {pk for _, dom_id, pk in self._places if dom_id.startswith("agent-")}

    def is_a_page(self) -> bool:
        """Whether there are about as many rows as on a page that is asked for; else it is to be read anew."""
        least = 1 if self._end else 0
        return least <= len(self._places) <= 2 * self._selection.limit

    def among(self, times: dict[str, str]) -> dict[str, str]:
        """The part of ``times``, by DOM id, that is about rows on show."""
        return {dom_id: times[dom_id] for _, dom_id, _ in self._places if dom_id in times}

    def step(self, each: Rendered) -> str:
        """What brings the page to show ``each`` as it is now: one partial, or nothing where it is not concerned."""
        row, here = each.row, each.row.id in self._keys
        key = self._keys[row.id] if here else self._selection.order.key(row)
        at = bisect.bisect_left(self._places, (key,))
        if not self._selection.matches(row):
            return self._drop(at, row) if here else ""
        if here:
            return self._replace(at, each)
        return self._insert(at, key, each) if self._covers(key) else ""

    def _covers(self, key: tuple) -> bool:
        return (self._begin is None or self._begin < key) and (self._end is None or key <= self._end)

    def _replace(self, at: int, each: Rendered) -> str:
        key, dom_id, _ = self._places[at]
        if dom_id == each.row.dom_id:
            return partial(f"#{dom_id}", "outerMorph", each.html)
        self._places[at] = key, each.row.dom_id, each.row.pk  # a member known by its profile entered the registry
        return partial(f"#{dom_id}", "outerHTML", each.html)

    def _insert(self, at: int, key: tuple, each: Rendered) -> str:
        self._keys[each.row.id] = key
        self._places.insert(at, (key, each.row.dom_id, each.row.pk))
        if at == 0:
            return partial("#rows", "afterbegin", each.html)
        return partial(f"#{self._places[at - 1][1]}", "afterend", each.html)

    def _drop(self, at: int, row: Row) -> str:
        del self._keys[row.id]
        return partial(f"#{self._places.pop(at)[1]}", "delete", "")


def partial(target: str, swap: str, html: str) -> str:
    """One htmx partial. ``target`` is made of our own DOM ids, ``html`` comes from a template."""
    return f'<hx-partial hx-target="{target}" hx-swap="{swap}">{html}</hx-partial>'
