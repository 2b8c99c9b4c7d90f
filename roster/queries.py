"""Reads that span tables: the lists, the counts and one agent with everything about it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import BooleanField, Case, CharField, Count, Exists, F, OuterRef, Q, QuerySet, Value, When

from . import directory, rows, states
from .models import Agent, Anomaly, Event, HubUptime, Profile, SweepRun

LATE_PERIODS = 3


# ---- presence in SQL ------------------------------------------------------------------------------------------------

OUT_OF_BOUNDS = (
    ~Q(liveness_mode__in=states.MODES)
    | ~Q(expected_interval__range=(states.SHORTEST, states.LONGEST))
    | ~Q(ttl__range=(states.SHORTEST, states.LONGEST))
    | Q(expected_interval=None)
    | Q(ttl=None)
    | Q(evidence_at__isnull=False, deadline=None)
)


def presence_word(now: datetime) -> Case:
    """The word of ``states.presence`` as one SQL expression, for lists and counts (held equal by a property test)."""
    member = Exists(Profile.objects.filter(slug=OuterRef("slug"), liveness_mode__in=states.PERSISTENT))
    persistent = Q(liveness_mode__in=states.PERSISTENT)
    gone = Q(signed_off_at__gte=F("evidence_at")) | Q(deadline__lt=now)
    return Case(
        When(OUT_OF_BOUNDS, then=Value(states.UNKNOWN)),
        When(Q(evidence_at=None) & (persistent | member), then=Value(states.DORMANT)),
        When(Q(evidence_at=None), then=Value(states.UNKNOWN)),
        When(gone & Q(liveness_mode=states.ASYNC), then=Value(states.DORMANT)),
        When(gone & Q(liveness_mode=states.ALWAYS_ON), then=Value(states.SILENT)),
        When(gone & member, then=Value(states.DORMANT)),
        When(gone, then=Value(states.EXPIRED)),
        default=Value(states.LIVE),
        output_field=CharField(),
    )


def is_listed(now: datetime) -> Case:
    """``rows.Row.listed`` in SQL, beside the annotation ``word``."""
    never = Q(word=states.UNKNOWN, evidence_at=None) & ~OUT_OF_BOUNDS
    return Case(
        When(Q(word=states.EXPIRED) | never, then=Value(False)), default=Value(True), output_field=BooleanField()
    )


# ---- lists ----------------------------------------------------------------------------------------------------------


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


# ---- counts, needs, notices -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Tally:
    word: str
    n: int


SHOWN_WORDS = (states.LIVE, states.SILENT, states.DORMANT, states.UNKNOWN, "disabled")


def counts(now: datetime) -> list[Tally]:
    """How many listed agents there are of each word; a disabled one counts as disabled, not by its presence."""
    listed = Selection().agents(now)
    found = dict.fromkeys(SHOWN_WORDS, 0)
    for word, enabled, n in listed.values_list("word", "enabled").annotate(n=Count("pk")).order_by():
        found[word if enabled else "disabled"] += n
    profiles = directory.at(directory.versions()[1])
    for row in _synthesized(profiles.listed_after(""), None, now):
        found[row.sign] += 1
    return [Tally(word, found[word]) for word in SHOWN_WORDS]


NEEDS = 20  # of each kind; a list that is longer is not read


@dataclass(frozen=True, slots=True)
class Need:
    row: rows.Row
    text: str
    since: datetime | None


def needs_you(now: datetime) -> list[Need]:
    """Who needs a person, most urgent first, then oldest: who is silent, says error, or shares an identity."""
    profiles = directory.at(directory.versions()[1])

    def row(agent: Agent) -> rows.Row:
        return rows.of_agent(agent, now, profiles.by_slug.get(agent.slug))

    enabled = Selection().agents(now).filter(enabled=True)
    silent = [row(each) for each in enabled.filter(word=states.SILENT).order_by("deadline")[:NEEDS]]
    failing = [row(each) for each in enabled.filter(word=states.LIVE, status__iexact="error").order_by("pk")[:NEEDS]]
    twins = Anomaly.objects.filter(closed_at=None, kind="duplicate_sessions").select_related("agent__home_node")
    twins = twins.exclude(agent__lifecycle=states.RETIRED)
    needs = [Need(each, "silent, though it should always be on", each.presence.since) for each in silent]
    needs += [Need(each, "says error", each.activity.as_of) for each in failing]
    needs += [Need(row(each.agent), _twins(each), each.opened_at) for each in twins.order_by("opened_at")[:NEEDS]]
    return sorted(needs, key=lambda need: (need.row.attention != "high", need.since or now))


def _twins(anomaly: Anomaly) -> str:
    sessions = anomaly.evidence["sessions"]
    hosts = ", ".join(sorted({each["host"] or "an unnamed host" for each in sessions}))
    return f"duplicate sessions: {len(sessions)} ({hosts})"


def held_back(now: datetime, limit: int = 50) -> list[rows.Row]:
    """Those whose computed word is not live while their last recorded edge still says so."""
    profiles = directory.at(directory.versions()[1])
    waiting = Agent.objects.select_related("home_node").annotate(word=presence_word(now)).filter(recorded=states.LIVE)
    waiting = waiting.exclude(word=states.LIVE).order_by("slug")[:limit]
    return [rows.of_agent(agent, now, profiles.by_slug.get(agent.slug)) for agent in waiting]


def late_sweeps(periods: dict[str, timedelta], now: datetime) -> dict[str, datetime]:
    """The sweeps that are three periods late, and when each last ran (or when it should have begun to)."""
    up = HubUptime.objects.order_by("-id").first()
    late = {}
    for name, period in periods.items():  # a seek in the index each, where one grouped query would read a week of runs
        ran = SweepRun.objects.filter(name=name).order_by("-started_at").values_list("started_at", flat=True).first()
        since = max(filter(None, (ran, up and up.up_at)), default=now)
        if now - since > LATE_PERIODS * period:
            late[name] = since
    return late


def last_outage(now: datetime, shown_for: timedelta = timedelta(hours=24)) -> HubUptime | None:
    """The newest outage worth telling about, while it is recent."""
    recent = HubUptime.objects.filter(down_at__isnull=False, up_at__gt=now - shown_for).order_by("-id")
    return next((each for each in recent[:10] if each.up_at - each.down_at >= timedelta(minutes=1)), None)


def events_of(slug: str, limit: int = 50) -> list[Event]:
    return list(Event.objects.filter(agent__slug=slug).select_related("agent").order_by("-id")[:limit])
