"""The two ways in which a command of this folder ends early."""


class Refusal(Exception):
    """The command cannot go on; the text is one clear sentence for the person who started it."""


class Stopped(Exception):
    """A person or the system asked the hub to stop (SIGINT, SIGTERM or SIGHUP)."""
