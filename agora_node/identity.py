"""As whom a call is made: the one place that knows when the `Agora-Agent` header is needed."""

from collections import namedtuple

from agora_node.client import Hub
from agora_node.errors import UsageError

# Whose letters keep their order among each other: those of one `speaker` at one `hub`.
Sender = namedtuple("Sender", "hub speaker")


def connect(config, as_slug=None, **limits):
    """Return a Hub for this config, speaking as `as_slug` when given.

    An agent's own token needs no header for itself; a node token always names the agent it speaks for.
    """
    config.require()
    speaks_as = as_slug or (config.agent if config.kind == "node" else None)
    if config.kind == "agent" and speaks_as == config.agent:
        speaks_as = None
    return Hub(config.hub, config.token, speaks_as, **limits)


def own_id(hub, config):
    """The id of the agent that `hub` speaks as, asked from the hub when it is not stored; None when it has none."""
    return hub.acting_as or config.agent or hub.get("/api/whoami").body.get("id")


def require_id(hub, config):
    """The same; raises UsageError when the token is nobody's own."""
    name = own_id(hub, config)
    if not name:
        raise UsageError("this token is no agent's own: say --as SLUG")
    return name


def introduce(hubs, config):
    """Let `hubs`, made by the same config, speak as the agent whose prompts are answered, and return its id.

    A node token that names nobody answers for the node's own agent, which has the node's id. Raises UsageError for the
    token of somebody who answers no prompts.
    """
    if hubs[0].acting_as or (config.kind == "agent" and config.agent):
        return hubs[0].acting_as or config.agent
    who = hubs[0].get("/api/whoami").body
    if who.get("kind") not in ("agent", "node"):
        raise UsageError(f"a token of kind {who.get('kind')} answers no prompts: log in as an agent or as a node")
    if who["kind"] == "node":
        for hub in hubs:
            hub.acting_as = who["id"]
    return who["id"]


def sender(hub, config):
    """The Sender that `hub` speaks as, told without asking the hub, which may be away.

    A token whose agent is not known here stands for it by a few characters of its digest.
    """
    return Sender(hub.url, hub.acting_as or config.agent or f"token {_mark(hub.token)}")


def _mark(token):
    import hashlib

    return hashlib.sha256(token.encode()).hexdigest()[:12]
