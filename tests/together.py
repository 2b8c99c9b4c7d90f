"""Acts that happen at the same time, each on a thread and a database connection of its own."""

from __future__ import annotations

import threading

from django.db import connections


def at_once(*acts, patience: float = 60) -> list:
    """The outcomes of ``acts``, begun together. Fails the test where one raises, or lasts ``patience`` seconds more."""
    gate, outcomes = threading.Barrier(len(acts)), [None] * len(acts)

    def run(i, act):
        try:
            gate.wait(10)
            outcomes[i] = act()
        except Exception as error:
            outcomes[i] = error
        finally:
            connections.close_all()

    threads = [threading.Thread(target=run, args=each, daemon=True) for each in enumerate(acts)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(patience)
    assert not any(thread.is_alive() for thread in threads), "an act never ended"
    failed = [each for each in outcomes if isinstance(each, Exception)]
    assert not failed, failed
    return outcomes
