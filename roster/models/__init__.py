"""The registry's tables. Rows are written by ``roster.services`` only; nothing here decides anything."""

from .agent import Agent, Node
from .counter import Counter
from .event import Act, Anomaly, Event, PresenceEdge
from .profile import Profile
from .sweep import HubUptime, PresenceHour, SweepRun
from .token import SignInLink, Token

__all__ = [
    "Act",
    "Agent",
    "Anomaly",
    "Counter",
    "Event",
    "HubUptime",
    "Node",
    "PresenceEdge",
    "PresenceHour",
    "Profile",
    "SignInLink",
    "SweepRun",
    "Token",
]
