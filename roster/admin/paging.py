"""Lists of any length: the keys of the first rows are read once, in order, and a page is read by its keys.

Django's own paginator counts all rows of a list, and reads them in order once more to skip to a page. Over two million
events, or with a search that finds little, each of the two is a pass over the table.
"""

from __future__ import annotations

from functools import cached_property

from django.contrib.admin.helpers import ActionForm
from django.contrib.admin.views.main import ChangeList
from django.core.paginator import Page, Paginator
from django.utils.text import capfirst

REACH = 10_000  # rows that can be paged through; beyond them a list is narrowed by search or filter


class KeyPaginator(Paginator):
    """Pages over the first ``REACH`` rows of a queryset, in two queries: the keys, and the rows of one page."""

    @cached_property
    def keys(self) -> list:
        """The keys within reach and one more, if there is more."""
        return list(self.object_list.values_list("pk", flat=True)[: REACH + 1])

    @cached_property
    def count(self) -> int:
        return min(len(self.keys), REACH)

    @property
    def is_cut(self) -> bool:
        """Whether the queryset has more rows than can be paged through."""
        return len(self.keys) > REACH

    def page(self, number: int | str) -> Page:
        number = self.validate_number(number)
        last = min(number * self.per_page, self.count)
        keys = self.keys[(number - 1) * self.per_page : last]
        return self._get_page(self.object_list.filter(pk__in=keys), number, self)


class KeyList(ChangeList):
    """A list whose rows come from ``KeyPaginator``, a single page's too; ``is_cut`` is for its template."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.title = capfirst(self.opts.verbose_name_plural)

    def get_results(self, request):
        super().get_results(request)
        if not self.multi_page:
            self.result_list = self.paginator.page(1).object_list
        self.is_cut = self.paginator.is_cut
        self.show_admin_actions = self.result_count > 0


class OnePageActionForm(ActionForm):
    """An action is for the rows that were ticked, one page at most: nobody revokes 100,000 tokens by one click."""

    def clean_select_across(self) -> bool:
        return False
