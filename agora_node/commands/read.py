"""`agora read`: one message whole, marked as read in the own inbox."""

import json

from agora_node import config, identity
from agora_node.carrying import carry_first
from agora_node.errors import HubError
from agora_node.say import note
from agora_node.words import harmless, harmless_text

PATIENCE = 15.0


def run(args):
    """Print the message, then mark it as read where it lies in the own inbox."""
    settings = config.load()
    hub = identity.connect(settings, args.as_slug, patience=PATIENCE)
    carry_first(hub, identity.sender(hub, settings))
    message = hub.get(f"/api/messages/{args.seq}").body
    print(json.dumps(message) if args.json else _shown(message), flush=True)
    # Shown first: a message that could not be shown is not read.
    if identity.own_id(hub, settings) in [each.get("to") for each in _deliveries(message)]:
        _mark(hub, args.seq)
    return 0


def _deliveries(message):
    found = message.get("deliveries")
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def _mark(hub, seq):
    try:
        hub.post(f"/api/messages/{seq}/read", {})
    except HubError:
        note("shown, but not marked as read")
        raise


def _shown(message):
    """What stands above a letter, a line each, then its text."""
    to = message.get("to")
    told = [
        ("message", _numbers(message)),
        ("from", message.get("from") or "the hub"),
        ("to", ", ".join(map(str, to)) if isinstance(to, list) else to),
        ("sent", message.get("sent_at")),
        ("expires", message.get("expires_at")),
        ("importance", message.get("importance")),
        *(("delivery", _fate(each)) for each in _deliveries(message)),
        ("subject", message.get("subject")),
    ]
    head = [f"{name:<10} {harmless(value)}" for name, value in told if value]
    return "\n".join([*head, "", harmless_text(message.get("body") or "")])


def _fate(delivery):
    reason = delivery.get("reason")
    return f"{delivery.get('to')}: {delivery.get('state')}{f', {reason}' if reason else ''}"


def _numbers(message):
    """`12, thread 10, reply to 11`, with as much of it as there is to say."""
    seq, thread, above = message.get("seq"), message.get("thread"), message.get("in_reply_to")
    return f"{seq}{f', thread {thread}' if thread != seq else ''}{f', reply to {above}' if above else ''}"
