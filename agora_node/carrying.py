"""Carrying the outbox to the hub: one process at a time, oldest first, each letter once.

Each letter's id goes along as `Idempotency-Key`, so a letter whose answer was lost is sent again and the hub answers
as it did. A letter that the hub refuses is set aside with the reason; while the hub is away everything waits.
"""

import fcntl
import os
from collections import namedtuple
from contextlib import contextmanager

from agora_node import clock
from agora_node.config import outbox_path
from agora_node.errors import HubError, UsageError
from agora_node.say import note

# Seconds: how long one command goes on sending what had been kept, how long a beat does, and how long to wait for a turn.
LONG, SHORT, TURN = 30.0, 5.0, 30.0
STEP = 0.05

# `sent`: id -> the hub's answer; `refused`: the entries it refused; `stopped`: the HubError that ended the round early.
Round = namedtuple("Round", "sent refused stopped")


class Carrier:
    """Carries what `sender` (identity.Sender) wrote by `hub`; what it tells goes to standard error, nothing twice."""

    def __init__(self, hub, sender):
        self.hub, self.sender = hub, sender
        self._told = None

    def carry(self, box, *, seconds=LONG, turn=TURN):
        """Send what waits in `box`, for at most `seconds`, after waiting at most `turn` for another process; a Round."""
        found = Round({}, [], None)
        with my_turn(box.path, turn) as mine:
            until = clock.elapsed() + seconds
            while mine and clock.elapsed() < until and (entry := box.first(self.sender)):
                try:
                    found.sent[entry.id] = post(self.hub, entry.id, entry.letter)
                    box.done(entry.id)
                except HubError as error:
                    if not is_about_the_letter(error):
                        return found._replace(stopped=error)
                    box.refuse(entry.id, error)
                    found.refused.append(box.get(entry.id))
        return found

    def along(self, *, seconds=LONG):
        """Carry beside another command, which must not fail by it; returns the HubError that ended it early, or None."""
        if not os.path.exists(outbox_path()):
            return None
        # Most commands find no outbox, and are not to wait for SQLite.
        from agora_node.outbox import Outbox

        try:
            with Outbox(outbox_path()) as box:
                found = self.carry(box, seconds=seconds, turn=0)
        except UsageError as error:
            self._tell_once(str(error))
            return None
        self.tell(found)
        if found.stopped:
            self._tell_once(f"kept messages are still in the outbox: {found.stopped}")
        return found.stopped

    def tell(self, found, but=None):
        """Say what became of kept letters, `but` for one that the caller speaks of itself."""
        if number := len(found.sent.keys() - {but}):
            self._told = None
            note(f"{number} kept message{'' if number == 1 else 's'} sent")
        for entry in found.refused:
            if entry.id != but:
                note(f"the kept message {entry.id} to {entry.to} was refused: {entry.why}; see `agora outbox`")

    def _tell_once(self, text):
        if text != self._told:
            note(text)
            self._told = text


def carry_first(hub, sender):
    """Send what is kept before another mail call is made; raises HubError when nothing answers, for nothing will then."""
    stopped = Carrier(hub, sender).along()
    if stopped and stopped.status is None:
        raise stopped


def post(hub, key, letter):
    """Send one letter; returns the hub's answer, raises HubError, also when what answers is not a hub's mail."""
    receipt = hub.post("/api/messages", letter, {"Idempotency-Key": key}).body
    if not isinstance(receipt.get("seq"), int) or not isinstance(receipt.get("deliveries"), list):
        raise HubError("not_a_hub", f"{hub.url} answered, but not as a hub that took a message")
    return receipt


def is_about_the_letter(error):
    """True when sending this letter again cannot help; else the hub, the way there or the login is what is wrong.

    A full inbox is about the letter: mail for others must not wait for it. What a proxy says in its own words is not,
    save that the letter is too large for it.
    """
    if error.code == "inbox_full" or error.status == 413:
        return True
    in_the_hubs_words = not error.code.startswith("http_") and error.code != "redirected_elsewhere"
    return error.is_refusal and in_the_hubs_words and error.status not in (401, 403)


@contextmanager
def my_turn(path, wait=0.0):
    """Hold the one right to send from the outbox `path`; yields False when another process had it for `wait` seconds.

    The kernel gives it back when its holder ends, however that comes about.
    """
    descriptor = os.open(f"{path}.lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        yield _locked(descriptor, clock.elapsed() + wait)
    finally:
        os.close(descriptor)


def _locked(descriptor, until):
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            if clock.elapsed() >= until:
                return False
            clock.wait(STEP)
