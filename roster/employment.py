"""Employment: which verb may follow which state, and who may be given work. Pure functions, standard library only.

An agent is hired, active, draining or retired, and on another axis enabled or disabled (design sections 1 and 4). Every
path that hands out work, or takes work in, asks ``admission`` and nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass

from .states import ACTIVE, DRAINING, HIRED, RETIRED

# what the service of a verb is asked for, and what the API's address says
WORKSPACE, REASSIGN, DRAIN, RETIRE, DISMISS, FORCE_RETIRE = VERBS = (
    "workspace", "reassign", "drain", "retire", "dismiss", "force-retire",
)  # fmt: skip
DISABLE, ENABLE = SWITCHES = ("disable", "enable")
_EMPLOYED = VERBS
_AFTER = {
    HIRED: _EMPLOYED,
    ACTIVE: _EMPLOYED,
    # what was asked before still needs a workspace to be done in; retire says who follows
    DRAINING: (WORKSPACE, RETIRE, FORCE_RETIRE),
    RETIRED: (),
}

WANTED, READY, FAILED = WORKSPACES = ("wanted", "ready", "failed")  # "" is an agent that was never hired onto a node

FEWEST_SESSIONS, MOST_SESSIONS = 1, 100
SHORTEST_LIFE, LONGEST_LIFE = 60, 365 * 24 * 3600  # seconds that a clone may live

OF_ITS_NODE = "a node's own agent lives as long as its node: it comes with it and goes with it, and never moves"
OF_A_PERSON = "a person is not employed by the hub: an admin deactivates the account instead"


def allowed(agent) -> tuple[str, ...]:
    """The verbs that ``agent`` (its kind, modality, lifecycle, enabled) allows now."""
    if agent.modality == "human" or agent.lifecycle == RETIRED:
        return ()
    switch = DISABLE if agent.enabled else ENABLE
    return (switch,) if agent.kind == "node" else (*_AFTER[agent.lifecycle], switch)


def rule(agent, verb: str) -> str:
    """The rule by which ``verb`` is not to be had of ``agent`` whatever its state; "" where it depends on that."""
    if agent.modality == "human":
        return OF_A_PERSON
    return OF_ITS_NODE if agent.kind == "node" and verb in VERBS else ""


OPEN, AT_CAPACITY, UNREADY = "open", "at_capacity", "unready"
DISABLED = "disabled"


@dataclass(frozen=True, slots=True)
class Admission:
    """Whether an agent may be given work, in one ``word`` and three answers: whether a new prompt may queue for it,
    whether a prompt may be run now, and whether its mail may be handed out."""

    word: str
    queues: bool
    runs: bool
    drains: bool


def admission(agent, running: int = 0) -> Admission:
    """Whether ``agent``, of whom ``running`` prompts run, may be given work; the first that applies decides.

    A draining agent finishes what was queued before, and keeps its mail (D20, D26); one without a ready workspace may be
    asked, and answers once it has one.
    """
    if agent.lifecycle == RETIRED:
        return Admission(RETIRED, queues=False, runs=False, drains=False)
    if not agent.enabled:
        return Admission(DISABLED, queues=False, runs=False, drains=False)
    has_slot = running < agent.max_sessions
    is_ready = agent.lifecycle != HIRED and agent.workspace_state not in (WANTED, FAILED)
    if agent.lifecycle == DRAINING:
        return Admission(DRAINING, queues=False, runs=has_slot and is_ready, drains=True)
    if not is_ready:
        return Admission(UNREADY, queues=True, runs=False, drains=True)
    return Admission(OPEN if has_slot else AT_CAPACITY, queues=True, runs=has_slot, drains=True)
