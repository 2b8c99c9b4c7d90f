"""`agora heartbeat`: say that an agent is there, once or again and again."""

import os
import socket

from agora_node import config, identity
from agora_node.carrying import SHORT, Carrier
from agora_node.words import age, disabled, harmless, parse_time, span

PATIENCE = 15.0


def run(args):
    """Send one beat and print the answer in a line; with --every, go on until stopped."""
    settings = config.load()
    if args.every is not None:
        return _every(args, settings)
    hub = identity.connect(settings, args.as_slug, patience=PATIENCE)
    answer = hub.post("/api/heartbeat", body_of(args, args.session)).body
    print(describe(answer, answer.get("next_heartbeat_in")), flush=True)
    # After the beat: mail that waits must not make its sender late.
    Carrier(hub, identity.sender(hub, settings)).along()
    return 0


def _every(args, settings):
    from agora_node.beating import Beating
    from agora_node.pace import Pace

    hub = identity.connect(settings, args.as_slug)
    body = body_of(args, args.session or f"run-{os.urandom(8).hex()}")
    carrier = Carrier(hub, identity.sender(hub, settings))

    def own_id():
        return identity.own_id(hub, settings)

    def carry():
        carrier.along(seconds=SHORT)

    return Beating(hub, body, Pace(args.every or None), describe, own_id, carry).run()


def body_of(args, session):
    """The heartbeat's JSON body: what was said on the command line, and the host, by which doubles are told apart."""
    said = {"status": args.status, "task": args.task, "expected_interval": args.interval, "session": session}
    return {**{key: value for key, value in said.items() if value is not None}, "host": socket.gethostname()}


def describe(answer, wait):
    """`live; 2 waiting; next in 30 min`; `wait` in seconds."""
    phrases = [harmless(answer.get("presence") or "unknown")]
    if answer.get("enabled") is False:
        phrases.append(disabled(answer.get("disabled")))
    if was := before(answer):
        phrases.append(was)
    phrases.append(f"{harmless(answer.get('waiting') or 0)} waiting")
    if isinstance(wait, (int, float)):
        phrases.append(f"next in {span(wait)}")
    return "; ".join(phrases)


def before(answer):
    """`was dormant 3 h` when this beat brought the agent back: it should know that it had been gone; else empty."""
    gone = answer.get("rejoined")
    if not isinstance(gone, dict):
        return ""
    span_gone = age(gone.get("since"), parse_time(answer.get("server_time")))
    return f"was {harmless(gone.get('was') or 'gone')} {span_gone}".strip()
