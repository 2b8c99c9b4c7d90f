"""What the pages show, gathered once for the page and for the socket: the same contexts, the same templates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from django.template.loader import get_template
from django.utils import timezone
from django.utils.safestring import mark_safe
from markdown_it import MarkdownIt

from . import directory, explain, queries, rows, states
from .models import Agent, Anomaly, Profile
from .plans import PERIODS
from .services import guard

PAGE = 50  # rows a page
CHOICES = {
    "presence": (*states.PRESENCES, "disabled"),
    "mode": states.MODES,
    "lifecycle": states.LIFECYCLES,
}
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
    return queries.Selection(**chosen, node=value("node"), q=value("q").strip(), after=value("after"), limit=PAGE)


@dataclass(frozen=True, slots=True)
class Notice:
    """A line above the page. ``release`` offers a manager the button that lets held edges go."""

    level: str
    key: str
    text: str
    since: datetime | None = None
    release: bool = False


def notices(now: datetime) -> list[Notice]:
    """What everybody who looks at a page has to know about the hub itself."""
    found = [
        Notice("alarm", f"sweep-{name}", f"The sweep {name} is late. Presence shown here is still right.", since)
        for name, since in queries.late_sweeps(PERIODS, now).items()
    ]
    for held in Anomaly.objects.filter(kind=guard.KIND, closed_at=None):
        text = (
            f"{held.evidence['would_flip']} of {held.evidence['live']} live agents went silent at once: suspected "
            "hub-side fault. What is shown is computed and right; recording and announcing it is held for a while."
        )
        found.append(Notice("alarm", "held", text, held.opened_at, release="released_by" not in held.evidence))
    if down := queries.last_outage(now):
        text = f"The hub was down {down.down_at:%H:%M}–{down.up_at:%H:%M} UTC; nobody's silence in it was counted."
        found.append(Notice("info", "outage", text))
    return found


def summary(now: datetime) -> dict:
    counts = queries.counts(now)
    return {"counts": counts, "needs_you": queries.needs_you(now), "total": sum(count.n for count in counts)}


_tails: dict[str, tuple[int, datetime, str]] = {}
TAIL_AGE = 5  # seconds a rendered summary may be old


def tail(version: int, *, fresh: bool = False) -> str:
    """The end of a roster message: summary, notices and the new cursor. Rendered once a version and process, and anew
    when it must be ``fresh``."""
    now = timezone.now()
    kept = _tails.get("roster")
    if not fresh and kept and kept[0] == version and abs((now - kept[1]).total_seconds()) < TAIL_AGE:
        return kept[2]
    context = {"summary": summary(now), "notices": notices(now), "rev": version, "now": now}
    _tails["roster"] = (version, now, get_template("live/roster_message.html").render(context))
    return _tails["roster"][2]


@dataclass(frozen=True, slots=True)
class ShownProfile:
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
        found.title, found.role, found.capabilities, found.contact, found.public, found.path, html,
        found.parse_error, found.updated_at, found.updated_by,
    )  # fmt: skip


def agent(row: rows.Row, now: datetime) -> dict:
    """Everything the agent page shows."""
    return {
        "row": row,
        "profile": profile(row.id),
        "explain": explain.questions(row),
        "events": queries.events_of(row.id),
        "rev": directory.versions()[0],
        "now": now,
    }


def agent_message(pk: int) -> str:
    """The live parts of the page of the agent with key ``pk``."""
    now = timezone.now()
    slug = Agent.objects.values_list("slug", flat=True).get(pk=pk)
    context = agent(queries.one(slug, now), now) | {"notices": notices(now)}
    return get_template("live/agent_message.html").render(context)
