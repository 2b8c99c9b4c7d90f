"""The beats of a runner: at once when what it does has changed, and as often as the hub says."""

import os
import socket

from agora_node import clock
from agora_node.errors import HubError
from agora_node.pace import Pace

SIGN_OFF_TIMEOUT = 3.0


class Pulse:
    """Beats as `hub`'s agent in a session of its own, which declares to the hub that it beats `interval` seconds apart.

    `due` is when (clock.elapsed) the next beat is.
    """

    def __init__(self, hub, interval):
        self.hub, self.due = hub, 0.0
        self.session = f"run-{os.urandom(8).hex()}"
        self._pace, self._regular = Pace(), 0.0
        self._declared = {"session": self.session, "host": socket.gethostname(), "expected_interval": interval}
        self._doing, self._told = {}, None

    def say(self, status, **more):
        """Tell what the agent does: `status`, and a `task` if there is one. A beat is due at once where that is news."""
        self._doing = {"status": status, **more}
        self.due = self._regular if self._doing == self._told else 0.0

    def keep(self):
        """Send a beat where one is due; returns whether. Raises HubError, and is then due again after a while."""
        if clock.elapsed() < self.due:
            return False
        try:
            answer = self.hub.post("/api/heartbeat", {**self._declared, **self._doing}).body
        except HubError as error:
            self.due = clock.elapsed() + self._pace.after_failure(error.retry_after)
            raise
        self._told = self._doing
        self.due = self._regular = clock.elapsed() + self._pace.after_success(answer.get("next_heartbeat_in"))
        return True

    def sign_off(self, name):
        """Say goodbye for agent `name`, for this session alone; raises HubError. Does not wait long for the hub."""
        if self._told:
            self.hub.timeout = SIGN_OFF_TIMEOUT
            self.hub.post(f"/api/agents/{name}/sign-off", {"session": self.session})
