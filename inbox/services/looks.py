"""A manager's look into another's mail is remembered: who, whose, when."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction

from roster.models import Agent
from roster.services import journal
from roster.services.looks import is_new


@transaction.atomic
def audit(by: str, agent: Agent, now: datetime) -> None:
    """Journals that ``by`` looked into the mail of ``agent``."""
    if is_new("inbox_looked_at", by, agent, now):
        journal.write(journal.happened("inbox_looked_at", by, now, agent=agent))


@transaction.atomic
def audit_search(by: str, now: datetime) -> None:
    """Journals that ``by`` searched everybody's mail; for which words is nobody else's business."""
    if is_new("mail_searched", by, None, now):
        journal.write(journal.happened("mail_searched", by, now))


def audit_message(by: str, seq: int, now: datetime) -> None:
    """Journals a look at one message, as a look into the mail of its sender or, for a notice, its recipient."""
    whose = Agent.objects.filter(sent=seq).first() or Agent.objects.filter(deliveries__message=seq).first()
    audit(by, whose, now)
