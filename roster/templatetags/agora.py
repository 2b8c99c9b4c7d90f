"""How the pages say times, spans, sources and foreign text: small, pure, the same on every page and in every push."""

import re
from datetime import UTC, datetime

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from roster import clock, explain, queries, rows

register = template.Library()

SIGNS = frozenset({"live", "silent", "dormant", "expired", "unknown", "disabled"})

SOURCES = {
    "agent_record": "a record it wrote",
    "plugin": "its plugin",
    "hook": "a hook in its tool",
    "registry": "the registry",
    "wrapper": "the wrapper around it",
    "title": "its window title",
    "screen": "its screen",
    "process": "a process its node saw",
    "heartbeat": "its heartbeat",
    "own_call": "a call it made",
    "kb_profile": "its profile",
}

MINUTE, HOUR, DAY = 60, 3600, 86400

# Characters that hide, reorder or break a line: control codes, direction marks, line separators, lone surrogates and
# the invisible "tag" block. Joiners stay: scripts and emoji need them.
UNSEEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff\U000e0000-\U000e007f]"
)
TITLE_LIMIT = 2000
KEPT = re.compile(r"([\n\t])")
STAMP = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z)")


def visible(text: str) -> str:
    """Return text with every unseen character replaced by a symbol one can see."""
    return UNSEEN.sub(lambda match: _symbol(ord(match[0])), text)


def _symbol(code: int) -> str:
    if code < 0x20:
        return chr(0x2400 + code)
    return "\u2421" if code == 0x7F else "\ufffd"


@register.filter
def plain(value: object, limit: int = 0) -> SafeString:
    """Show foreign text harmlessly: escaped, its direction isolated, unseen characters visible, cut at `limit`.

    `limit` is a number of characters, 0 for no cut; what was cut stays readable in the title.
    """
    text = visible("" if value is None else str(value))
    if not limit or len(text) <= limit:
        return format_html("<bdi>{}</bdi>", text)
    return format_html('<bdi title="{}">{}…</bdi>', text[:TITLE_LIMIT], text[: limit - 1].rstrip())


@register.filter
def written(body: str) -> SafeString:
    """The text of a message: its own line breaks and tabs, every other unseen character made visible, nothing acting."""
    text = body.replace("\r\n", "\n")
    return format_html("{}", "".join(part if KEPT.fullmatch(part) else visible(part) for part in KEPT.split(text)))


@register.filter
def spaced(name: object) -> str:
    """Say a name of the hub's own, such as an event's kind, with spaces."""
    return str(name).replace("_", " ")


@register.filter
def facts(value: object) -> str:
    """Say a recorded value in one line: a mapping as "name value, name value", nothing as "none"."""
    if isinstance(value, dict):
        return ", ".join(f"{spaced(name)} {facts(held)}" for name, held in value.items())
    if isinstance(value, list | tuple) and value:
        return ", ".join(map(facts, value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "none" if value in (None, "", [], ()) else str(value)


@register.filter
def duration(seconds: float | None) -> str:
    """Say a span given in seconds in at most two units: "30 min", "1 h 30 min". Nothing given reads as a dash."""
    if seconds is None:
        return "–"
    left = round(abs(seconds))
    units = [("d", DAY), ("h", HOUR), ("min", MINUTE), ("s", 1)]
    parts = []
    for name, size in units:
        count, left = divmod(left, size)
        parts.append(f"{count} {name}" if count else "")
    first = next((i for i, part in enumerate(parts) if part), len(units) - 1)
    return " ".join(part for part in parts[first : first + 2] if part) or "0 s"


@register.filter
def source(name: str | None) -> str:
    """Say an evidence source in words; a word outside the closed list is shown as sent, made visible."""
    return SOURCES.get(name or "", visible(name or "nothing"))


def age_words(seconds: float) -> str:
    """Say how long ago something was. Ages below a second, and times ahead of the clock, are "now"."""
    if seconds < 1:
        return "now"
    for name, size, end in (("s", 1, MINUTE), ("min", MINUTE, HOUR), ("h", HOUR, DAY)):
        if seconds < end:
            return f"{int(seconds // size)} {name} ago"
    return f"{int(seconds // DAY)} d ago"


def clock_words(moment: datetime, now: datetime) -> str:
    """Say a moment as a clock time in UTC, with its date when that is not the date of `now`."""
    clock = f"{moment:%H:%M} UTC"
    if moment.date() == now.date():
        return clock
    year = "" if moment.year == now.year else f" {moment.year}"
    return f"{moment.day} {moment:%b}{year} {clock}"


@register.simple_tag(takes_context=True)
def ago(context: template.Context, value: datetime | None, mark: str = "") -> str:
    """Draw a `<time>` whose words are an age, which the page goes on counting. None reads "never".

    `mark="seen"` names the one age in a row that a push of bare times moves.
    """
    if value is None:
        return format_html("<time data-ago{}>never</time>", _mark(mark))
    moment, now = value.astimezone(UTC), _now(context)
    return format_html(
        '<time datetime="{}" title="{}" data-ago{}>{}</time>',
        stamp(moment), exact(moment), _mark(mark), age_words((now - moment).total_seconds()),
    )  # fmt: skip


@register.simple_tag(takes_context=True)
def when(context: template.Context, value: datetime | None) -> str:
    """Draw a `<time>` that shows a clock time: UTC from the server, the reader's own zone once the page has scripts."""
    if value is None:
        return "never"
    moment = value.astimezone(UTC)
    return format_html(
        '<time datetime="{}" title="{}" data-when>{}</time>',
        stamp(moment), exact(moment), clock_words(moment, _now(context)),
    )  # fmt: skip


@register.simple_tag(takes_context=True)
def timed(context: template.Context, sentence: str) -> SafeString:
    """A sentence that programs are told too, its times as a reader reads them."""
    parts = STAMP.split(sentence)
    return format_html_join(
        "", "{}", ((when(context, _moment(part)) if n % 2 else visible(part),) for n, part in enumerate(parts))
    )


def _moment(stamp: str) -> datetime:
    return datetime.fromisoformat(stamp)


@register.simple_tag
def sign(shown: object) -> SafeString:
    """Draw the sign of a row (its `.sign`) or of a presence word; an unheard-of word gets the question mark."""
    word = shown if isinstance(shown, str) else shown.sign
    name = word if word in SIGNS else "unknown"
    return format_html('<svg class="sign sign-{0}" aria-hidden="true"><use href="#sign-{0}"></use></svg>', name)


@register.filter
def explained(row: rows.Row) -> explain.Explained:
    """How each answer about a row is known, and what lost."""
    return explain.explain(row)


@register.simple_tag
def hour_words(hour: queries.Hour) -> str:
    """Say one hour of the band in a line."""
    told = ", ".join(f"{tally.n} {tally.word}" for tally in hour.counts if tally.n) or "nobody was here"
    return f"{hour.begin:%H:%M}–{hour.end:%H:%M} UTC: {told if hour.counts else 'not counted'}"


@register.filter
def stamp(moment: datetime | None) -> str:
    """Write a moment as RFC 3339 in UTC, to the millisecond, for scripts and the `datetime` attribute."""
    if moment is None:
        return ""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def exact(moment: datetime) -> str:
    """Write a moment exactly, for the title that a reader sees on hover."""
    return f"{moment:%Y-%m-%d %H:%M:%S} UTC"


def _mark(mark: str) -> SafeString:
    return format_html(" data-{}", mark) if mark else SafeString("")


def _now(context: template.Context) -> datetime:
    return (context.get("now") or clock.now()).astimezone(UTC)
