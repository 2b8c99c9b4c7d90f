"""A person's own mail and, for managers, anybody's: boxes, lists, threads; and being done with messages."""

from __future__ import annotations

from datetime import datetime

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST, require_safe

from inbox import access, queries, showing
from inbox.access import View
from inbox.queries import Letter
from inbox.services import leases, looks, reading
from inbox.showing import Desk, Part, Place
from inbox.templatetags.mail import acked
from roster import clock
from roster.errors import HubError
from roster.views.asked import LARGEST, Asked

from .desks import OWN, anybodys_mail, own_mail


@require_safe
@own_mail
def own_box(request: HttpRequest, desk: Desk, box: str = "waiting") -> HttpResponse:
    return _box(request, desk, box)


@require_safe
@anybodys_mail
def others_box(request: HttpRequest, desk: Desk, box: str = "waiting") -> HttpResponse:
    return _box(request, desk, box)


def _box(request: HttpRequest, desk: Desk, box: str) -> HttpResponse:
    if box not in showing.BOXES:
        raise Http404
    asked = Asked(request.GET)
    context = showing.boxes(desk, Place(box, asked.number("before")), clock.now())
    return render(request, "inbox/mail.html", context | {"problems": asked.problems})


@require_safe
@own_mail
def own_thread(request: HttpRequest, desk: Desk, seq: int) -> HttpResponse:
    """A message in its thread. A manager may open one between others by its number too, which is recorded."""
    now = clock.now()
    for view in access.views(desk.caller):
        if letter := _letter(view, seq, now):
            if view.reader is None:
                looks.audit_message(request.user.username, seq, now)
            return _thread(request, desk, view, letter, now)
    raise Http404


@require_safe
@anybodys_mail
def others_thread(request: HttpRequest, desk: Desk, seq: int) -> HttpResponse:
    now = clock.now()
    view = View(access.own_view(desk.agent.pk).messages, None)
    letter = _letter(view, seq, now)
    if letter is None:
        raise Http404
    return _thread(request, desk, view, letter, now)


def _letter(view: View, seq: int, now: datetime) -> Letter | None:
    return queries.message(view, seq, now) if seq <= LARGEST else None


def _thread(request: HttpRequest, desk: Desk, view: View, letter: Letter, now: datetime) -> HttpResponse:
    asked = Asked(request.GET)
    place = Place(asked.choice("box", showing.BOXES) or "waiting", asked.number("before"), letter.seq)
    context = showing.boxes(desk, place, now)
    part = Part(asked.number("after"), asked.number("whole"))
    context |= showing.thread(desk, place, view, letter, part, now)
    context |= {"between_others": desk.own and view.reader is None, "problems": asked.problems}
    context["receipt"] = showing.receipt(desk, asked.text("sent"), letter.seq)
    return render(request, "inbox/mail.html", context)


@require_POST
@own_mail
def act(request: HttpRequest, desk: Desk) -> HttpResponse:
    """Is done with the messages of the form, or marks them read: its button says which."""
    seqs = [int(each) for each in request.POST.getlist("seq") if each.isascii() and each.isdigit() and len(each) < 19]
    if not seqs:
        messages.info(request, "No message was ticked, so nothing was done.")
    elif request.POST.get("act") == "read":
        reading.mark(desk.agent, seqs, clock.now())
    else:
        _ack(request, desk, seqs)
    return redirect(_back(request))


def _ack(request: HttpRequest, desk: Desk, seqs: list[int]) -> None:
    try:
        results, _ = leases.ack(leases.Hand(desk.caller, desk.agent.slug, clock.now()), seqs)
    except HubError as refusal:
        messages.warning(request, refusal.message)
    else:
        messages.success(request, acked([result for _, result in results]))


def _back(request: HttpRequest) -> str:
    target = request.POST.get("next", "")
    own = url_has_allowed_host_and_scheme(target, allowed_hosts=None) and target.startswith(OWN)
    return target if own else OWN
