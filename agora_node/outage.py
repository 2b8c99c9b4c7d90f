"""A hub that is away: said once when it begins and once when it is over."""

from agora_node import clock
from agora_node.say import note
from agora_node.words import span


class Outage:
    """Told of each call; `since` is when (clock.elapsed) the hub first failed to answer, None while it answers."""

    def __init__(self):
        self.since = None

    def goes_on(self, error):
        """A call failed by `error` and will be tried again."""
        if self.since is None:
            self.since = clock.elapsed()
            note(f"{error}; trying again until it succeeds")

    def is_over(self):
        """A call was answered."""
        if self.since is not None:
            note(f"the hub answers again, after {span(clock.elapsed() - self.since)}")
            self.since = None
