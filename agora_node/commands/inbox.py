"""`agora inbox`: what lies in the own inbox; looking consumes nothing."""

import json
import shutil
import sys

from agora_node import config, identity
from agora_node.carrying import carry_first
from agora_node.client import listed
from agora_node.tables import lay_out
from agora_node.words import age, ahead, harmless

PATIENCE = 15.0
PAGE = 500
HEADINGS = ("seq", "from", "subject", "sent", "state")
COUNTS = ("waiting", "leased", "unread", "dead")


def run(args):
    """Print what is pending, or everything there ever was."""
    settings = config.load()
    hub = identity.connect(settings, args.as_slug, patience=PATIENCE)
    carry_first(hub, identity.sender(hub, settings))
    box, now = _fetch(hub, identity.require_id(hub, settings), {"state": "all"} if args.all else {})
    if args.json:
        print(json.dumps(box))
    else:
        width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
        print(*_shown(box, now, width), sep="\n")
    return 0


def _fetch(hub, name, filters):
    """The inbox as the hub gave it, all pages in one, and the hub's time."""
    messages = []
    for answer in hub.pages(f"/api/agents/{name}/inbox", {**filters, "limit": PAGE}):
        messages += listed(answer.body, "messages")
    return {"agent": name, **answer.body, "messages": messages}, answer.now


def _shown(box, now, width):
    """The lines for people: whose inbox it is stands first, also when it is empty."""
    counts = ", ".join(f"{box[name]} {name}" for name in COUNTS if box.get(name))
    heading = harmless(f"inbox of {box['agent']}: {counts or 'nothing waits'}")
    if not box["messages"]:
        return [heading]
    rows = [HEADINGS, *(_row(message, now) for message in box["messages"])]
    return [heading, *lay_out(rows, width, HEADINGS.index("subject"))]


def _row(message, now):
    high_or_low = message.get("importance") if message.get("importance") != "normal" else None
    state = [_state(message, now), message.get("dead_reason"), "read" if message.get("read") else None, high_or_low]
    return (
        harmless(message.get("seq")),
        harmless(message.get("from") or "the hub"),
        harmless(message.get("subject") or "-"),
        f"{age(message.get('sent_at'), now) or '?'} ago",
        ", ".join(harmless(word) for word in state if word),
    )


def _state(message, now):
    """The state in a word; of what somebody took, for how long yet, or until when where the hub's time is not known."""
    state, until = message.get("state"), message.get("until")
    if state != "leased" or not until:
        return state
    return f"leased for {left} more" if (left := ahead(until, now)) else f"leased until {until}"
