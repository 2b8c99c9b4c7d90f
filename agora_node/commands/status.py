"""`agora status`: can the hub be reached, is it well, do the clocks agree, who are we there."""

import os
import time

from agora_node import config, identity
from agora_node.client import Hub
from agora_node.errors import FINE, UNREACHABLE, HubError, UsageError
from agora_node.words import doing, harmless, last_seen, presence, span

# The Date header has whole seconds, and the way there and back takes its own time.
AGREEING_CLOCKS = 2.0
REFUSED_SHOWN = 5


def run(args):
    """Print one line for each thing checked; returns the exit code of the worst of them."""
    settings = config.load()
    _line("config", config.config_path())
    _outbox()
    if not settings.hub:
        raise UsageError("no hub is known here: run `agora login --hub URL --token-file F`, or set AGORA_HUB")
    hub = Hub(settings.hub)
    codes = [_reach(hub)]
    if codes[0] == FINE:
        codes += [_ready(hub), _token(settings)]
    return max(codes)


def _line(name, text):
    print(f"{name:<6} {harmless(text)}", flush=True)


def _outbox():
    try:
        entries = _kept(config.outbox_path())
    except UsageError as error:
        _line("outbox", error)
        return
    refused = [entry for entry in entries if entry.refusal]
    _line("outbox", f"{len(entries) - len(refused)} kept, {len(refused)} refused" if entries else "empty")
    for entry in refused[:REFUSED_SHOWN]:
        _line("outbox", f"{entry.id} to {entry.to} was refused: {entry.why}")


def _kept(path):
    if not os.path.exists(path):
        return []
    from agora_node.outbox import Outbox

    with Outbox(path) as box:
        return box.all()


def _reach(hub):
    try:
        answer = hub.get("/healthz")
    except HubError as error:
        _line("hub", f"{hub.url} is not well: {error}")
        return UNREACHABLE
    _line("hub", f"{hub.url} answers, {answer.took * 1000:.0f} ms")
    _line("clock", _skew(answer, time.time()))
    return FINE


def _skew(answer, here):
    """Shown only: the hub tells all times by its own clock."""
    if answer.date is None:
        return "the hub did not tell its time"
    ahead = here - answer.took / 2 - (answer.date.timestamp() + 0.5)
    if abs(ahead) < AGREEING_CLOCKS:
        return "agrees with the hub's"
    return f"this machine's clock is {span(abs(ahead))} {'ahead of' if ahead > 0 else 'behind'} the hub's"


def _ready(hub):
    try:
        hub.get("/readyz")
    except HubError as error:
        _line("ready", f"no: {_reasons(error.detail) or error}")
        return error.exit_code
    _line("ready", "yes")
    return FINE


def _reasons(told):
    """What /readyz said, whatever its shape: its `reasons`, else every entry that does not read as fine."""
    reasons = told.get("reasons", told)
    if isinstance(reasons, dict):
        reasons = [f"{key}: {value}" for key, value in reasons.items() if value not in (True, "ok", False, None)]
    return "; ".join(str(reason) for reason in reasons) if isinstance(reasons, list) else str(reasons)


def _token(settings):
    if not settings.token:
        _line("token", "none is stored here, and AGORA_TOKEN is not set")
        return FINE
    hub = identity.connect(settings)
    origin = "AGORA_TOKEN" if settings.token_from == "AGORA_TOKEN" else "the config file"
    try:
        who = hub.get("/api/whoami").body
        role = f", role {who['role']}" if who.get("role") else ""
        _line("token", f"{who.get('kind')} {who.get('id') or ''}".rstrip() + f"{role}, from {origin}")
        _own_entry(hub, hub.acting_as or who.get("id"))
    except HubError as error:
        _line("token", f"from {origin}: {error}")
        return error.exit_code
    return FINE


def _own_entry(hub, name):
    if not name:
        _line("agent", "this token is no agent's own")
        return
    answer = hub.get(f"/api/agents/{name}")
    agent, now = answer.body, answer.now
    words = [presence(agent, now), doing(agent, now), f"{agent.get('waiting') or 0} waiting"]
    _line("agent", f"{name}: {'; '.join(words)}; last seen {last_seen(agent, now)}")
