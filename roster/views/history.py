"""What happened and what is wrong: two lists with filters, each with a line that tells when there is more."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from roster import queries
from roster.models import Anomaly
from roster.templatetags import told, wrong

from .around import for_role
from .asked import Asked, address

PAGE = 50  # rows a page
OPEN = 200  # open anomalies on a page; more are not read, they are filtered
DAY = timedelta(days=1)
SAID = ("presence", "activity")  # kinds that nobody does on purpose
STATES = ("open", "closed")


@require_safe
@for_role("viewer")
def events(request: HttpRequest) -> HttpResponse:
    """What happened, newest first. ``at`` is the id that the page begins with: the same for everybody it is sent to,
    whatever has happened since."""
    asked = Asked(request.GET)
    selection, at = _events(asked), asked.number("at")
    page = queries.events(selection, at, PAGE)
    if at is not None and at > page.newest:
        asked.problems.append(f"Nothing has the number {at} yet; the newest is {page.newest}.")
    here = _here(selection)
    context = {
        "nav": "events",
        "page": page,
        "filters": here | {"kinds": told.KINDS, "active": any(here.values())},
        "problems": asked.problems,
        "nobody": None if page.events else _nobody(selection.agent),
        "first_url": address("/events/", **here),
        "next_url": address("/events/", **here, at=page.next) if page.next else "",
        "newer_url": address("/events/newer/", **here, after=page.newest),
        "is_first": at is None,
    }
    return render(request, "roster/events.html", context)


@require_safe
@for_role("viewer")
def newer_events(request: HttpRequest) -> HttpResponse:
    """How many events came after the id ``after``, for the line above the list."""
    asked = Asked(request.GET)
    selection = _events(asked)
    n = queries.newer_events(selection, asked.number("after") or 0)
    context = {"n": n, "many": queries.MANY, "first_url": address("/events/", **_here(selection))}
    return render(request, "roster/_newer_events.html", context)


def _events(asked: Asked) -> queries.EventSelection:
    kind = asked.choice("kind", (queries.ACTS, *told.WHAT))
    by, begin, last = asked.text("by"), asked.day("from"), asked.day("to")
    if by and kind in SAID:
        asked.problems.append(f"“by” was left out: it finds what is done on purpose, and {kind} is not.")
        by = ""
    end = _midnight(last) + DAY if last and last < date.max else None
    return queries.EventSelection(asked.text("agent").lower(), kind, by, _midnight(begin), end)


def _midnight(day: date | None) -> datetime | None:
    return datetime.combine(day, time.min, UTC) if day else None


def _here(selection: queries.EventSelection) -> dict:
    """What the address of this selection has to say."""
    return {
        "agent": selection.agent,
        "kind": selection.kind,
        "by": selection.by,
        "from": selection.begin.date().isoformat() if selection.begin else "",
        "to": (selection.end - DAY).date().isoformat() if selection.end else "",
    }


def _nobody(slug: str) -> list[tuple[str, str]] | None:
    """Where nobody has the id ``slug``: the ids that it may have been meant for, with the address of their events."""
    if not slug or queries.agent_key(slug):
        return None
    return [(near, address("/events/", agent=near)) for near in queries.near(slug)]


@require_safe
@for_role("viewer")
def anomalies(request: HttpRequest) -> HttpResponse:
    """What is wrong now, kind by kind, and under it what was. ``at`` is the id that a later page of it begins with."""
    asked = Asked(request.GET)
    state, at = asked.choice("state", STATES), asked.number("at")
    selection = queries.AnomalySelection(asked.choice("kind", wrong.MEANINGS), asked.text("subject").lower())
    stands = queries.standing()
    wrong_now = list(selection.anomalies(is_open=True)[: OPEN + 1]) if state != "closed" and at is None else []
    was = list(selection.anomalies(is_open=False, at=at)[: PAGE + 1]) if state != "open" else []
    here = {"state": state, "kind": selection.kind, "subject": selection.subject}
    context = {
        "nav": "anomalies",
        "stands": stands,
        "groups": _by_kind(wrong_now[:OPEN]),
        "is_cut": len(wrong_now) > OPEN,
        "closed": was[:PAGE],
        "filters": here | {"kinds": wrong.MEANINGS, "states": STATES, "active": any(here.values())},
        "problems": asked.problems,
        "first_url": address("/anomalies/", **here),
        "next_url": address("/anomalies/", **here, at=was[PAGE].pk) if len(was) > PAGE else "",
        "newer_url": address("/anomalies/newer/", **here, newest=stands.newest, open=stands.n_open),
        "is_first": at is None,
    }
    return render(request, "roster/anomalies.html", context)


@require_safe
@for_role("viewer")
def newer_anomalies(request: HttpRequest) -> HttpResponse:
    """Whether an anomaly opened or closed since they stood as the address says, for the line above the list."""
    asked = Asked(request.GET)
    was = queries.Standing(asked.number("newest") or 0, asked.number("open") or 0)
    here = {name: asked.text(name) for name in ("state", "kind", "subject")}
    context = {"changed": queries.standing() != was, "first_url": address("/anomalies/", **here)}
    return render(request, "roster/_newer_anomalies.html", context)


def _by_kind(rows: list[Anomaly]) -> dict[str, list[Anomaly]]:
    """``rows`` under their kinds, in the order in which the kinds appear."""
    groups: dict[str, list[Anomaly]] = {}
    for each in rows:
        groups.setdefault(each.kind, []).append(each)
    return groups
