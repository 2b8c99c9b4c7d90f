"""Who is calling, and what they may do by their role or by a grant."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime

from django.conf import settings
from django.contrib.auth import HASH_SESSION_KEY, SESSION_KEY
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.utils.crypto import constant_time_compare

from roster import states
from roster.errors import Forbidden, Unauthorized
from roster.models import Grant, Token

RANKS = {"viewer": 1, "manager": 2, "admin": 3}
# the role that has each permission by itself; anybody else, an agent too, needs a grant by name (R103)
PERMISSIONS = dict.fromkeys(Grant.PERMISSIONS, "manager") | {"force_retire": "admin"}


@dataclass(frozen=True, slots=True)
class Caller:
    """Who is calling: the kind of token, the id it stands for, and a person's role."""

    kind: str
    name: str
    agent_id: int | None = None
    node_id: int | None = None
    role: str | None = None


def digest(raw: str) -> str:
    """What is stored of a token: SHA-256 of the whole, so there is nothing to search byte by byte."""
    return hashlib.sha256(raw.encode("utf-8", "surrogatepass")).hexdigest()


def caller(token_digest: str) -> Caller:
    """The caller behind a token's digest. Unknown and revoked are one and the same refusal (P61)."""
    token = Token.objects.select_related("agent__user", "node").filter(digest=token_digest, revoked_at=None).first()
    if token is None:
        raise Unauthorized()
    role = role_of(token.agent.user) if token.kind == "person" else None
    if token.kind == "person" and role is None:
        raise Unauthorized()  # deactivated, or without any role
    named = token.agent or token.node
    return Caller(token.kind, named.slug if named else token.prefix, token.agent_id, token.node_id, role)


def is_person(name: str) -> bool:
    return "\0" not in name and User.objects.filter(username=name).exists()  # PostgreSQL takes no NUL even to compare


def role_of(user) -> str | None:
    """The highest role of a person, by group; a superuser is an admin; an inactive person has none."""
    if user is None or not user.is_active:
        return None
    if user.is_superuser:
        return "admin"
    held = [group.name for group in user.groups.all() if group.name in RANKS]  # all(): lists fetch them for all users
    return max(held, key=RANKS.get, default=None)


def admins() -> list[str]:
    """The names of those who can give a role, in the order in which they became people here."""
    them = User.objects.filter(is_active=True, is_superuser=True).order_by("pk")
    return list(them.values_list("username", flat=True))


def active_user(session: dict, now: datetime):
    """The person whom a stored session's data signs in, or None: unknown, inactive, with another password by now, or
    signed in too long ago. The same questions that a page request asks, for a socket that outlives its request."""
    user = User.objects.filter(pk=session.get(SESSION_KEY), is_active=True).first()
    if user is None:
        return None
    if not constant_time_compare(session.get(HASH_SESSION_KEY, ""), user.get_session_auth_hash()):
        return None
    began = session.get("signed_in_at")
    if began and now - datetime.fromisoformat(began) > settings.SESSION_ABSOLUTE_AGE:
        return None
    return user


def require_role(who: Caller, least: str) -> None:
    """Refuses a caller who is not a person of at least the role ``least``."""
    if RANKS.get(who.role, 0) < RANKS[least]:
        raise Forbidden(f"This call is for a person with the role {least} or higher.")


def may(who: Caller, permission: str) -> bool:
    """Whether ``who`` has one of PERMISSIONS, by role or by a grant to the agent or person itself."""
    by_role = RANKS.get(who.role, 0) >= RANKS[PERMISSIONS[permission]]
    return by_role or _granted(who).filter(permission=permission).exists()


def permissions(who: Caller) -> frozenset[str]:
    """All of PERMISSIONS that ``who`` has, for a page that shows what can be done."""
    held = {each for each, least in PERMISSIONS.items() if RANKS.get(who.role, 0) >= RANKS[least]}
    if len(held) < len(PERMISSIONS):
        held |= set(_granted(who).values_list("permission", flat=True))
    return frozenset(held)


def _granted(who: Caller) -> QuerySet[Grant]:
    """The grants to ``who`` that count: whoever is retired acts no more, also where its token is still good (P37)."""
    if who.agent_id is None:
        return Grant.objects.none()
    return Grant.objects.filter(agent=who.agent_id, revoked_at=None).exclude(agent__lifecycle=states.RETIRED)


def require(who: Caller, permission: str) -> None:
    """Refuses a caller without ``permission``."""
    if not may(who, permission):
        least, words = PERMISSIONS[permission], permission.replace("_", "-")
        raise Forbidden(f"This needs the role {least} or a grant of '{words}'.", code="no_permission", permission=words)
