"""Writing a letter: the form, who would get it now and who later, and sending it once."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from inbox import access, queries, rules
from inbox.letters import Letter
from inbox.queries import Letter as Kept
from inbox.services import sending
from inbox.services.previews import Preview, preview
from inbox.services.sending import Outgoing, Sent
from inbox.showing import Desk
from roster import clock
from roster.errors import HubError
from roster.views.asked import LARGEST, Asked, address

from .desks import own_mail
from .forms import EXPIRY, Form, answer


@require_http_methods(["GET", "HEAD", "POST"])
@own_mail
def write(request: HttpRequest, desk: Desk) -> HttpResponse:
    """The form; posted, it is checked or sent. What was typed stays in it until it is sent."""
    now = clock.now()
    if request.method != "POST":
        return _page(request, desk, _fresh(Asked(request.GET), desk, now), now)
    form = Form.of(request.POST)
    if request.POST.get("act") == "check":
        return _page(request, desk, form, now)
    try:
        sent = _send(desk, form, form.letter(now), now)
    except HubError as refusal:
        form.refused(refusal)
        return _page(request, desk, form, now, status=422)
    return redirect(address(f"{desk.root}m/{sent.seq}/", box="sent", sent=form.key))


@require_safe
@own_mail
def who(request: HttpRequest, desk: Desk) -> HttpResponse:
    """Who would get a letter to ``to``, as the part of the form that says so."""
    form = Form(to=request.GET.get("to", "")[:40_000])
    return render(request, "inbox/_who.html", _expected(desk, form, clock.now()))


def _send(desk: Desk, form: Form, letter: Letter, at: datetime) -> Sent:
    """Sends it once under the key of its form. A second click comes later, so its expiry is that of the first."""
    outcome = _record(desk, form, letter, at)
    if isinstance(outcome, HubError) and outcome.code == "key_reused" and letter.expires_at:
        outcome = _record(desk, form, replace(letter, expires_at=queries.expiry(desk.agent.pk, form.key)), at)
    if isinstance(outcome, Exception):
        raise outcome
    return outcome


def _record(desk: Desk, form: Form, letter: Letter, at: datetime) -> Sent | Exception:
    return sending.record([Outgoing(letter, at, sender=desk.agent.pk, key=form.key)])[0]


def _fresh(asked: Asked, desk: Desk, now: datetime) -> Form:
    """An empty form, or the form of an answer where the address names a message that can be answered."""
    parent = _parent(desk, asked.number("reply"), now)
    if parent is None or parent.kind != rules.MAIL:
        return Form(to=asked.text("to"))
    return answer(parent, desk.agent.slug)


def _parent(desk: Desk, seq: int | None, now: datetime) -> Kept | None:
    return queries.message(access.own_view(desk.agent.pk), seq, now) if seq and seq <= LARGEST else None


def _page(request: HttpRequest, desk: Desk, form: Form, now: datetime, status: int = 200) -> HttpResponse:
    context = {
        "nav": "inbox",
        "desk": desk,
        "form": form,
        "parent": _parent(desk, form.reply, now),
        "choices": {"importance": rules.IMPORTANCE, "expires": [(key, words) for key, (words, _) in EXPIRY.items()]},
        "names": queries.names(),
        "most": rules.LARGEST_BODY,
        "now": now,
    }
    if form.to:
        context |= _expected(desk, form, now)
    if "to" in form.errors:
        context["nobody"] = ""  # it stands at the field
    return render(request, "inbox/write.html", context, status=status)


def _expected(desk: Desk, form: Form, now: datetime) -> dict:
    """Who gets it now and who later, and which names nobody has. The letter itself is not judged yet."""
    told: dict[str, Preview | str] = {"preview": None, "nobody": "", "now": now}
    if not form.to.strip():
        return told
    try:
        to, many = form.recipients()
    except HubError as refusal:
        return told | {"nobody": _said(refusal)}
    letter = Letter(to, form.body or "-", many=many)
    try:
        told["preview"] = preview(letter, desk.agent, now)
    except HubError as refusal:
        unknown = {each["to"] for each in refusal.detail.get("unknown", ())}
        known = tuple(name for name in to if name[:80] not in unknown) if unknown else ()
        told["preview"] = preview(replace(letter, to=known), desk.agent, now) if known else None
        told["nobody"] = _said(refusal)
    return told


def _said(refusal: HubError) -> str:
    """A refusal on the page of a letter that nobody tried to send yet."""
    said = refusal.message.removeprefix("to: ").removeprefix("Nothing was sent: ")
    return said[:1].upper() + said[1:]
