"""Reads of mail. None of them consumes anything, and none counts as being seen (R207)."""

from .box import ALL, PENDING, SHOWN, UNREAD, Header, Peek, counts, peek, unread, with_bodies
from .threads import Letter, Line, message, thread

__all__ = [
    "ALL", "Header", "Letter", "Line", "PENDING", "Peek", "SHOWN", "UNREAD", "counts", "message", "peek", "thread", "unread",
    "with_bodies",
]  # fmt: skip
