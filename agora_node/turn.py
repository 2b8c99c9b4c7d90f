"""One claimed prompt: its lease, kept while it is worked on, and the ways to hand in what came of it."""

from agora_node import clock
from agora_node.errors import HubError
from agora_node.pace import Pace

# The command is told all of the claim but this: what it takes to hand in is the runner's.
RUNNERS_OWN = ("lease", "until")


class Turn:
    """`claim` is the hub's answer, `seconds` the length of the lease; raises HubError when that is no claim.

    The end of the lease is told by our own clock, counted from when the hub's answer was here: a little later than the
    hub's.
    """

    def __init__(self, hub, claim, seconds):
        prompt, self.number = claim.get("prompt"), claim.get("exchange")
        if not (isinstance(self.number, int) and isinstance(prompt, dict) and isinstance(claim.get("lease"), str)):
            raise HubError("not_a_hub", f"{hub.url} answered, but not as a hub that hands out prompts")
        self.hub, self._lease, self._seconds = hub, claim["lease"], seconds
        self.caller = prompt.get("caller")
        self.told = {name: value for name, value in claim.items() if name not in RUNNERS_OWN}
        self._pace = Pace(seconds / 3)
        self._begin()

    def _begin(self):
        self._until = clock.elapsed() + self._seconds
        self._due = clock.elapsed() + self._pace.after_success()

    def require(self):
        """Raise HubError when the lease has ended: the hub has failed the exchange then, and may have begun the next."""
        if clock.elapsed() >= self._until:
            raise HubError("lease_expired", "its lease ended while the hub was away")

    def keep(self):
        """Let the lease begin anew where that is due; returns whether. Raises HubError, and is then due again later."""
        if clock.elapsed() < self._due:
            return False
        try:
            self._post("extend", lease_seconds=self._seconds)
        except HubError as error:
            self._due = clock.elapsed() + self._pace.after_failure(error.retry_after)
            raise
        self._begin()
        return True

    def hand_in(self, outcome):
        """Answer, or fail, by a child's Outcome; raises HubError."""
        if outcome.error is None:
            self._post("answer", body=outcome.answer)
        else:
            self._post("fail", error=outcome.error)

    def _post(self, verb, **said):
        self.hub.post(f"/api/exchanges/{self.number}/{verb}", {"lease": self._lease, **said})
