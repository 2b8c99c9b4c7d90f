"""What a sender was answered, kept under the key that the send came with."""

from __future__ import annotations

from datetime import datetime

from inbox.models import SendKey


def receipt(sender: int, key: str) -> tuple[int, list[dict]] | None:
    """The number that the send under ``key`` got and the line of each recipient, as they were answered."""
    found = SendKey.objects.filter(sender=sender, key=key).first()
    return (found.message_id, found.receipt["deliveries"]) if found else None


def expiry(sender: int, key: str) -> datetime | None:
    """When the message that was sent under ``key`` expires."""
    return SendKey.objects.filter(sender=sender, key=key).values_list("message__expires_at", flat=True).first()
