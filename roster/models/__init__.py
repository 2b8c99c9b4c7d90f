"""The registry's tables. Rows are written by ``roster.services`` only; nothing here decides anything."""

from .agent import Agent, Node
from .conduct import Rule, Violation, Warning
from .counter import Counter
from .engram import EngramRevision, MemoryEntry
from .event import Act, Anomaly, Event, PresenceEdge
from .grant import Grant
from .profile import Profile
from .sweep import HubUptime, PresenceHour, SweepRun
from .template import AgentTemplate, SurgeRule
from .token import SignInLink, Token

__all__ = [
    "Act",
    "Agent",
    "AgentTemplate",
    "Anomaly",
    "Counter",
    "EngramRevision",
    "Event",
    "Grant",
    "HubUptime",
    "MemoryEntry",
    "Node",
    "PresenceEdge",
    "PresenceHour",
    "Profile",
    "Rule",
    "SignInLink",
    "SurgeRule",
    "SweepRun",
    "Token",
    "Violation",
    "Warning",
]
