"""What can go wrong, in the words of the domain. One map to HTTP lives in ``agora_web/api.py``."""

from __future__ import annotations


class HubError(Exception):
    """A refusal with a machine-readable ``code``, a sentence for people and optional facts.

    ``detail`` holds what a program may want to act on (``field``, ``since``, ``successor``, ``last_seen``).
    """

    status = 400
    code = "bad_request"

    def __init__(self, message: str, *, code: str | None = None, **detail):
        super().__init__(message)
        self.message = message
        self.code = code or self.code
        self.detail = detail


class Unauthorized(HubError):
    """No token, or one the hub does not know, or one that was revoked: never told apart (P61)."""

    status, code = 401, "unauthorized"

    def __init__(self):
        super().__init__(
            "No valid token came with this call: it is missing, wrong, revoked or ended. Send one as 'Authorization: Bearer <token>'."
        )


class Forbidden(HubError):
    status, code = 403, "forbidden"


class NotRegistered(Forbidden):
    """The id is free and this caller's token may not take it."""

    code = "not_registered"

    def __init__(self):
        super().__init__("No agent has this id. A new id needs an enrolment token: PUT /api/agents/{id} with one.")


class NotFound(HubError):
    status, code = 404, "not_found"


class Expired(HubError):
    """An ephemeral agent that went silent and has no profile: gone from the roster, not forgotten."""

    status, code = 404, "expired"


class Conflict(HubError):
    """The thing exists but is in the wrong state. ``state`` and ``allowed`` go beside the message."""

    status, code = 409, "conflict"

    def __init__(self, message: str, *, state: str, allowed: list[str], code: str | None = None, **detail):
        super().__init__(message, code=code, **detail)
        self.state, self.allowed = state, allowed


class NobodyThere(Conflict):
    """A send to many that reaches nobody."""

    code = "nobody"


class Retired(HubError):
    status, code = 410, "retired"


class Invalid(HubError):
    """A field has a value the hub cannot take; ``field`` names it, nothing was stored. ``problem`` is what is wrong with
    it, to be shown beside the field itself."""

    status, code = 422, "invalid"

    def __init__(self, field: str, problem: str, *, code: str | None = None):
        super().__init__(f"{field}: {problem}", code=code, field=field)
        self.problem = problem


class TooLarge(HubError):
    status, code = 413, "too_large"


class UnsupportedMedia(HubError):
    status, code = 415, "unsupported_media_type"


class TooMany(HubError):
    """Over the caller's own rate; ``retry_after`` is in seconds."""

    status, code = 429, "too_many_requests"

    def __init__(self, retry_after: int):
        super().__init__(f"Too many requests from this caller. Try again in {retry_after} s.")
        self.retry_after = retry_after


class Full(HubError):
    """An inbox holds as much as it may; it is worth coming back once its agent has been there."""

    status, code = 429, "inbox_full"
    retry_after = 60


class Unavailable(HubError):
    """The database or the broker is away: the caller should come back, nothing was lost or decided."""

    status, code = 503, "unavailable"
    retry_after = 2
