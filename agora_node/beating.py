"""Beating again and again: through hub outages, over a laptop's sleep, until told to stop."""

import signal

from agora_node import clock
from agora_node.errors import FINE, HubError
from agora_node.outage import Outage
from agora_node.say import note

SIGN_OFF_TIMEOUT = 3.0


class Beating:
    """Sends `body` to `hub` at `pace`, prints `describe(answer, wait)` when it says something new.

    `own_id()` gives the id to sign off; it is asked at the end only. `carry()` follows each beat that succeeded. Ends
    by a signal (signs off, returns 0) or by a HubError that no later try could heal.
    """

    def __init__(self, hub, body, pace, describe, own_id, carry):
        self.hub, self.body, self.pace = hub, body, pace
        self._describe, self._own_id, self._carry = describe, own_id, carry
        self._said = None
        self._beaten = False
        self._outage = Outage()

    def run(self):
        """Beat until a signal comes; returns the exit code, raises HubError when the hub refuses for good."""
        try:
            for number in (signal.SIGTERM, signal.SIGINT):
                signal.signal(number, signal.default_int_handler)
            while True:
                clock.wait(self._beat())
        except KeyboardInterrupt:
            self._sign_off()
        return FINE

    def _beat(self):
        """One try; returns the seconds to wait before the next one."""
        try:
            answer = self.hub.post("/api/heartbeat", self.body).body
        except HubError as error:
            if self._is_final(error):
                note(f"stopped: {error.ending or 'the hub refused the first beat'}")
                raise
            self._outage.goes_on(error)
            return self.pace.after_failure(error.retry_after)
        wait = self.pace.after_success(answer.get("next_heartbeat_in"))
        self._outage.is_over()
        self._say(answer, wait)
        self._beaten = True
        begun = clock.elapsed()
        self._carry()
        return max(0.0, wait - (clock.elapsed() - begun))

    def _is_final(self, error):
        """Revoked and retired are for ever; any other refusal is a mistake at the first beat, and may pass later on."""
        return error.is_for_ever or (error.is_refusal and not self._beaten)

    def _say(self, answer, wait):
        # The suggested wait differs by chance from beat to beat, which is no news.
        news = {key: answer.get(key) for key in ("presence", "waiting", "enabled", "disabled")}
        if news != self._said or answer.get("rejoined"):
            print(self._describe(answer, wait), flush=True)
            self._said = news

    def _sign_off(self):
        # A second signal ends the process at once, even while the hub keeps us waiting.
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, signal.SIG_DFL)
        if self._outage.since is not None and not self._beaten:
            return
        self.hub.timeout = SIGN_OFF_TIMEOUT
        try:
            self.hub.post(f"/api/agents/{self._own_id()}/sign-off", {"session": self.body["session"]})
            print("signed off", flush=True)
        except HubError as error:
            note(f"not signed off: {error}")
