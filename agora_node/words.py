"""The hub's facts in words for a terminal: spans, ages, presence, activity, and text made harmless."""

from datetime import datetime

UNITS = {"s": 1, "m": 60, "min": 60, "h": 3600, "d": 86400}


def parse_duration(text):
    """Seconds (int, at least 1) of `45`, `45s`, `30m`, `30min`, `2h` or `1d`; raises ValueError otherwise."""
    digits = text.rstrip("abcdefghijklmnopqrstuvwxyz ")
    unit = text[len(digits) :].strip() or "s"
    if not (digits.isascii() and digits.isdigit() and unit in UNITS and int(digits[:12]) > 0):
        raise ValueError(f"{text!r} is not a duration: write 45s, 30m, 2h or 1d")
    return int(digits[:12]) * UNITS[unit]


def span(seconds):
    """`45 s`, `30 min`, `2 h` or `3 d`: the nearest whole number of the largest unit that fits."""
    seconds = max(0, seconds)
    for size, name, until in ((1, "s", 90), (60, "min", 5400), (3600, "h", 172800)):
        if seconds < until:
            return f"{round(seconds / size)} {name}"
    return f"{round(seconds / 86400)} d"


def harmless(value):
    """`value` as one line of text that cannot steer a terminal: control, bidi, other invisible characters escaped."""
    return "".join(char if char.isprintable() else _escaped(char) for char in str(value))


def harmless_text(value):
    """`value` as text whose line ends and tabs stay, and that is harmless otherwise."""
    lines = str(value).replace("\r\n", "\n").split("\n")
    return "\n".join("\t".join(map(harmless, line.split("\t"))) for line in lines)


def _escaped(char):
    code = ord(char)
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" if code < 65536 else f"\\U{code:08x}"


def parse_time(text):
    """The aware datetime of an RFC 3339 text, or None for anything else."""
    try:
        found = datetime.fromisoformat(text)
    except (TypeError, ValueError):
        return None
    return found if found.tzinfo else None


def age(text, now):
    """How long ago the RFC 3339 time `text` was, as a span; empty when either is missing."""
    then = parse_time(text)
    return span((now - then).total_seconds()) if then and now else ""


def ahead(text, now):
    """How long it is until the RFC 3339 time `text`, as a span; empty when either is missing."""
    then = parse_time(text)
    return span((then - now).total_seconds()) if then and now else ""


def presence(agent, now):
    """Reachability, switch and employment of an agent in one phrase: `live 2 h; disabled by mira: maintenance`."""
    word = agent.get("presence") or "unknown"
    since = age(agent.get("presence_since"), now)
    phrases = [f"{'gone' if word == 'expired' else harmless(word)} {since}".strip()]
    if agent.get("enabled") is False:
        phrases.append(disabled(agent.get("disabled")))
    if agent.get("lifecycle") in ("hired", "draining", "retired"):
        phrases.append(agent["lifecycle"])
    return "; ".join(phrases)


def disabled(switch):
    """`disabled by mira: maintenance`, with as much of it as the hub told."""
    switch = switch if isinstance(switch, dict) else {}
    by = f" by {harmless(switch['by'])}" if switch.get("by") else ""
    reason = f": {harmless(switch['reason'])}" if switch.get("reason") else ""
    return f"disabled{by}{reason}"


def doing(agent, now=None):
    """What an agent does; `says` marks what is only self-reported. With `now`, its age too; `-` when not known."""
    activity = agent.get("activity")
    activity = activity if isinstance(activity, dict) else {}
    value, raw, task = activity.get("value"), activity.get("raw"), agent.get("task")
    if value in (None, "unknown"):
        value = f'"{raw}"' if raw else None
    if not value or agent.get("presence") in ("dormant", "expired"):
        return "-"
    said = f"{'' if activity.get('verified') else 'says '}{harmless(value)}{f': {harmless(task)}' if task else ''}"
    old = age(activity.get("as_of"), now)
    return f"{said}, {old}" if old else said


def last_seen(agent, now):
    """`3 min ago`, or `never`."""
    old = age(agent.get("last_seen"), now)
    return f"{old} ago" if old else "never"
