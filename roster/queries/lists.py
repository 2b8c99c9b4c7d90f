"""The fleet as lists: a part of it page by page, what changed, and one member."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Exists, OuterRef, Q, QuerySet

from roster import directory, rows, states
from roster.models import Agent, Profile
from roster.selector import select

from .order import Order, order
from .words import SAYS, is_listed, is_urgent, presence_word


@dataclass(frozen=True, slots=True)
class Selection:
    """Which part of the fleet is asked for, and in which order. Empty strings mean any; ``retired`` takes in those who
    left; ``after`` is the cursor that the last page ended on."""

    presence: str = ""
    lifecycle: str = ""
    mode: str = ""
    node: str = ""
    attention: str = ""
    q: str = ""
    retired: bool = False
    sort: str = ""
    after: str = ""
    limit: int = 100

    @property
    def order(self) -> Order:
        return order(self.sort)

    def matches(self, row: rows.Row) -> bool:
        """Whether ``row`` belongs to this part, paging apart; says of one row what ``agents`` says in SQL."""
        if self.lifecycle != (row.lifecycle if self.lifecycle else "") or (
            not self.lifecycle and not self.retired and row.lifecycle == states.RETIRED
        ):
            return False
        if not (row.presence.word == self.presence if self.presence in states.PRESENCES else row.listed):
            return False
        if self.presence == "disabled" and row.enabled:
            return False
        found = self.q.lower() in row.id or self.q.lower() in row.display_name.lower()
        return (
            found
            and self.mode in ("", row.mode)
            and self.node in ("", row.home_node)
            and self.attention in ("", row.attention)
        )

    def agents(self, now: datetime) -> QuerySet[Agent]:
        """The rows of this part, paging apart, each with its ``word``."""
        chosen = Agent.objects.select_related("home_node").annotate(word=presence_word(now))
        if self.lifecycle:
            chosen = chosen.filter(lifecycle=self.lifecycle)
        elif not self.retired:
            chosen = chosen.exclude(lifecycle=states.RETIRED)
        if self.presence in states.PRESENCES:
            chosen = chosen.filter(word=self.presence)
        else:
            chosen = chosen.filter(is_listed(now))
        if self.presence == "disabled":
            chosen = chosen.filter(enabled=False)
        if self.attention:
            urgent = is_urgent() if self.attention == "high" else ~is_urgent()
            chosen = chosen.alias(says=SAYS).filter(urgent)
        if self.mode:
            chosen = chosen.filter(liveness_mode=self.mode)
        if self.node:
            chosen = chosen.filter(home_node__slug=self.node)
        return chosen.filter(self._named()) if self.q else chosen

    def _named(self) -> Q:
        titled = Exists(Profile.objects.filter(slug=OuterRef("slug"), title__icontains=self.q))
        # the name as rows.of_agent shows it
        return Q(slug__contains=self.q.lower()) | Q(display_name__icontains=self.q) | Q(display_name="") & titled


@dataclass(frozen=True, slots=True)
class Page:
    """A page of the fleet in its order. ``next`` is the cursor of the following page, ``version`` the roster's and
    ``profiles`` that of the profiles."""

    rows: list[rows.Row]
    next: str | None
    version: int
    profiles: int


def page(selection: Selection, now: datetime) -> Page:
    """The agents of ``selection``: registry rows, and profiles that no row stands for (R37)."""
    version, profiles_version = directory.versions()
    profiles, order, limit = directory.at(profiles_version), selection.order, selection.limit
    agents = order.after(selection.agents(now), selection.after).order_by(*order.columns)
    found = select(agents[: limit + 1], now, profiles)
    begin, end = order.cursor_key(selection.after), order.key(found[-1]) if len(found) > limit else None
    here = [slug for slug in strays(profiles) if _between(begin, order.key_of(None, slug), end)]
    found += filter(selection.matches, (rows.of_profile(profiles.by_slug[slug], now) for slug in here))
    found.sort(key=order.key)
    following = order.cursor(found[limit - 1]) if len(found) > limit else None
    return Page(found[:limit], following, version, profiles_version)


def strays(profiles: directory.Directory) -> list[str]:
    """The ids of the listed profiles that have no agent row at all."""
    if not profiles.listed:
        return []
    registered = Agent.objects.filter(slug=OuterRef("slug"))
    alone = Profile.objects.filter(directory.LISTED).exclude(Exists(registered)).values_list("slug", flat=True)
    return [slug for slug in alone if slug in profiles.by_slug]


def _between(begin: tuple | None, key: tuple, end: tuple | None) -> bool:
    return (begin is None or begin < key) and (end is None or key < end)


def one(slug: str, now: datetime) -> rows.Row | None:
    """One member by id: its registry entry, else what its profile says, else None."""
    return member(slug, now)[1]


def member(slug: str, now: datetime) -> tuple[int, rows.Row | None]:
    """The roster's version, and the member ``slug`` as it is at that version or a newer one."""
    if not states.SLUG.fullmatch(slug):
        return 0, None  # no member can have it, and no database need see it
    version, profiles_version = directory.versions()
    profile = directory.at(profiles_version).by_slug.get(slug)
    agent = Agent.objects.select_related("home_node").filter(slug=slug).first()
    if agent is not None:
        return version, rows.of_agent(agent, now, profile)
    return version, rows.of_profile(profile, now) if profile else None


def changed_since(version: int, now: datetime, limit: int) -> tuple[int, list[rows.Row]]:
    """The rows that changed after ``version``, ``limit`` of them at most, and the version that this answer brings one
    to."""
    current, profiles_version = directory.versions()
    agents = Agent.objects.filter(changed__gt=version, changed__lte=current).order_by("slug")
    return current, select(agents[:limit], now, directory.at(profiles_version))


def ended_between(since: datetime, now: datetime, limit: int) -> list[rows.Row]:
    """The agents whose window ended from ``since`` to ``now``, ``limit`` of them at most. They are found by when the
    sweep looks at them next, which is never after the end of the window and, unlike it, is indexed."""
    ended = Agent.objects.filter(check_after__lte=now, deadline__gte=since, deadline__lt=now)
    return select(ended.order_by("check_after")[:limit], now)


def by_keys(keys: list[int], now: datetime) -> list[rows.Row]:
    """The rows of the agents with these primary keys."""
    return select(Agent.objects.filter(pk__in=keys), now)


def ids(limit: int) -> list[str]:
    """The first ``limit`` ids of those who are not retired."""
    employed = Agent.objects.exclude(lifecycle=states.RETIRED).order_by("slug")
    return list(employed.values_list("slug", flat=True)[:limit])
