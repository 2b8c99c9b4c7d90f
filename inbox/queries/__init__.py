"""Reads of mail. None of them consumes anything, and none counts as being seen (R207)."""

from .box import ALL, PENDING, SHOWN, UNREAD, Header, Peek, counts, peek, standing, unread, unread_dead, with_bodies
from .names import names
from .news import Arrivals, Mailbox, arrivals, mailbox
from .receipts import expiry, receipt
from .sent import SentHeader, sent
from .threads import Letter, Line, message, openings, thread, thread_page

__all__ = [
    "ALL", "Arrivals", "Header", "Letter", "Line", "Mailbox", "PENDING", "Peek", "SHOWN", "SentHeader", "UNREAD",
    "arrivals", "counts", "expiry", "mailbox", "message", "names", "openings", "peek", "receipt", "sent", "standing", "thread",
    "thread_page", "unread", "unread_dead", "with_bodies",
]  # fmt: skip
