"""The roster as the hub lists it, and its rows as text."""

from collections import namedtuple
from unicodedata import combining, east_asian_width

from agora_node.errors import HubError
from agora_node.words import doing, harmless, last_seen, presence

PAGE = 500
HEADINGS = ("agent", "presence", "doing", "node", "mail", "last seen")

# `now` is the hub's clock: ages are told against it, so that a wrong clock here cannot make them wrong.
Roster = namedtuple("Roster", "agents now")


def fetch(hub, filters):
    """All agents that match `filters` (a dict of query parameters), page by page; returns a Roster, raises HubError."""
    agents, query, seen = [], {**filters, "limit": PAGE}, set()
    while True:
        answer = hub.get("/api/agents", query)
        agents += _listed(answer.body)
        cursor = answer.body.get("next")
        if cursor is None:
            return Roster(agents, answer.now)
        if cursor in seen:
            raise HubError("cursor_repeats", "the hub's list of agents goes round in circles")
        seen.add(cursor)
        query["after"] = cursor


def _listed(body):
    found = body.get("agents")
    if not isinstance(found, list) or not all(isinstance(agent, dict) for agent in found):
        raise HubError("not_a_hub", "something answered there, but not with a list of agents")
    return found


def table(roster, width=None):
    """The roster as lines of text; with `width`, the column `doing` gives way until a line fits into it."""
    rows = [HEADINGS, *(_row(agent, roster.now) for agent in roster.agents)]
    widths = [max(columns(row[column]) for row in rows) for column in range(len(HEADINGS))]
    if width:
        excess = sum(widths) + 2 * (len(widths) - 1) - width
        widths[2] = max(12, widths[2] - max(0, excess))
    lines = ("  ".join(_fit(cell, size) for cell, size in zip(row, widths)).rstrip() for row in rows)
    return [cut(line, width) for line in lines] if width else list(lines)


def _row(agent, now):
    name = harmless(agent.get("id"))
    return (
        f"{name} (node)" if agent.get("kind") == "node" else name,
        presence(agent, now),
        doing(agent, now),
        harmless(agent.get("home_node") or "-"),
        str(agent.get("waiting") or "-"),
        last_seen(agent, now),
    )


def columns(text):
    """How many columns `text` takes on a terminal: wide characters two, combining marks none."""
    return len(text) if text.isascii() else sum(map(_columns_of, text))


def _columns_of(char):
    return 0 if combining(char) else 2 if east_asian_width(char) in "WF" else 1


def cut(text, size):
    """The longest beginning of `text` that takes at most `size` columns."""
    while columns(text) > size:
        text = text[: min(size, len(text) - 1)]
    return text


def _fit(text, size):
    shown = text if columns(text) <= size else f"{cut(text, size - 3)}..."
    return shown + " " * (size - columns(shown))


def heading(roster):
    """`3 agents: 2 live, 1 dormant`: how many there are of each presence, in the order of first appearance."""
    counts = {}
    for agent in roster.agents:
        word = harmless(agent.get("presence") or "unknown")
        counts[word] = counts.get(word, 0) + 1
    number = len(roster.agents)
    each = ", ".join(f"{count} {word}" for word, count in counts.items())
    return f"{number} agent{'' if number == 1 else 's'}{f': {each}' if each else ''}"
