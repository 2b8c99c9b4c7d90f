"""`agora agents`: the roster as a table, as JSON, or watched."""

import json
import shutil
import sys

from agora_node import config, identity, roster

PATIENCE = 15.0


def run(args):
    """Print the roster once, or watch it."""
    filters = {key: value for key, value in (("presence", args.presence), ("q", args.q)) if value}
    settings = config.load()
    if args.watch:
        from agora_node import watching

        return watching.watch(identity.connect(settings), filters, in_place=sys.stdout.isatty())
    found = roster.fetch(identity.connect(settings, patience=PATIENCE), filters)
    # ASCII escapes keep what agents wrote from steering the terminal, and change nothing for a program.
    print(json.dumps(found.agents) if args.json else "\n".join(as_table(found)))
    return 0


def as_table(found):
    """The table's lines, fitted to the terminal when there is one; one sentence when the roster is empty."""
    if not found.agents:
        return ["No agents match."]
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    return roster.table(found, width)
