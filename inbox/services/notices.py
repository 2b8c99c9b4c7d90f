"""Messages of the hub itself. They count against no limit, and nobody answers them."""

from __future__ import annotations

from datetime import datetime

from inbox import rules
from inbox.models import Delivery, Message
from roster.models import Agent
from roster.services import journal
from roster.services.rows import insert

from .boxes import recount


def send(agent: Agent, *, kind: str, subject: str, body: str, now: datetime, about: Message | None = None) -> int:
    """Puts a message of ``kind`` into the inbox of ``agent``, whose row is locked, in the thread of the message that it
    is ``about``; returns its number."""
    seq = journal.next_version("mail")
    notice = Message(
        seq=seq, kind=kind, thread=about.thread if about else seq, in_reply_to=about, body=body,
        subject=subject[: rules.LONGEST_SUBJECT], size=len(body.encode()), sent_at=now,
    )  # fmt: skip
    insert([notice])
    insert([Delivery(message=notice, recipient=agent, addressed_as=agent.slug, size=notice.size, told=True)])
    recount([agent.pk])
    return seq
