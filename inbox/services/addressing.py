"""To whom a send goes and as whom, looked up before anybody is locked: names to primary keys, a query or two a kind."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

from inbox import access
from inbox.letters import EVERYBODY
from inbox.models import MailGroup
from roster import queries, states
from roster.errors import HubError, NotFound
from roster.models import Agent
from roster.services.batch import among

HINTED = 20  # unknown ids that a refusal says a near one of


@dataclass(frozen=True, slots=True)
class Aim:
    """The sender's primary key, and the recipients' with how each was addressed."""

    sender: int
    recipients: dict[int, str]


def aims(group: list) -> list[Aim | HubError]:
    """Where each of a group of ``sending.Outgoing`` is aimed; a refusal where it cannot be."""
    by_token = [each for each in group if each.sender is None]
    found = dict(zip(map(id, by_token), access.senders([(each.digest, each.slug) for each in by_token]), strict=True))
    names = {name for each in group if not each.letter.many for name in each.letter.to}
    known = dict(Agent.objects.filter(slug__in=among(list(names), "text")).values_list("slug", "pk")) if names else {}
    return [_aim(each, found.get(id(each), each.sender), known) for each in group]


def _aim(outgoing, sender: int | HubError, known: dict[str, int]) -> Aim | HubError:
    if isinstance(sender, HubError):
        return sender
    try:
        return Aim(sender, _recipients(outgoing, sender, known))
    except HubError as refusal:
        return refusal


def _recipients(outgoing, sender: int, known: dict[str, int]) -> dict[int, str]:
    letter = outgoing.letter
    if not letter.many:
        if unknown := [name for name in letter.to if name not in known]:
            raise _unknown(unknown)
        return {known[name]: name for name in letter.to}
    if letter.to[0] == EVERYBODY:
        reached = Agent.objects.annotate(word=queries.presence_word(outgoing.at)).filter(word=states.LIVE)
    else:
        reached = _group(letter.group).members
    keys = reached.exclude(pk=sender).order_by("pk").values_list("pk", flat=True)
    return dict.fromkeys(keys, letter.to[0])


def _group(name: str) -> MailGroup:
    group = MailGroup.objects.filter(name=name).first()
    if group is None:
        names = MailGroup.objects.order_by("name").values_list("name", flat=True)[:50]
        raise NotFound(f"There is no group '{name[:80]}'.", code="unknown_group", groups=list(names))
    return group


def _unknown(names: list[str]) -> NotFound:
    told = [{"to": name[:80], "hint": _hint(name) if place < HINTED else None} for place, name in enumerate(names)]
    said = [f"'{each['to']}'" + (f" (did you mean '{each['hint']}'?)" if each["hint"] else "") for each in told]
    message = f"No agent has the id {', '.join(said[:HINTED])}. Nothing was sent to anybody."
    return NotFound(message, code="unknown_recipient", unknown=told)


def _hint(name: str) -> str | None:
    """An id that ``name`` was probably meant for. Letters that only look alike are another name (F074)."""
    plain = unicodedata.normalize("NFKC", name).strip().casefold()
    if not plain.isascii():
        return None
    return plain if Agent.objects.filter(slug=plain[:64]).exists() else next(iter(queries.near(plain, 1)), None)
