"""The roster as the hub lists it, and its rows as text."""

from collections import namedtuple

from agora_node.client import listed
from agora_node.tables import lay_out
from agora_node.words import doing, harmless, last_seen, presence

PAGE = 500
HEADINGS = ("agent", "presence", "doing", "node", "mail", "last seen")

# `now` is the hub's clock: ages are told against it, so that a wrong clock here cannot make them wrong.
Roster = namedtuple("Roster", "agents now")


def fetch(hub, filters):
    """All agents that match `filters` (a dict of query parameters), page by page; returns a Roster, raises HubError."""
    agents = []
    for answer in hub.pages("/api/agents", {**filters, "limit": PAGE}):
        agents += listed(answer.body, "agents")
    return Roster(agents, answer.now)


def table(roster, width=None):
    """The roster as lines of text; with `width`, the column `doing` gives way until a line fits into it."""
    return lay_out([HEADINGS, *(_row(agent, roster.now) for agent in roster.agents)], width, HEADINGS.index("doing"))


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


def heading(roster):
    """`3 agents: 2 live, 1 dormant`: how many there are of each presence, in the order of first appearance."""
    counts = {}
    for agent in roster.agents:
        word = harmless(agent.get("presence") or "unknown")
        counts[word] = counts.get(word, 0) + 1
    number = len(roster.agents)
    each = ", ".join(f"{count} {word}" for word, count in counts.items())
    return f"{number} agent{'' if number == 1 else 's'}{f': {each}' if each else ''}"
