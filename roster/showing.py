"""What the pages show, gathered once for the page and for the socket: the same contexts, the same templates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from urllib.parse import urlencode

from django.conf import settings
from django.template.loader import get_template
from django.utils.safestring import mark_safe
from markdown_it import MarkdownIt

from . import clock, directory, drawing, explain, plans, queries, rows, states, timeline
from .glance import Glance, glance
from .models import Agent, Event, HubUptime, Profile
from .queries import employment as conduct
from .queries.staff import employed

PAGE = 50  # rows a page
LISTED, DRAWN = 50, 200  # of an agent's newest events: in the list, and for its timeline
CHOICES = {
    "presence": (*states.PRESENCES, "disabled"),
    "mode": states.MODES,
    "attention": states.ATTENTIONS,
    "lifecycle": states.LIFECYCLES,
    "sort": ("seen", "-seen"),
}
FILTERS = ("presence", "attention", "mode", "node", "lifecycle", "retired", "q")
# Raw HTML stays text and only http, https and mailto links are made: a profile is written by an agent (P67).
_markdown = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")


def _below_the_page(state) -> None:
    """A profile's headings begin at the third level, since the page and its block have the first two."""
    for token in state.tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(int(token.tag[1]) + 2, 6)}"


_markdown.core.ruler.push("below_the_page", _below_the_page)


def selection(asked: Mapping) -> queries.Selection:
    """The part of the fleet that a page's address asks for. An unknown choice asks for nothing in particular."""

    def value(name: str) -> str:
        found = asked.get(name, "")
        return (found[0] if isinstance(found, list) else found)[:200].replace("\0", "")  # no database holds a NUL

    chosen = {name: value(name) if value(name) in allowed else "" for name, allowed in CHOICES.items()}
    free = {"node": value("node"), "q": value("q").strip(), "after": value("after")}
    return queries.Selection(**chosen, **free, retired=value("retired") == "1", limit=PAGE)


def asked(selection: queries.Selection) -> dict[str, str]:
    """What the address of this part of the fleet has to say, paging apart."""
    told = {name: getattr(selection, name) for name in (*FILTERS, "sort")} | {
        "retired": "1" if selection.retired else ""
    }
    return {name: value for name, value in told.items() if value}


def beside(selection: queries.Selection, page: queries.Page) -> dict:
    """Where the links under ``page`` lead."""
    here = asked(selection)
    return {
        "next_url": f"/?{urlencode(here | {'after': page.next})}" if page.next else None,
        "first_url": f"/?{urlencode(here)}" if selection.after else None,
    }


def above(seen: Glance, now: datetime) -> dict:
    """What stands above the roster: counts, who needs a person, notices, the last 24 hours."""
    return {"glance": seen, "notices": seen.notices, "columns": drawing.band(seen.hours), "now": now}


_openings: dict[str, tuple[int, Glance, str]] = {}


def opening(version: int) -> str:
    """The end of the first message to a page: everything above its rows, and the cursor. Rendered once a version and
    glance."""
    now = clock.now()
    seen, kept = glance(version, now), _openings.get("roster")
    if not (kept and kept[0] == version and kept[1] is seen):
        kept = _openings["roster"] = (version, seen, _message(above(seen, now), version, now))
    return kept[2]


def tail(version: int, told: Glance | None) -> tuple[Glance, str]:
    """The present glance, and the end of a message to pages that show ``told``: what differs above their rows, and the
    cursor."""
    now = clock.now()
    seen, parts = glance(version, now), {}
    if told is None or not seen.shows_the_same(told):
        parts = above(seen, now)
    if told is not None and seen.hours == told.hours:
        parts.pop("columns", None)  # the band is long, and moves once in minutes
    return seen, _message(parts, version, now)


def _message(parts: dict, version: int, now: datetime) -> str:
    return get_template("live/roster_message.html").render(parts | {"rev": version, "now": now})


@dataclass(frozen=True, slots=True)
class ShownProfile:
    pk: int
    title: str
    role: str
    capabilities: list
    contact: str
    public: bool
    path: str
    html: str
    parse_error: str
    updated_at: datetime
    updated_by: str


def profile(slug: str) -> ShownProfile | None:
    found = Profile.objects.filter(slug=slug).first()
    if found is None:
        return None
    html = mark_safe(_markdown.render(found.body))  # noqa: S308  the renderer escapes raw HTML, see above
    return ShownProfile(
        found.pk, found.title, found.role, found.capabilities, found.contact, found.public, found.path, html,
        found.parse_error, found.updated_at, found.updated_by,
    )  # fmt: skip


def agent(row: rows.Row, version: int, now: datetime) -> dict:
    """Everything the agent page shows of ``row``, which was read when the roster stood at ``version``."""
    events = queries.events_of(row, DRAWN)
    return last_day(row, events, now) | {
        "row": row,
        "profile": profile(row.id),
        "explain": explain.questions(row),
        "events": events[:LISTED],
        **_employed(row, now),
        "rev": version,
        "now": now,
    }


def _employed(row: rows.Row, now: datetime) -> dict:
    """How an agent in the registry is employed, and what it was warned of; nothing of a person."""
    if not row.registered or row.modality == "human":
        return {"employment": None, "warnings": []}
    key = Agent(pk=row.pk, slug=row.id)
    return {
        "employment": employed(row.id, plans.TOOLS, now, settings.WARNING_AGE),
        "warnings": conduct.warnings(key, now, settings.WARNING_AGE),
    }


def last_day(row: rows.Row, events: list[Event], now: datetime) -> dict:
    """The lanes of the last 24 hours that hold anything. ``events`` are the newest ones, newest first; where they do
    not reach back so far, ``drawn_since`` is when they begin."""
    start, told = now - timeline.DAY, events[::-1]
    presence = timeline.presence(told, row.presence, start, now)
    segments = {
        "presence": presence,
        "doing": timeline.activity(told, row.activity, row.task, presence, start, now),
        "switch": timeline.spans(_disabled(row, now), start, now),
        "hub": timeline.spans(map(_away, queries.outages(start)), start, now) if presence else [],
    }
    cut = len(events) == DRAWN and events[-1].at > start
    return {
        "lanes": [drawing.lane(name, found, start, now) for name, found in segments.items() if found],
        "drawn_since": events[-1].at if cut else None,
    }


def _disabled(row: rows.Row, now: datetime) -> list[timeline.Segment]:
    off = row.disabled
    return [timeline.Segment(off.since, now, "disabled", by=off.by, reason=off.reason)] if off and off.since else []


def _away(outage: HubUptime) -> timeline.Segment:
    return timeline.Segment(outage.down_at, outage.up_at, "away", reason="the hub was not running and heard nobody")


@dataclass(frozen=True, slots=True)
class _Message:
    version: int
    notices: list
    at: datetime
    text: str


_messages: dict[int, _Message] = {}
SHARED = timedelta(seconds=1)  # how long one message serves all pages of the same agent
MESSAGES = 64  # kept


def agent_message(pk: int) -> str:
    """The live parts of the page of the agent with key ``pk``, rendered once for all who look at it."""
    now, version = clock.now(), directory.versions()[0]
    above, kept = glance(version, now).notices, _messages.get(pk)
    if kept and (kept.version, kept.notices) == (version, above) and abs(now - kept.at) < SHARED:
        return kept.text
    slug = Agent.objects.values_list("slug", flat=True).get(pk=pk)
    context = agent(queries.one(slug, now), version, now) | {"notices": above}
    text = get_template("live/agent_message.html").render(context)
    if len(_messages) >= MESSAGES:
        _messages.clear()
    _messages[pk] = _Message(version, above, now, text)
    return text
