"""The fleet at a glance: how many of each word, now and hour by hour, who needs a person, whose edges are held."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.db.models import Count

from roster import directory, rows, states
from roster.models import Agent, Anomaly, PresenceHour
from roster.selector import select

from .lists import Selection, strays
from .words import SAYS, is_urgent, presence_word

LISTED_WORDS = (states.LIVE, states.SILENT, states.DORMANT, states.UNKNOWN)
DISABLED = "disabled"  # another axis: who is disabled has a presence as well, and counts there too
SHOWN_WORDS = (*LISTED_WORDS, DISABLED)
HOURS = 24  # of the band
NEEDS = 20  # of each kind; a list that is longer is not read


@dataclass(frozen=True, slots=True)
class Tally:
    word: str
    n: int


def total(tallies: Iterable[Tally]) -> int:
    """How many agents ``tallies`` count: each has one presence."""
    return sum(tally.n for tally in tallies if tally.word != DISABLED)


def counts(now: datetime) -> list[Tally]:
    """How many listed agents there are of each presence, and how many are disabled, whatever their presence."""
    listed = Selection().agents(now)
    found = dict.fromkeys(SHOWN_WORDS, 0)
    for word, enabled, n in listed.values_list("word", "enabled").annotate(n=Count("pk")).order_by():
        found[word] += n
        found[DISABLED] += 0 if enabled else n
    profiles = directory.at(directory.versions()[1])
    for slug in strays(profiles):
        found[rows.of_profile(profiles.by_slug[slug], now).presence.word] += 1
    return [Tally(word, found[word]) for word in SHOWN_WORDS]


@dataclass(frozen=True, slots=True)
class Hour:
    """One hour of the band: its begin, its counts by word when it was last counted, and when that was. An hour that
    nobody counted has none."""

    begin: datetime
    counts: tuple[Tally, ...] = ()
    counted_at: datetime | None = None

    @property
    def end(self) -> datetime:
        return self.begin + timedelta(hours=1)

    @property
    def total(self) -> int:
        return total(self.counts)


def last_hours(now: datetime) -> list[Hour]:
    """The last 24 hours, oldest first, the present one included."""
    present = now.replace(minute=0, second=0, microsecond=0)
    begins = [present - timedelta(hours=back) for back in reversed(range(HOURS))]
    counted = {row.hour: row for row in PresenceHour.objects.filter(hour__range=(begins[0], present))}
    return [_hour(begin, counted.get(begin)) for begin in begins]


def _hour(begin: datetime, row: PresenceHour | None) -> Hour:
    if row is None:
        return Hour(begin)
    return Hour(begin, tuple(Tally(word, getattr(row, word)) for word in SHOWN_WORDS), row.counted_at)


@dataclass(frozen=True, slots=True)
class Need:
    """Somebody who needs a person. ``key`` names the need itself, so that a page can tell a new one from an old one."""

    key: str
    row: rows.Row = field(compare=False)
    text: str
    since: datetime | None


def needs_you(now: datetime) -> list[Need]:
    """Who needs a person, most urgent first, then oldest: who says error, is silent, or shares an identity."""
    profiles = directory.at(directory.versions()[1])

    def need(kind: str, who: rows.Row, text: str, since: datetime | None) -> Need:
        return Need(f"{kind}-{who.dom_id}", who, text, since)

    enabled = Selection().agents(now).filter(enabled=True)
    silent = enabled.filter(liveness_mode=states.ALWAYS_ON, word=states.SILENT).order_by("deadline")[:NEEDS]
    urgent = enabled.alias(says=SAYS).filter(is_urgent(), word=states.LIVE).order_by("activity_since", "pk")[:NEEDS]
    wrong = Anomaly.objects.filter(closed_at=None, kind__in=WRONG).exclude(agent__lifecycle=states.RETIRED)
    wrong = wrong.order_by("opened_at")[:NEEDS]
    whose = Agent.objects.filter(pk__in=[each.agent_id for each in wrong])
    who = {row.pk: row for row in select(whose, now, profiles)} if wrong else {}
    needs = [
        need("silent", each, "silent, though it should always be on", each.presence.since)
        for each in select(silent, now, profiles)
    ]
    needs += [need("says", each, f"says {_claim(each)}", each.activity.since) for each in select(urgent, now, profiles)]
    needs += [need(each.kind, who[each.agent_id], WRONG[each.kind](each), each.opened_at) for each in wrong]
    return sorted(needs, key=lambda need: (need.row.attention != "high", need.since or now))


def _claim(row: rows.Row) -> str:
    return f"{row.activity.value}: {row.task}" if row.task else row.activity.value


def _twins(anomaly: Anomaly) -> str:
    sessions = anomaly.evidence["sessions"]
    hosts = ", ".join(sorted({each["host"] or "an unnamed host" for each in sessions}))
    return f"duplicate sessions: {len(sessions)} ({hosts})"


def _dismissal(anomaly: Anomaly) -> str:
    return f"dismissal proposed: {', '.join(anomaly.evidence['rules'])}"


# the anomalies that are about one agent and wait for a person's word, and how each is said
WRONG = {"duplicate_sessions": _twins, "dismissal_proposed": _dismissal}


def held_back(now: datetime, limit: int = 50) -> list[rows.Row]:
    """Those whose computed word is not live while their last recorded edge still says so."""
    employed = Agent.objects.exclude(lifecycle=states.RETIRED)
    waiting = employed.annotate(word=presence_word(now)).filter(recorded=states.LIVE)
    return select(waiting.exclude(word=states.LIVE).order_by("slug")[:limit], now)
