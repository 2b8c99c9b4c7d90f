"""The inbox's tables: mail and its deliveries, prompts and what came of them."""

from .exchange import Exchange
from .mail import IS_PENDING, IS_UNDONE, IS_UNTOLD, Delivery, Lease, MailGroup, Message, SendKey

__all__ = [
    "Delivery",
    "Exchange",
    "IS_PENDING",
    "IS_UNDONE",
    "IS_UNTOLD",
    "Lease",
    "MailGroup",
    "Message",
    "SendKey",
]
