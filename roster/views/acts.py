"""What the pages share that ask before they act: their fields, what stands in them, and where they lead back to."""

from __future__ import annotations

from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.http import url_has_allowed_host_and_scheme

from roster.errors import HubError, Invalid


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a form, what stands in it and what is wrong with that; of ``choices`` one is chosen."""

    name: str
    label: str
    text: str = ""
    error: str = ""
    must: bool = False
    choices: list[str] | None = None


def said(request: HttpRequest, name: str) -> str:
    """What was typed into the field ``name``, line ends as people mean them; no database holds a NUL."""
    return request.POST.get(name, "").replace("\0", "").replace("\r\n", "\n").strip()


def wrong(why: HubError | None, name: str) -> str:
    """What ``why`` says about the field ``name``, to stand beside it."""
    if not isinstance(why, Invalid) or why.detail["field"] != name:
        return ""
    return why.problem[:1].upper() + why.problem[1:]


def confirmed(request: HttpRequest, slug: str, what: str) -> None:
    """Raises Invalid unless the id ``slug`` of ``what`` was typed again."""
    if said(request, "confirm") != slug:
        raise Invalid("confirm", f"type '{slug}', the id of the {what}, to confirm")


def back(request: HttpRequest, default: str) -> str:
    """Where the person came from, if that is a page of ours; else ``default``."""
    target = request.POST.get("next") or request.GET.get("next") or ""
    own = url_has_allowed_host_and_scheme(target, allowed_hosts=None) and target.startswith("/")
    return target if own else default


def ask(request: HttpRequest, context: dict, why: HubError | None = None) -> HttpResponse:
    """The form; or, where ``why`` refuses the act itself and no field of it, why that is not to be had. ``context`` has
    the ``label`` of the act, ``whom`` it is about, ``impact``, ``fields``, and the address ``back``."""
    refusal = None if isinstance(why, Invalid) else why
    status = why.status if why and request.method == "POST" else 200
    return render(request, "roster/act.html", context | {"refusal": refusal}, status=status)
