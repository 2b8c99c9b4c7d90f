"""As whom a call is made: the one place that knows when the `Agora-Agent` header is needed."""

from agora_node.client import Hub


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
