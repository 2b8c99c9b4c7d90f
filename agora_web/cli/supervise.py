"""Keeps a set of child processes alive, and ends them all."""

import signal
from typing import Callable, NamedTuple

from .child import Child, Spec
from .errors import Refusal
from .leash import make_leash
from .loop import Loop
from .output import Output


class Patience(NamedTuple):
    """How restarts are spaced, in seconds: `first` doubling to `most`; a life of `good_life` is no quick failure.

    After `restarts` quick failures in a row the next one ends the hub.
    """

    first: float = 0.5
    most: float = 15.0
    good_life: float = 30.0
    restarts: int = 6

    def pause(self, failures: int) -> float:
        """Seconds to wait before the restart that follows the `failures`-th quick failure."""
        return min(self.most, self.first * 2 ** (failures - 1))


class Grace(NamedTuple):
    """Seconds that a child has to end after SIGTERM before its group is killed; together they stay under 3."""

    others: float = 1.9
    foundation: float = 0.6


class Supervisor:
    """Starts children and restarts each that dies, until it is told to stop.

    output: where the children's lines go. changed({name: pid}): called after each start, also after a restart.
    """

    def __init__(self, output: Output, changed: Callable[[dict[str, int]], None], patience: Patience = Patience()):
        self.loop = Loop()
        self.loop.on_child_exit = self._look_after
        self._output, self._changed, self._patience = output, changed, patience
        self._leash = make_leash()
        self._children: dict[str, Child] = {}
        self._failures: dict[str, int] = {}
        self._waiting: set[str] = set()
        self._stopping = False
        self._heard = 0
        self._lost: Refusal | None = None

    def processes(self) -> dict[str, int]:
        """The children's process ids by name."""
        return {name: child.pid for name, child in self._children.items()}

    def start(self, spec: Spec) -> None:
        """Start a child and keep it alive from now on. Raises Refusal when the program cannot be started."""
        self._waiting.discard(spec.name)
        try:
            self._children[spec.name] = Child(spec, self.loop, self._leash, self._output.relay)
        except OSError as error:
            raise Refusal(f"{spec.name} cannot be started: {error}") from None
        self._changed(self.processes())

    def finish(self, spec: Spec, seconds: float) -> bytes:
        """Run a child to its end once and return its stdout. Raises Refusal when it fails or takes longer."""
        child = Child(spec, self.loop, self._leash, self._output.relay, listen_apart=True)
        try:
            ended = self.wait(child.has_ended, seconds)
        finally:
            child.signal_group(signal.SIGKILL)
        if not ended:
            raise Refusal(f"{spec.name} did not end within {seconds:.0f} s.")
        if child.code:
            raise Refusal(f"{spec.name} failed ({_how(child.code)}); what it said stands above.")
        return child.answer

    def wait(self, done: Callable[[], bool], seconds: float | None = None) -> bool:
        """Look after the children until `done()`; False after `seconds`.

        Raises Stopped at a stop signal, Refusal when a child was given up.
        """
        met = self.loop.until(lambda: self._lost is not None or done(), seconds)
        if self._lost:
            raise self._lost
        return met

    def stop(self, grace: Grace = Grace()) -> None:
        """End all children in reverse order, the foundations last; a further stop signal cuts the grace short."""
        self._stopping = True
        self._heard = self.loop.stops
        newest_first = list(reversed(self._children.values()))
        self._end([child for child in newest_first if not child.spec.foundation], grace.others)
        self._end([child for child in newest_first if child.spec.foundation], grace.foundation)
        self._leash.close()

    def _end(self, children: list[Child], grace: float) -> None:
        for child in children:
            child.ask_to_stop()
        self.loop.until(lambda: _all_ended(children) or self.loop.stops > self._heard, grace, heed_stops=False)
        for child in children:
            child.signal_group(signal.SIGKILL)
        self.loop.until(lambda: _all_ended(children), grace, heed_stops=False)

    def _look_after(self) -> None:
        for name, child in self._children.items():
            if child.has_ended() and name not in self._waiting and not self._stopping:
                self._mend(child)

    def _mend(self, child: Child) -> None:
        name = child.spec.name
        failures = self._failures.get(name, 0) + 1 if child.lived() < self._patience.good_life else 1
        self._failures[name] = failures
        if failures > self._patience.restarts:
            self._lost = Refusal(
                f"{name} died again right after each of {self._patience.restarts} restarts (last: {_how(child.code)}), "
                "so the hub gives up; what it said stands above."
            )
            return
        pause = self._patience.pause(failures)
        self._output.say(f"agora: {name} died ({_how(child.code)}); starting it again in {pause:g} s")
        self._waiting.add(name)
        self.loop.after(pause, lambda: self._restart(child.spec))

    def _restart(self, spec: Spec) -> None:
        if not self._stopping:
            self.start(spec)


def _all_ended(children: list[Child]) -> bool:
    # Each is asked, because asking is what collects it.
    return all([child.has_ended() for child in children])


def _how(code: int | None) -> str:
    if code is not None and code < 0:
        return f"killed by {signal.Signals(-code).name}"
    return f"exit code {code}"
