"""A bound on what one request may leave on this machine, whichever server reads it.

Django keeps the whole body of a page's request, in a temporary file if it is large, before it looks at anything else:
without a bound, somebody who is not signed in could fill the disk.
"""

from __future__ import annotations

KEPT = 4 * 1024 * 1024  # bytes of a body; more than anything here takes, so whoever sends more is refused all the same


def bounded(app):
    """``app``, which is handed the first ``KEPT`` bytes of a body and no others."""

    async def kept_small(scope, receive, send):
        left = KEPT

        async def receive_some():
            nonlocal left
            message = await receive()
            if body := message.get("body"):
                message = {**message, "body": body[:left]}
                left -= len(message["body"])
            return message

        await app(scope, receive_some, send)

    return kept_small
