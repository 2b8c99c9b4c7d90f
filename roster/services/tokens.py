"""Issuing and revoking tokens. A raw token leaves this module once, in the answer to its making."""

from __future__ import annotations

import secrets
from datetime import datetime

from django.db import transaction

from roster import access
from roster.errors import Conflict, NotFound
from roster.models import Agent, Node, Token

from . import journal

PREFIX_LENGTH = 14


@transaction.atomic
def issue(
    kind: str, *, by: str, now: datetime, agent: Agent | None = None, node: Node | None = None, label: str = ""
) -> str:
    """Makes a token of ``kind`` for its owner and returns it raw, once: 256 random bits behind a readable prefix."""
    raw = f"agora_{kind[0]}_{secrets.token_urlsafe(32)}"
    token = Token.objects.create(
        kind=kind, agent=agent, node=node, prefix=raw[:PREFIX_LENGTH], digest=access.digest(raw),
        label=label, created_at=now, created_by=by,
    )  # fmt: skip
    owner = agent or node
    after = {"kind": kind, "prefix": token.prefix, "for": owner.slug if owner else None}
    journal.write(journal.happened("token_issued", by, now, agent=agent, after=after, reason=label))
    return raw


@transaction.atomic
def revoke(token: Token, *, by: str, now: datetime, reason: str = "") -> bool:
    """Ends a token; the next request with it is refused in every process. False where it was revoked before."""
    if not Token.objects.filter(pk=token.pk, revoked_at=None).update(revoked_at=now, revoked_by=by):
        return False
    before = {"kind": token.kind, "prefix": token.prefix}
    journal.write(journal.happened("token_revoked", by, now, agent=token.agent, before=before, reason=reason))
    return True


@transaction.atomic
def rotate(token: Token, *, by: str, now: datetime) -> str:
    """Revokes ``token`` and issues another for the same owner, in one step; returns the new one raw.

    Raises Conflict where it was revoked before: somebody else rotated it, or a form was sent twice.
    """
    if not revoke(token, by=by, now=now, reason="rotated"):
        raise Conflict(f"The token {token.prefix} was revoked before.", state="revoked", allowed=[])
    return issue(token.kind, by=by, now=now, agent=token.agent, node=token.node, label=token.label)


def by_prefix(prefix: str) -> Token:
    """The token with this prefix (the part that lists show). Raises NotFound."""
    token = Token.objects.select_related("agent", "node").filter(prefix=prefix.strip()[:PREFIX_LENGTH]).first()
    if token is None:
        raise NotFound(f"No token has the prefix '{prefix[:PREFIX_LENGTH]}'.")
    return token
