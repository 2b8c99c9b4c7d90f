"""Filters of lists that are too long for Django's own: none of them reads the table to find its choices."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta

from django.contrib import admin
from django.contrib.admin.options import IncorrectLookupParameters

from roster import queries


class KindFilter(admin.SimpleListFilter):
    """The kinds of events that have happened, but for those that the list never shows."""

    title = parameter_name = "kind"

    def lookups(self, request, model_admin):
        return [(kind, kind) for kind in queries.event_kinds() if kind not in model_admin.kinds_elsewhere]

    def queryset(self, request, events):
        return events.filter(kind=self.value()) if self.value() else events


class StateFilter(admin.SimpleListFilter):
    """Whether something still holds, which its ``column`` tells: the time when it ended, if it has."""

    title = parameter_name = "state"
    column: str
    words: tuple[str, str]

    def lookups(self, request, model_admin):
        return [(word, word) for word in self.words]

    def queryset(self, request, rows):
        return rows.filter(**{f"{self.column}__isnull": self.value() == self.words[0]}) if self.value() else rows


class OpenOrClosed(StateFilter):
    column, words = "closed_at", ("open", "closed")


class ValidOrRevoked(StateFilter):
    column, words = "revoked_at", ("valid", "revoked")


class TypedFilter(admin.ListFilter):
    """A filter whose value is typed in, since there are too many to choose from; a subclass narrows the rows by it."""

    template = "admin/typed_filter.html"
    parameter: str
    input_type = "text"
    note: str

    def __init__(self, request, params, model, model_admin):
        super().__init__(request, params, model, model_admin)
        typed = params.pop(self.parameter, [""])[-1].strip()
        self.value = typed.replace("\0", "\ufffd")  # PostgreSQL takes no NUL even to compare

    def has_output(self):
        return True

    def expected_parameters(self):
        return [self.parameter]

    def choices(self, changelist):
        """What else the page was asked for: the form sends it along."""
        asked = changelist.filter_params.items()
        return [(name, value) for name, values in asked if name != self.parameter for value in values]

    def queryset(self, request, rows):
        return self.narrow(rows) if self.value else rows


class ActedBy(TypedFilter):
    title, parameter = "who acted", "by"
    note = "A whole id or user name; hub for the hub itself."

    def narrow(self, rows):
        return rows.filter(by=self.value)


class UntilDay(TypedFilter):
    """Ids of events come in the order of time, and every index of theirs ends with the id: a day becomes an id."""

    title, parameter, input_type = "day", "until", "date"
    note = "Events up to the end of this day, UTC, newest first."

    def narrow(self, rows):
        try:
            following = date.fromisoformat(self.value) + timedelta(days=1)
        except (ValueError, OverflowError):
            raise IncorrectLookupParameters from None
        return rows.filter(pk__lte=queries.last_event_before(datetime.combine(following, time.min, UTC)))
