"""What the pages of mail show: boxes, lists and threads, as frozen facts for the templates."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.utils.dateparse import parse_datetime

from roster import directory
from roster.access import Caller
from roster.models import Agent
from roster.views.asked import LARGEST, address

from . import queries, rules
from .access import View
from .queries import Header, Letter, SentHeader

PAGE = 50  # messages of a list
THREAD = 20  # messages of a thread
CUT = 4_000  # characters of a body; the rest comes where it is asked for
UNREAD_IN = (*rules.PENDING, rules.DEAD)  # what somebody is done with needs no reading
# The boxes in their order: what they are called, and which state of a delivery they hold ("" for what was sent).
BOXES = {
    "waiting": ("Waiting", queries.PENDING),
    "done": ("Done", rules.ACKED),
    "dead": ("Not delivered", rules.DEAD),
    "sent": ("Sent", ""),
    "archive": ("Archive", rules.ARCHIVED),
}


@dataclass(frozen=True, slots=True)
class Desk:
    """The mail of ``agent`` on the pages below the address ``root``: the reader's ``own``, or another's for a manager,
    who looks and touches nothing. ``caller`` is the reader."""

    agent: Agent
    caller: Caller
    root: str
    own: bool = True


@dataclass(frozen=True, slots=True)
class Place:
    """Where in the boxes the reader is: which box, from which number down, and which message is open."""

    box: str = "waiting"
    before: int | None = None
    seq: int | None = None


@dataclass(frozen=True, slots=True)
class Tab:
    name: str
    label: str
    url: str
    count: int | None
    current: bool


@dataclass(frozen=True, slots=True)
class Item:
    """A line of a list: how a received message stands, or the ``tally`` of a sent one. ``who`` is None for the hub;
    ``others`` is how many more a sent message went to, ``opening`` how one without a subject begins."""

    seq: int
    url: str
    who: str | None
    subject: str
    importance: str
    at: datetime
    current: bool
    standing: Header | None = None
    unread: bool = False
    tally: dict[str, int] | None = None
    others: int = 0
    opening: str = ""


@dataclass(frozen=True, slots=True)
class Shown:
    """A message of a thread: its body as far as it is shown, how many characters are left, and how it stands in the
    inbox that the page is about, if it is there."""

    letter: Letter
    body: str
    left: int
    standing: Header | None

    @property
    def unread(self) -> bool:
        return self.standing is not None and not self.standing.read and self.standing.state in UNREAD_IN


@dataclass(frozen=True, slots=True)
class Receipt:
    """What the sender was told of one recipient when it sent."""

    to: str
    refused: bool
    code: str
    note: str
    last_seen: datetime | None


def boxes(desk: Desk, place: Place, now: datetime) -> dict:
    """The boxes, and the list of the one that is open."""
    version, (label, state) = directory.versions()[0], BOXES[place.box]
    before = place.before or LARGEST
    if state:
        found = queries.peek(desk.agent, now, state=state, before=before, limit=PAGE)
        headers, more, counts, item = found.headers, found.next, found.counts, _received
    else:
        headers, more = queries.sent(desk.agent, now, before=before, limit=PAGE)
        counts, item = queries.counts(desk.agent, now), _sent
    openings = queries.openings([each.seq for each in headers if not each.subject])
    here = box_url(desk, place.box)
    return {
        "nav": "inbox",
        "desk": desk,
        "tabs": _tabs(desk, place, counts, now),
        "box": place.box,
        "label": label,
        "items": [item(desk, place, each, openings) for each in headers],
        "list_url": address(here, before=place.before),
        "first_url": here if place.before else "",
        "next_url": address(here, before=more) if more else "",
        "live_url": f"/live/mail/{desk.agent.pk}/",
        "rev": version,
        "now": now,
    }


@dataclass(frozen=True, slots=True)
class Part:
    """Which part of a thread is shown: behind number ``after``, or where its letter is; one body ``whole``."""

    after: int | None = None
    whole: int | None = None


def thread(desk: Desk, place: Place, view: View, letter: Letter, part: Part, now: datetime) -> dict:
    """The thread of ``letter`` as far as ``view`` shows it."""
    after = _begin(view, letter) if part.after is None else part.after
    found = queries.thread(view, letter.thread, now, after=after, limit=THREAD + 1)
    letters = found[:THREAD]
    stand = queries.standing(desk.agent, [each.seq for each in letters], now)
    shown = [_shown(each, stand.get(each.seq), each.seq == part.whole) for each in letters]
    return {
        "letter": letter,
        "here": _item_url(desk, place, letter.seq),
        "letters": shown,
        "unread": [each.letter.seq for each in shown if each.unread] if desk.own else [],
        "earlier": after > 0,
        "later": letters[-1].seq if len(found) > THREAD else None,
    }


def _begin(view: View, letter: Letter) -> int:
    """Behind which number a thread is shown so that ``letter`` is on the page: all of it, or from the letter on."""
    before = view.messages.filter(thread=letter.thread, pk__lt=letter.seq)
    return 0 if before.count() < THREAD else letter.seq - 1


def receipt(desk: Desk, key: str, seq: int) -> list[Receipt]:
    """What the reader was told when they sent message ``seq`` under ``key``."""
    found = queries.receipt(desk.agent.pk, key) if key and desk.own else None
    lines = found[1] if found and found[0] == seq else []
    return [
        Receipt(
            line["to"],
            line["state"] == "refused",
            line["code"],
            line["note"].removeprefix("not sent: "),
            _moment(line["last_seen"]),
        )
        for line in lines
    ]


def _moment(stamp: str | None) -> datetime | None:
    return parse_datetime(stamp) if stamp else None


def box_url(desk: Desk, box: str) -> str:
    return desk.root if box == "waiting" else f"{desk.root}{box}/"


def _tabs(desk: Desk, place: Place, counts: dict[str, int], now: datetime) -> list[Tab]:
    """What one reads oneself is counted until it was read where nobody can be done with it any more."""
    dead = counts[rules.DEAD]
    told = {
        "waiting": counts[rules.WAITING] + counts[rules.LEASED],
        "dead": queries.unread_dead(desk.agent, now) if desk.own and dead else dead,
    }
    return [
        Tab(name, label, box_url(desk, name), told.get(name), name == place.box) for name, (label, _) in BOXES.items()
    ]


def _item_url(desk: Desk, place: Place, seq: int) -> str:
    box = "" if place.box == "waiting" else place.box
    return address(f"{desk.root}m/{seq}/", box=box, before=place.before)


def _received(desk: Desk, place: Place, each: Header, openings: dict[int, str]) -> Item:
    return Item(
        each.seq, _item_url(desk, place, each.seq), each.sender, each.subject, each.importance, each.sent_at,
        each.seq == place.seq, standing=each, unread=desk.own and not each.read and each.state in UNREAD_IN, opening=openings.get(each.seq, ""),
    )  # fmt: skip


def _sent(desk: Desk, place: Place, each: SentHeader, openings: dict[int, str]) -> Item:
    return Item(
        each.seq, _item_url(desk, place, each.seq), each.to, each.subject, each.importance, each.sent_at,
        each.seq == place.seq, tally=each.tally, others=each.others, opening=openings.get(each.seq, ""),
    )  # fmt: skip


def _shown(letter: Letter, standing: Header | None, whole: bool) -> Shown:
    body = letter.body if whole else letter.body[:CUT]
    return Shown(letter, body, len(letter.body) - len(body), standing)
