"""The only way an outside name becomes an object: every call asks here whose row it may touch.

What a caller may not see does not exist for it: foreign and missing inboxes answer alike (P60, P61). The roster itself
is open to every caller, so a foreign agent row is a plain 403.
"""

from .agents import (
    agent_of,
    ai,
    declared_mode,
    employee,
    inner,
    is_unclaimed,
    keeper,
    locked,
    node,
    own,
    presence_of,
    speaks_for,
    spoken_for,
    valid_slug,
)
from .callers import (
    PERMISSIONS,
    RANKS,
    Caller,
    active_user,
    admins,
    caller,
    digest,
    is_person,
    may,
    permissions,
    require,
    require_role,
    role_of,
)
from .refusals import missing, not_now, not_yours, refuse_person, refuse_retired, retired, successor, taken
from .speakers import speakers

__all__ = [
    "Caller",
    "PERMISSIONS",
    "RANKS",
    "active_user",
    "admins",
    "agent_of",
    "ai",
    "caller",
    "declared_mode",
    "digest",
    "employee",
    "inner",
    "is_person",
    "is_unclaimed",
    "keeper",
    "locked",
    "may",
    "missing",
    "node",
    "not_now",
    "not_yours",
    "own",
    "permissions",
    "presence_of",
    "refuse_person",
    "refuse_retired",
    "require",
    "require_role",
    "retired",
    "role_of",
    "speakers",
    "speaks_for",
    "spoken_for",
    "successor",
    "taken",
    "valid_slug",
]
