"""The `agora` command: runs beside the agents, speaks to the hub over HTTP, needs nothing but Python 3.11."""

__version__ = "0.1.0"
