"""`agora send`: write to others; what cannot be sent now is kept and sent later, once and in order."""

import json
import sys
from datetime import datetime, timedelta, timezone

from agora_node import config, identity
from agora_node.carrying import Carrier, post
from agora_node.errors import FINE, HubError, UsageError
from agora_node.outbox import Outbox, OutboxFull
from agora_node.say import note
from agora_node.ulid import new_ulid
from agora_node.words import harmless

PATIENCE = 15.0
LARGEST_BODY = 256 * 1024
# 401 and 403: the hub takes nothing from this login, so that nothing is worth keeping for it.
NOT_WELCOME = (401, 403)


def run(args):
    """Send one message behind those that were kept, and print what the hub said for each recipient; 0: sent or kept."""
    settings = config.load()
    hub = identity.connect(settings, args.as_slug, patience=PATIENCE)
    carrier, letter, key = Carrier(hub, identity.sender(hub, settings)), _letter(args), new_ulid()
    with Outbox(config.outbox_path()) as box:
        _keep(box, carrier, key, letter)
        try:
            found = carrier.carry(box)
        except KeyboardInterrupt:
            note(f"the message is kept and will be sent; `agora outbox --forget {key}` takes it back")
            raise
        carrier.tell(found, but=key)
        print(*_outcome(box, hub, key, letter, found, args.json), sep="\n")
        _mention_refused(box, carrier.sender, len(found.refused))
    return FINE


def _letter(args):
    """The body of the call, with only what was said; raises UsageError when there is nothing to say."""
    said = {
        "to": args.to,
        "body": _text(args.message),
        "subject": args.subject,
        "in_reply_to": args.reply,
        "importance": args.importance,
        "expires_at": _expiry(args.expires),
    }
    return {name: value for name, value in said.items() if value is not None}


def _text(message):
    raw = _piped(message) if message in (None, "-") else message.encode()
    if len(raw) > LARGEST_BODY:
        raise UsageError(f"the message is larger than {LARGEST_BODY >> 10} kB")
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        raise UsageError(f"the message is not UTF-8 text (byte {error.start + 1})") from None
    if not text.strip():
        raise UsageError("the message is empty")
    return text


def _piped(message):
    # A process may be started without any standard input.
    if sys.stdin is None or (message is None and sys.stdin.isatty()):
        raise UsageError("what is the message? give -m TEXT, or pipe it in")
    return sys.stdin.buffer.read(LARGEST_BODY + 1)


def _expiry(seconds):
    if seconds is None:
        return None
    try:
        at = datetime.now(timezone.utc) + timedelta(seconds=seconds)
    except OverflowError:
        raise UsageError("--expires is too long") from None
    return at.isoformat(timespec="seconds").replace("+00:00", "Z")


def _keep(box, carrier, key, letter):
    """Store the letter before it is first tried; an outbox that is full may only need a hub that is back."""
    try:
        box.add(key, carrier.sender, letter)
    except OutboxFull:
        carrier.tell(carrier.carry(box))
        box.add(key, carrier.sender, letter)


def _mention_refused(box, sender, told):
    """Say that refused messages wait for somebody to look at them, but for those `told` of just now."""
    try:
        left = box.refused(sender) - told
    except UsageError:
        return  # what was sent was sent
    if left > 0:
        note(f"{left} refused message{'' if left == 1 else 's'} in the outbox: see `agora outbox`")


def _outcome(box, hub, key, letter, found, as_json):
    """The lines that say what became of the letter; raises HubError when it was neither sent nor kept."""
    if key in found.sent:
        return _sent(found.sent[key], as_json)
    entry = box.get(key)
    if entry is None:
        return _sent_by_another(hub, key, letter, as_json)
    if entry.refusal:
        box.done(key)
        raise entry.error
    if found.stopped and found.stopped.status in NOT_WELCOME:
        box.done(key)
        raise found.stopped
    why = str(found.stopped or "others are being sent before it")
    if as_json:
        return [json.dumps({"kept": key, "why": why})]
    return [f"kept: will be sent when the hub is back ({harmless(why)})"]


def _sent_by_another(hub, key, letter, as_json):
    """Another process of this sender carried it along; asked again with the same key, the hub answers the same."""
    try:
        return _sent(post(hub, key, letter), as_json)
    except HubError as error:
        note(f"the hub's answer is not known: {error}")
        return [json.dumps({"sent": key}) if as_json else "sent"]


def _sent(receipt, as_json):
    if as_json:
        return [json.dumps(receipt)]
    return [f"sent as {receipt['seq']}", *(_line(each) for each in receipt["deliveries"] if isinstance(each, dict))]


def _line(delivery):
    """`analyst: queued; analyst is dormant since ...`, with how it was addressed where that was not by its id.

    The hub's note begins with `queued` where it was; one among many who did not get the message is marked here.
    """
    to, via, state = delivery.get("to"), delivery.get("addressed_as"), delivery.get("state")
    how = f" ({via})" if via not in (None, to) else ""
    note = delivery.get("note") or f"{to} is {delivery.get('recipient_presence') or 'unknown'}"
    return harmless(f"{to}{how}: {f'refused; {note}' if state == 'refused' else note}")
