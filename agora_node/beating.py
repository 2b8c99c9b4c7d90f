"""Beating again and again: through hub outages, over a laptop's sleep, until told to stop."""

import signal

from agora_node import clock
from agora_node.errors import FINE, HubError
from agora_node.say import note
from agora_node.words import span

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
        self._away_since = None

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
                note(f"stopped: {_ending(error)}")
                raise
            self._say_away(error)
            return self.pace.after_failure(error.retry_after)
        wait = self.pace.after_success(answer.get("next_heartbeat_in"))
        self._say_back()
        self._say(answer, wait)
        self._beaten = True
        begun = clock.elapsed()
        self._carry()
        return max(0.0, wait - (clock.elapsed() - begun))

    def _is_final(self, error):
        """Revoked and retired are for ever; any other refusal is a mistake at the first beat, and may pass later on."""
        return error.status in (401, 410) or (error.is_refusal and not self._beaten)

    def _say(self, answer, wait):
        # The suggested wait differs by chance from beat to beat, which is no news.
        news = {key: answer.get(key) for key in ("presence", "waiting", "enabled", "disabled")}
        if news != self._said or answer.get("rejoined"):
            print(self._describe(answer, wait), flush=True)
            self._said = news

    def _say_away(self, error):
        if self._away_since is None:
            self._away_since = clock.elapsed()
            note(f"{error}; trying again until it succeeds")

    def _say_back(self):
        if self._away_since is not None:
            note(f"the hub answers again, after {span(clock.elapsed() - self._away_since)}")
            self._away_since = None

    def _sign_off(self):
        # A second signal ends the process at once, even while the hub keeps us waiting.
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, signal.SIG_DFL)
        if self._away_since is not None and not self._beaten:
            return
        self.hub.timeout = SIGN_OFF_TIMEOUT
        try:
            self.hub.post(f"/api/agents/{self._own_id()}/sign-off", {"session": self.body["session"]})
            print("signed off", flush=True)
        except HubError as error:
            note(f"not signed off: {error}")


def _ending(error):
    """Why no later beat could succeed, in our words; the hub's follow as the error."""
    if error.status == 401:
        return "the hub does not accept this token, it was revoked or is not the right one; log in again"
    if error.status == 410:
        successor = error.detail.get("successor")
        return f"the agent is retired{f', its successor is {successor}' if successor else ''}"
    return "the hub refused the first beat"
