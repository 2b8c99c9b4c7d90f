"""Answering an agent's prompts by a command: one at a time, through outages of the hub, until told to stop."""

from agora_node import clock, identity
from agora_node.carrying import SHORT, Carrier
from agora_node.child import Child, Outcome
from agora_node.errors import FINE, HubError
from agora_node.outage import Outage
from agora_node.pace import Pace
from agora_node.pulse import Pulse
from agora_node.say import note
from agora_node.stopping import STEP, Stopping
from agora_node.turn import Turn
from agora_node.words import span

# Seconds: how long the hub is asked to hold a claim, how much longer its answer is waited for, and the pause after a
# claim that it did not hold at all.
WAIT, SLACK, PAUSE = 20, 10.0, 2.0
STATES = {
    "open": "waiting for prompts",
    "disabled": "disabled: the hub answers its prompts, none is run here until it is enabled",
    "unready": "not ready: it gets no prompts until its workspace has been reported as ready",
    "draining": "draining: it finishes the prompts it has and gets no new ones",
}


class Runner:
    """Runs `argv` for each prompt of the agent that `settings` and `as_slug` name.

    In seconds: `lease` is how long the hub waits for a word of ours, `timeout` how long the command may take,
    `interval` how often the agent beats.
    """

    def __init__(self, settings, as_slug, argv, *, lease, timeout, interval):
        self._settings, self._argv, self._lease, self._timeout = settings, argv, lease, timeout
        self._hub = identity.connect(settings, as_slug)
        self._door = identity.connect(settings, as_slug, timeout=WAIT + SLACK)
        self._pulse, self._pace, self._outage = Pulse(self._hub, interval), Pace(), Outage()
        self._stopping = Stopping(self._door.hang_up)
        self._name, self._carrier, self._state, self._claimed = None, None, None, False

    def run(self):
        """Answer prompts until a signal comes; returns the exit code, raises HubError when no later try could help."""
        self._stopping.listen()
        self._pulse.say("idle")
        try:
            while not self._stopping.asked:
                if turn := self._next():
                    self._work(turn)
        except HubError as error:
            note(f"stopped: {error.ending or 'the hub refused the first call'}")
            raise
        self._sign_off()
        return FINE

    def _next(self):
        """The next prompt as a Turn; None when for a while there was none, or no hub."""
        try:
            if self._name is None:
                self._introduce()
            if self._pulse.keep():
                self._carrier.along(seconds=SHORT)
            answer = self._claim()
            turn = Turn(self._hub, answer.body, self._lease) if answer.body else None
        except HubError as error:
            if not self._stopping.asked:
                self._go_on(error, forgiving=self._claimed)
                self._stopping.wait(self._pace.after_failure(error.retry_after))
            return None
        self._outage.is_over()
        self._pace.after_success()
        self._claimed = True
        if turn:
            self._state = "open"
        elif not self._stopping.asked:
            self._say_state(answer.headers.get("Agora-State"))
            if answer.took < 1:
                self._stopping.wait(PAUSE)
        return turn

    def _introduce(self):
        self._name = identity.introduce((self._hub, self._door), self._settings)
        self._carrier = Carrier(self._hub, identity.sender(self._hub, self._settings))

    def _claim(self):
        wait = max(1, min(WAIT, round(self._pulse.due - clock.elapsed())))
        asked = f"wait={wait}&lease_seconds={self._lease}"
        return self._door.post(f"/api/agents/{self._name}/queue/claim?{asked}", {"session": self._pulse.session})

    def _say_state(self, state):
        if state in STATES and state != self._state:
            note(f"{self._name} is {STATES[state]}")
            self._state = state

    def _go_on(self, error, *, forgiving):
        """Raise `error` where no later try could help: a refusal may pass only where the hub had been `forgiving`."""
        if error.is_for_ever or (error.is_refusal and not forgiving):
            raise error
        self._outage.goes_on(error)

    def _work(self, turn):
        """Run the command for one prompt and hand in what came of it; one line says so."""
        begun = clock.elapsed()
        self._pulse.say("working", task=f"exchange {turn.number}")
        try:
            came = self._hand_in(turn, self._attend(turn))
        except HubError as error:
            if error.is_for_ever:
                raise
            came = f"not handed in: {error}"
        note(f"exchange {turn.number} from {turn.caller}: {came}, after {span(clock.elapsed() - begun)}")
        self._pulse.say("idle")

    def _attend(self, turn):
        """The Outcome of the command; lease and beats are kept meanwhile. Raises HubError where the lease is lost."""
        child = Child(self._argv, turn.told, self._timeout)
        said = False
        try:
            while (outcome := child.wait(STEP)) is None:
                if self._stopping.asked > 1:
                    return child.stop("its runner was stopped")
                if self._stopping.asked and not said:
                    note(f"stopping after exchange {turn.number}; a second signal ends it at once")
                    said = True
                self._keep(turn)
        except BaseException:
            child.stop("")
            raise
        return outcome

    def _keep(self, turn):
        for keep, forgiving in ((turn.keep, False), (self._pulse.keep, True)):
            try:
                if keep():
                    self._outage.is_over()
            except HubError as error:
                self._go_on(error, forgiving=forgiving)
        turn.require()

    def _hand_in(self, turn, outcome):
        """Hand the Outcome in, again and again while the hub is away and the lease lasts; returns it in words."""
        pace = Pace()
        while True:
            try:
                turn.hand_in(outcome)
                self._outage.is_over()
                return _in_words(outcome)
            except HubError as error:
                if outcome.error is None and error.status in (413, 422):
                    outcome = Outcome(None, f"the hub did not take its answer: {error.message}")
                    continue
                self._go_on(error, forgiving=False)
                turn.require()
                if not self._stopping.wait(pace.after_failure(error.retry_after)) and self._stopping.asked > 1:
                    raise

    def _sign_off(self):
        # From here on a signal ends the process at once, even while the hub keeps us waiting.
        self._stopping.let_go()
        try:
            self._pulse.sign_off(self._name)
            note("signed off")
        except HubError as error:
            note(f"not signed off: {error}")


def _in_words(outcome):
    if outcome.error is None:
        return f"answered, {len(outcome.answer.encode())} bytes"
    return f"failed, {outcome.error.splitlines()[0]}"
