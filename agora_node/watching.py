"""The roster watched: in place on a terminal, else a line for each change."""

import shutil
import time

from agora_node import clock, roster, tables
from agora_node.errors import FINE, HubError
from agora_node.say import note
from agora_node.words import doing, harmless, presence

PERIOD = 5.0
HOME, CLEAR_LINE_REST, CLEAR_REST = "\x1b[H", "\x1b[K", "\x1b[J"
CLEAR_ALL = "\x1b[2J"


def watch(hub, filters, in_place):
    """Look every 5 s until Ctrl-C; a hub that is away is said and waited for, a refusal ends it by HubError."""
    view = Screen() if in_place else Changes()
    try:
        while True:
            clock.wait(_look(hub, filters, view))
    except KeyboardInterrupt:
        return FINE


def _look(hub, filters, view):
    """One look; returns the seconds until the next."""
    try:
        view.show(roster.fetch(hub, filters))
    except HubError as error:
        if error.is_refusal:
            raise
        view.away(error)
        return max(PERIOD, error.retry_after or 0.0)
    return PERIOD


class Screen:
    """Redraws the table at the top of the terminal; keeps the last one, marked as old, while the hub is away."""

    def __init__(self):
        self._lines, self._since = [], None
        print(CLEAR_ALL, end="")

    def show(self, found):
        size = shutil.get_terminal_size()
        self._lines, self._since = roster.table(found, size.columns), None
        self._draw(roster.heading(found), size)

    def away(self, error):
        self._since = self._since or time.strftime("%H:%M")
        self._draw(harmless(f"not live since {self._since}, retrying: {error}"), shutil.get_terminal_size())

    def _draw(self, first, size):
        # One line stays free: a full screen would scroll and the picture would creep upwards.
        room = max(1, size.lines - 2)
        body = self._lines if len(self._lines) <= room else [*self._lines[: room - 1], "..."]
        shown = [tables.cut(first, size.columns), *body]
        print(HOME + "".join(f"{line}{CLEAR_LINE_REST}\n" for line in shown) + CLEAR_REST, end="", flush=True)


class Changes:
    """Prints one line for each agent that came, went or changed; the first look is only remembered."""

    def __init__(self):
        self._known, self._is_away = None, False

    def show(self, found):
        if self._is_away:
            note("the hub answers again")
            self._is_away = False
        now = {agent.get("id"): _summary(agent) for agent in found.agents}
        if self._known is None:
            note(f"{roster.heading(found)}; changes follow")
        else:
            self._print(now, found.now)
        self._known = now

    def _print(self, now, at):
        for name in [*now, *(name for name in self._known if name not in now)]:
            before, after = self._known.get(name, "not listed"), now.get(name, "not listed")
            if before != after:
                print(f"{at:%Y-%m-%dT%H:%M:%SZ} {harmless(name)}: {before} -> {after}", flush=True)

    def away(self, error):
        if not self._is_away:
            note(f"{error}; trying again until it succeeds")
        self._is_away = True


def _summary(agent):
    """What counts as a change, in words without ages (those change by themselves)."""
    return f"{presence(agent, None)}, {doing(agent)}, {harmless(agent.get('waiting') or 0)} waiting"
