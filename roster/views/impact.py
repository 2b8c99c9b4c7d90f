"""What a verb brings about, in sentences that its page says before anybody presses the button."""

from __future__ import annotations

from roster.models import Agent
from roster.work import Held

FOR_GOOD = "The name is never used again, and all that it did stays readable."
BY_ITSELF = "It is retired by itself once nothing is left to do; nothing is cut off."
REFUSED = "New prompts are refused from now on."
UNTIL_THEN = "What still waits at the end is put away, and its senders are told."


def finishes(agent: Agent, held: Held) -> list[str]:
    """Of draining, retiring and dismissing."""
    open_ = [_count(n, what) for n, what in ((held.running, "running prompt"), (held.queued, "waiting prompt")) if n]
    are = "is" if held.running + held.queued == 1 else "are"
    first = f"{' and '.join(open_)} {are} finished first. " if open_ else ""
    mail = held.waiting + held.leased
    box = (
        f"{_count(mail, 'message')} {'lies' if mail == 1 else 'lie'} in its inbox. "
        if mail
        else "Mail reaches it until it is retired. "
    )
    return [first + REFUSED, box + UNTIL_THEN, BY_ITSELF, FOR_GOOD]


def cuts_off(agent: Agent, held: Held) -> list[str]:
    """Of force-retiring."""
    said = [
        _told(held.running, "running prompt", "cut off, and whoever asked is told that it failed"),
        _told(held.queued, "waiting prompt", "refused"),
        _told(held.leased, "message", "put away though somebody had taken and not done with it"),
        _told(held.waiting, "waiting message", "put away, and its sender is told"),
    ]
    nothing = "Nothing runs and nothing is taken: Retire does the same, and needs no force."
    return [*(filter(None, said) if any(said) else [nothing]), FOR_GOOD]


def moves(agent: Agent, held: Held) -> list[str]:
    """Of reassigning."""
    if not held.is_idle:
        busy = [_count(held.running, "running prompt"), _count(held.leased, "taken message")]
        return [f"It is busy now ({', '.join(busy)}) and moves only once it is idle."]
    waits = [_count(held.queued, "waiting prompt"), _count(held.waiting, "waiting message")]
    return [
        f"What waits goes with it: {', '.join(waits)}.",
        "Its name, memory, warnings, history and token stay as they are.",
        "It is given no prompt until the new node has a workspace for it.",
    ]


def answers_disabled(agent: Agent, held: Held) -> list[str]:
    said = [
        _told(held.queued, "waiting prompt", "answered at once that it is disabled"),
        _told(held.running, "running prompt", "finished"),
    ]
    from_now = "Every prompt from now on is answered with that, and no model is called. Mail stays where it is."
    return [*filter(None, said), from_now]


def runs_again(agent: Agent, held: Held) -> list[str]:
    return [
        f"{agent.disabled_by} disabled it: {agent.disabled_reason}",
        "Prompts are run again from now on. Nothing else about it changes.",
    ]


def ends_with_its_node(held: Held) -> list[str]:
    """Of retiring a node."""
    return [
        "Its own agent finishes its work and is retired with it. Nobody can be hired onto it any more.",
        *filter(None, [_told(held.queued + held.running, "open prompt", "finished first")]),
        *(["Where nobody runs it any more, disable it as well: what waits is answered then."] if held.queued else []),
        f"Mail reaches it until it is retired. {UNTIL_THEN}",
        FOR_GOOD,
    ]


def _told(n: int, what: str, becomes: str) -> str:
    return f"{_count(n, what)} {'is' if n == 1 else 'are'} {becomes}." if n else ""


def _count(n: int, thing: str) -> str:
    return f"{n or 'no'} {thing}{'' if n == 1 else 's'}"
