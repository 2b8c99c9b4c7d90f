"""The fleet as lists: a part of it page by page, what changed, and one member."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Exists, OuterRef, Q, QuerySet

from roster import directory, rows, states
from roster.models import Agent, Profile

from .words import is_listed, presence_word


@dataclass(frozen=True, slots=True)
class Selection:
    """Which part of the fleet is asked for. Empty strings mean any; ``after`` is the id that the last page ended on."""

    presence: str = ""
    lifecycle: str = ""
    mode: str = ""
    node: str = ""
    q: str = ""
    after: str = ""
    limit: int = 100

    def matches(self, row: rows.Row) -> bool:
        """Whether ``row`` belongs to this part, paging apart; says of one row what ``agents`` says in SQL."""
        if self.lifecycle != (row.lifecycle if self.lifecycle else "") or (
            not self.lifecycle and row.lifecycle == states.RETIRED
        ):
            return False
        if not (row.presence.word == self.presence if self.presence in states.PRESENCES else row.listed):
            return False
        if self.presence == "disabled" and row.enabled:
            return False
        found = self.q.lower() in row.id or self.q.lower() in row.display_name.lower()
        return found and self.mode in ("", row.mode) and self.node in ("", row.home_node)

    def agents(self, now: datetime) -> QuerySet[Agent]:
        chosen = Agent.objects.select_related("home_node").annotate(word=presence_word(now))
        chosen = chosen.filter(lifecycle=self.lifecycle) if self.lifecycle else chosen.exclude(lifecycle=states.RETIRED)
        if self.presence in states.PRESENCES:
            chosen = chosen.filter(word=self.presence)
        else:
            chosen = chosen.annotate(is_listed=is_listed(now)).filter(is_listed=True)
        if self.presence == "disabled":
            chosen = chosen.filter(enabled=False)
        if self.mode:
            chosen = chosen.filter(liveness_mode=self.mode)
        if self.node:
            chosen = chosen.filter(home_node__slug=self.node)
        if self.q:
            titled = Exists(Profile.objects.filter(slug=OuterRef("slug"), title__icontains=self.q))
            named = (
                Q(display_name__icontains=self.q) | Q(display_name="") & titled
            )  # the name as rows.of_agent shows it
            chosen = chosen.filter(Q(slug__contains=self.q.lower()) | named)
        return chosen.filter(slug__gt=self.after) if self.after else chosen


@dataclass(frozen=True, slots=True)
class Page:
    """A page of the fleet in order of id. ``next`` is the cursor of the following page, ``version`` the roster's and
    ``profiles`` that of the profiles."""

    rows: list[rows.Row]
    next: str | None
    version: int
    profiles: int


def page(selection: Selection, now: datetime) -> Page:
    """The agents of ``selection`` in order of id: registry rows, and profiles that no row stands for (R37)."""
    version, profiles_version = directory.versions()
    profiles = directory.at(profiles_version)
    limit = selection.limit
    found = [
        rows.of_agent(agent, now, profiles.by_slug.get(agent.slug))
        for agent in selection.agents(now).order_by("slug")[: limit + 1]
    ]
    last = found[-1].id if len(found) > limit else None
    found += [row for row in _synthesized(profiles.listed_after(selection.after), last, now) if selection.matches(row)]
    found.sort(key=lambda row: row.id)
    following = found[limit - 1].id if len(found) > limit else None
    return Page(found[:limit], following, version, profiles_version)


def _synthesized(entries: list[directory.Entry], last: str | None, now: datetime) -> list[rows.Row]:
    """Rows for the profiles up to id ``last`` that have no agent row at all."""
    near = [entry for entry in entries if last is None or entry.slug <= last]
    taken = set(Agent.objects.filter(slug__in=[entry.slug for entry in near]).values_list("slug", flat=True))
    return [rows.of_profile(entry, now) for entry in near if entry.slug not in taken]


def one(slug: str, now: datetime) -> rows.Row | None:
    """One member by id: its registry entry, else what its profile says, else None."""
    if not states.SLUG.fullmatch(slug):
        return None  # no member can have it, and no database need see it
    profile = directory.at(directory.versions()[1]).by_slug.get(slug)
    agent = Agent.objects.select_related("home_node").filter(slug=slug).first()
    if agent is not None:
        return rows.of_agent(agent, now, profile)
    return rows.of_profile(profile, now) if profile else None


def profile_key(slug: str) -> int | None:
    """The primary key of the profile ``slug``, if there is one."""
    found = directory.at(directory.versions()[1]).by_slug.get(slug)
    return found.pk if found else None


def changed_since(version: int, now: datetime) -> tuple[int, list[rows.Row]]:
    """The rows that changed after ``version``, and the version that this answer brings one to."""
    current, profiles_version = directory.versions()
    profiles = directory.at(profiles_version)
    agents = Agent.objects.select_related("home_node").filter(changed__gt=version, changed__lte=current)
    return current, [rows.of_agent(agent, now, profiles.by_slug.get(agent.slug)) for agent in agents.order_by("slug")]


def by_keys(keys: list[int], now: datetime) -> list[rows.Row]:
    """The rows of the agents with these primary keys."""
    profiles = directory.at(directory.versions()[1])
    agents = Agent.objects.select_related("home_node").filter(pk__in=keys)
    return [rows.of_agent(agent, now, profiles.by_slug.get(agent.slug)) for agent in agents]
