"""`agora outbox`: what is kept here for the hub, and what the hub refused."""

import json
import os
import shutil
import sys
from datetime import datetime, timezone

from agora_node import config, identity
from agora_node.carrying import LONG, Carrier, my_turn
from agora_node.errors import FINE, REFUSED, UsageError
from agora_node.outbox import Outbox
from agora_node.tables import lay_out
from agora_node.words import age, harmless

PATIENCE = 15.0
BUSY = "another process is sending from the outbox; try again"
HEADINGS = ("id", "from", "to", "subject", "kept", "state")


def run(args):
    """Show the outbox, send it, or forget some of it."""
    if not os.path.exists(config.outbox_path()) and not (args.send or args.forget):
        print("[]" if args.json else "The outbox is empty.")
        return FINE
    with Outbox(config.outbox_path()) as box:
        if args.forget:
            return _forget(box, args.forget)
        if args.send is not None:
            return _send(box, args)
        print(_as_json(box.all()) if args.json else "\n".join(_shown(box.all())))
    return FINE


def _send(box, args):
    """Send until nothing of this sender is left; raises HubError when the hub does not take it now."""
    settings = config.load()
    hub = identity.connect(settings, args.as_slug, patience=PATIENCE)
    box.again(args.send)
    carrier = Carrier(hub, identity.sender(hub, settings))
    found = carrier.carry(box, seconds=float("inf"))
    carrier.tell(found)
    if found.stopped:
        raise found.stopped
    if box.first(carrier.sender):
        raise UsageError(BUSY)
    print(*_shown(box.all()), sep="\n")
    return REFUSED if found.refused else FINE


def _forget(box, keys):
    # What another process is sending at this moment must not be said to be forgotten.
    with my_turn(box.path, LONG) as mine:
        if not mine:
            raise UsageError(BUSY)
        box.remove(keys)
    print(f"forgotten: {len(keys)}")
    return FINE


def _as_json(entries):
    return json.dumps([entry._asdict() for entry in entries])


def _shown(entries):
    if not entries:
        return ["The outbox is empty."]
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    now = datetime.now(timezone.utc)
    return lay_out([HEADINGS, *(_row(entry, now) for entry in entries)], width, HEADINGS.index("state"))


def _row(entry, now):
    return (
        entry.id,
        harmless(f"{entry.speaker} at {entry.hub}"),
        harmless(entry.to),
        harmless(entry.letter.get("subject") or "-"),
        f"{age(entry.kept_at, now)} ago",
        harmless(f"refused: {entry.why}" if entry.refusal else "kept"),
    )
