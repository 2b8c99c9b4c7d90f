"""`agora login`: check a token by a real call, then keep it where only its owner can read it."""

import os
import sys

from agora_node import config
from agora_node.client import Hub, parse_hub_url
from agora_node.config import Config
from agora_node.errors import HubError, UsageError
from agora_node.say import note
from agora_node.words import harmless

MAKE_TOKEN = "python3 manage.py token create agent"
LOOPBACK = ("127.", "localhost", "[::1]")


def run(args):
    """Log in, or register a new agent by an enrolment token and log in as it."""
    if not args.enrol and (args.mode or args.interval):
        raise UsageError("--mode and --interval belong to --enrol")
    path = config.config_path()
    before = Config(**config.read_file(path))
    address = args.hub or os.environ.get("AGORA_HUB") or before.hub
    if not address:
        raise UsageError("which hub? give --hub URL, or set AGORA_HUB")
    hub = Hub(parse_hub_url(address), _read_token(args))
    # An own token is told once: better to find out now than afterwards that it cannot be kept.
    config.prepare(path)
    found = _enrol(hub, args) if args.enrol else _identify(hub, args.as_slug)
    config.save(found, path)
    _report(found, before, path)
    return 0


def _read_token(args):
    if args.token_stdin:
        return config.check_token(sys.stdin.read(), "standard input")
    try:
        with open(args.token_file, encoding="utf-8") as file:
            return config.check_token(file.read(), args.token_file)
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "not a text file"
        raise UsageError(f"{args.token_file} cannot be read: {reason}") from None


def _enrol(hub, args):
    body = {"status": "idle", "liveness_mode": args.mode or "async"}
    if args.interval:
        body["expected_interval"] = args.interval
    try:
        token = hub.put(f"/api/agents/{args.enrol}", body).body.get("token")
    except HubError as error:
        if error.status == 403:
            note(f"if {args.enrol} is registered already, an admin makes a token for it: {MAKE_TOKEN} {args.enrol}")
        raise
    if not isinstance(token, str):
        raise UsageError(f"the hub told no token; an admin makes one: {MAKE_TOKEN} {args.enrol}")
    return Config(hub.url, config.check_token(token, "the hub's answer"), "agent", args.enrol)


def _identify(hub, as_slug):
    who = hub.get("/api/whoami").body
    kind, own = str(who.get("kind") or "unknown"), who.get("id")
    if kind == "enrolment":
        raise UsageError("that is an enrolment token: it registers a new agent by `agora login --enrol SLUG`")
    if kind == "node":
        if as_slug:
            _check_home(hub, as_slug, own)
        return Config(hub.url, hub.token, kind, as_slug)
    if as_slug and as_slug != own:
        raise UsageError(f"that token belongs to {own}, it cannot speak as {as_slug}")
    return Config(hub.url, hub.token, kind, own)


def _check_home(hub, slug, node):
    """Find out now, not at the first beat, that there is no such agent or that it lives on another node."""
    home = hub.get(f"/api/agents/{slug}").body.get("home_node")
    if home not in (None, node):
        raise UsageError(f"{slug} lives on the node {home}; the token of {node} cannot speak for it")


def _speaks(found):
    """As whom the commands speak from now on. A node's token can speak for each agent that lives there."""
    if found.agent:
        return f"as {found.agent}"
    if found.kind == "node":
        return "which can speak for each agent of its node: say --as SLUG, or `agora run-node` for the node's own agent"
    return "no agent chosen: say --as SLUG with each command"


def _report(found, before, path):
    print(harmless(f"logged in at {found.hub} with a token of kind {found.kind}, {_speaks(found)}; stored in {path}"))
    if before.agent and before.agent != found.agent:
        print(harmless(f"this replaces the login as {before.agent} at {before.hub}"))
    host = found.hub.split("://", 1)[1]
    if found.hub.startswith("http://") and not host.startswith(LOOPBACK):
        note("this address is not encrypted: the token can be read on the way (use https)")
