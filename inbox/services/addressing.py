"""To whom a send goes and as whom, looked up before anybody is locked: names to primary keys, a query or two a kind."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from inbox import access
from inbox.letters import EVERYBODY
from inbox.models import MailGroup
from roster import directory, queries, states
from roster.errors import HubError, NotFound
from roster.models import Agent
from roster.services import registry
from roster.services.batch import among

HINTED = 20  # unknown ids that a refusal says a near one of


@dataclass(frozen=True, slots=True)
class Aim:
    """The sender's primary key, and the recipients' with how each was addressed; ``entered`` are those of them that had
    only a profile until now. ``refusal`` is why nobody can be aimed at: it waits, since a letter that comes again under
    its key is answered as before whatever became of its recipients."""

    sender: int
    recipients: dict[int, str]
    entered: tuple[int, ...] = ()
    refusal: HubError | None = None


def aims(group: list) -> list[Aim | HubError]:
    """Where each of a group of ``sending.Outgoing`` is aimed; a refusal where its caller may write as nobody."""
    by_token = [each for each in group if each.sender is None]
    found = dict(zip(map(id, by_token), access.senders([(each.digest, each.slug) for each in by_token]), strict=True))
    names = {name for each in group if not each.letter.many for name in each.letter.to}
    known = _known(names)
    senders = [found.get(id(each), each.sender) for each in group]
    entered = _entered([each for each, sender in zip(group, senders, strict=True) if isinstance(sender, int)], known)
    return [_aim(each, sender, known, entered) for each, sender in zip(group, senders, strict=True)]


def foreseen(outgoing) -> tuple[dict[int, str], list[str]]:
    """Whom a letter would go to, with nobody entered for it: primary keys with how each would be addressed, and the
    members that only have a profile. Raises the refusal of a name that nobody has."""
    names = set() if outgoing.letter.many else set(outgoing.letter.to)
    known = _known(names)
    members = {name: -place for place, name in enumerate(sorted(_members(names - known.keys())), 1)}
    found = _recipients(outgoing, outgoing.sender, known | members)
    return {pk: how for pk, how in found.items() if pk > 0}, list(members)


def targets(asked: Collection[tuple[str, bool]], at: datetime) -> tuple[dict[tuple[str, bool], int], set[int]]:
    """The primary keys of those that are ``asked``, by their id and whether a node's own agent is meant; nobody is left
    out who has only a profile until now: the second are those who were entered for it."""
    names = {name for name, _ in asked}
    rows = Agent.objects.filter(slug__in=among(list(names), "text")).values_list("slug", "pk", "kind")
    known = {slug: (pk, kind) for slug, pk, kind in rows}
    members = _members({name for name, of_node in asked if not of_node} - known.keys())
    profiles = directory.at(directory.versions()[1]).by_slug if members else {}
    found = registry.enter_members([profiles[name] for name in members], at)
    known |= {agent.slug: (agent.pk, agent.kind) for agent, _ in found}
    keys = {(name, of_node): known[name][0] for name, of_node in asked
            if name in known and not (of_node and known[name][1] != "node")}  # fmt: skip
    return keys, {agent.pk for agent, is_new in found if is_new}


def nobody(name: str, *, of_node: bool) -> NotFound:
    """The refusal of a prompt to who is not there."""
    if of_node:
        return NotFound(f"No node has the id '{name[:80]}'.")
    return NotFound(f"There is no agent {doubted(name[:80], hint(name))}.")


def _known(names: set[str]) -> dict[str, int]:
    """The primary keys of the agents that have one of ``names``."""
    return dict(Agent.objects.filter(slug__in=among(list(names), "text")).values_list("slug", "pk")) if names else {}


def _members(names: set[str]) -> set[str]:
    """Those of ``names`` that are members by their profile, which mail waits for."""
    profiles = directory.at(directory.versions()[1]).by_slug if names else {}
    return {name for name in names if name in profiles and profiles[name].mode in states.PERSISTENT}


def _entered(group: list, known: dict[str, int]) -> set[int]:
    """Gives the members that ``group`` writes to and that only have a profile a row, at which their mail waits (R72),
    and makes them ``known``. Nobody is entered for a letter that names an unknown id as well. Returns the new keys."""
    named = [set(each.letter.to) for each in group if not each.letter.many]
    strangers = set().union(*named) - known.keys()
    if not strangers:
        return set()
    members = _members(strangers)
    profiles = directory.at(directory.versions()[1]).by_slug
    wanted = set().union(*(names & members for names in named if names - known.keys() <= members))
    found = registry.enter_members([profiles[name] for name in wanted], group[0].at)
    known |= {agent.slug: agent.pk for agent, _ in found}
    return {agent.pk for agent, is_new in found if is_new}


def _aim(outgoing, sender: int | HubError, known: dict[str, int], entered: set[int]) -> Aim | HubError:
    if isinstance(sender, HubError):
        return sender
    try:
        recipients = _recipients(outgoing, sender, known)
    except HubError as refusal:
        return Aim(sender, {}, refusal=refusal)
    return Aim(sender, recipients, tuple(entered & recipients.keys()))


def _recipients(outgoing, sender: int, known: dict[str, int]) -> dict[int, str]:
    letter = outgoing.letter
    if not letter.many:
        if unknown := [name for name in letter.to if name not in known]:
            raise _unknown(unknown)
        return {known[name]: name for name in letter.to}
    if letter.to[0] == EVERYBODY:
        fleet = Agent.objects.exclude(lifecycle=states.RETIRED)
        reached = fleet.annotate(word=queries.presence_word(outgoing.at)).filter(word=states.LIVE)
    else:
        reached = _group(letter.group).members
    keys = reached.exclude(pk=sender).order_by("pk").values_list("pk", flat=True)
    return dict.fromkeys(keys, letter.to[0])


def _group(name: str) -> MailGroup:
    group = MailGroup.objects.filter(name=name).first()
    if group is None:
        names = MailGroup.objects.order_by("name").values_list("name", flat=True)[:50]
        raise NotFound(f"Nothing was sent: there is no group '{name[:80]}'.", code="unknown_group", groups=list(names))
    return group


def _unknown(names: list[str]) -> NotFound:
    told = [{"to": name[:80], "hint": hint(name) if place < HINTED else None} for place, name in enumerate(names)]
    said = [doubted(each["to"], each["hint"]) for each in told]
    more = f" and {len(said) - HINTED} more" if len(said) > HINTED else ""
    message = f"Nothing was sent: there is no agent {', '.join(said[:HINTED])}{more}."
    return NotFound(message, code="unknown_recipient", unknown=told)


def doubted(name: str, near: str | None) -> str:
    """A name that nobody has, in quotes, with a ``near`` one if there is any."""
    return f"'{name}'" + (f" (did you mean '{near}'?)" if near else "")


def hint(name: str) -> str | None:
    """An id that ``name`` was probably meant for. Letters that only look alike are another name (F074)."""
    plain = unicodedata.normalize("NFKC", name).strip().casefold()
    if not plain.isascii():
        return None
    if Agent.objects.filter(slug=plain).exists():
        return plain
    return next((near for near in queries.near(plain, 2) if near != name), None)
