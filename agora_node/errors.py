"""What can go wrong, and the exit code each kind ends in."""

FINE, REFUSED, USAGE, UNREACHABLE = 0, 1, 2, 3


class UsageError(Exception):
    """The command cannot be carried out as it was asked: wrong arguments, no login, an unreadable file."""

    exit_code = USAGE


class HubError(Exception):
    """A call to the hub did not succeed.

    `code` and `message` are the hub's own words, or ours when it gave none; `status` is the HTTP status, None when no
    answer came; `request_id` names the call in the hub's log; `retry_after` is in seconds; `detail` is the hub's
    object, the whole answer when that was not in the error shape.
    """

    def __init__(self, code, message, *, status=None, request_id=None, retry_after=None, detail=None):
        super().__init__(message)
        self.code, self.message, self.status = code, message, status
        self.request_id, self.retry_after = request_id, retry_after
        self.detail = detail if isinstance(detail, dict) else {}

    @property
    def is_refusal(self):
        """True when the hub understood and said no; False when it was away, overloaded or unwell: worth another try."""
        return self.status is not None and self.status < 500 and self.status not in (408, 429)

    @property
    def is_for_ever(self):
        """True when no later call could succeed: the token is not accepted, or the agent is retired."""
        return self.status in (401, 410)

    @property
    def ending(self):
        """Why no later call could succeed, in our words; None when one could. The hub's words are the error itself."""
        if self.status == 401:
            return "the hub does not accept this token, it was revoked or is not the right one; log in again"
        if self.status == 410:
            successor = self.detail.get("successor")
            return f"the agent is retired{f', its successor is {successor}' if successor else ''}"
        return None

    @property
    def exit_code(self):
        return REFUSED if self.is_refusal or self.status == 429 else UNREACHABLE

    def __str__(self):
        named = f" (request {self.request_id})" if self.request_id else ""
        return f"{self.message}{named}"
