"""The form of a letter: what a person typed, the letter that it asks for, and what is wrong with which field."""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.http import QueryDict

from inbox import rules
from inbox.letters import EVERYBODY, GROUP, Letter, addressed
from inbox.queries import Letter as Kept
from inbox.schemas import checked
from roster.errors import HubError, Invalid

BETWEEN = re.compile(r"[\s,;]+")
KEY = re.compile(r"[\w-]{16,64}", re.ASCII)
EXPIRY = {
    "": ("never", None),
    "1h": ("in 1 hour", timedelta(hours=1)),
    "1d": ("in 1 day", timedelta(days=1)),
    "7d": ("in 7 days", timedelta(days=7)),
    "30d": ("in 30 days", timedelta(days=30)),
}
FIELDS = ("to", "subject", "body", "importance", "expires")


@dataclass
class Form:
    """What stands in the fields. ``key`` makes a double click and a reload send once; ``errors`` go by field."""

    to: str = ""
    subject: str = ""
    body: str = ""
    importance: str = "normal"
    expires: str = ""
    reply: int | None = None
    key: str = field(default_factory=lambda: secrets.token_urlsafe(16))
    errors: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, posted: QueryDict) -> Form:
        """What was typed, line ends as people mean them: a browser sends each as two characters."""
        typed = {name: posted.get(name, "") for name in FIELDS}
        reply = posted.get("reply", "")
        form = cls(**typed, reply=int(reply) if reply.isascii() and reply.isdigit() and len(reply) < 19 else None)
        form.body = form.body.replace("\r\n", "\n")
        if KEY.fullmatch(posted.get("key", "")):
            form.key = posted["key"]
        return form

    def letter(self, at: datetime) -> Letter:
        """The letter that the fields ask for, if they can be one. Raises Invalid, TooLarge."""
        to, many = self.recipients()
        if len(self.subject) > rules.LONGEST_SUBJECT:
            raise Invalid("subject", f"has {len(self.subject)} characters, {rules.LONGEST_SUBJECT} at most")
        if self.importance not in rules.IMPORTANCE:
            raise Invalid("importance", f"is one of {', '.join(rules.IMPORTANCE)}")
        if self.expires not in EXPIRY:
            raise Invalid("expires", "is none of the choices")
        span = EXPIRY[self.expires][1]
        expires_at = at + span if span else None
        _no_nul(self, "subject", "body")
        return checked(Letter(to, self.body, self.subject, self.reply, self.importance, expires_at, many))

    def recipients(self) -> tuple[tuple[str, ...], bool]:
        """Who is named, each once, and whether that is an address of many. Raises Invalid."""
        _no_nul(self, "to")
        names = [name for name in BETWEEN.split(self.to) if name]
        if not names:
            raise Invalid("to", "names nobody")
        if len(names) > rules.MOST_NAMED:
            raise Invalid("to", f"names {len(names)} recipients, {rules.MOST_NAMED} at most")
        if len(names) == 1:
            return addressed(names[0])
        if many := [name for name in names if name == EVERYBODY or name.startswith(GROUP)]:
            raise Invalid("to", f"“{many[0]}” stands alone: it is an address of many")
        return addressed(names)

    def refused(self, why: HubError) -> None:
        """Puts a refusal beside the field that it is about; one about no field is about whom it should go to."""
        field = why.detail.get("field")
        name = {"expires_at": "expires", "in_reply_to": "to"}.get(field, field)
        if why.code == "key_reused":
            self.key = secrets.token_urlsafe(16)
            name, said = (
                "body",
                ("This form was sent before, with another text: see Sent. Send again if this is to go out as well."),
            )
        else:
            said = why.message.removeprefix(f"{field}: ")
        self.errors[name if name in FIELDS else "to"] = said[:1].upper() + said[1:]


def _no_nul(form: Form, *names: str) -> None:
    for name in names:
        if "\0" in getattr(form, name):
            raise Invalid(name, "holds a NUL character, which no message can")


def answer(parent: Kept, own: str) -> Form:
    """The form of an answer to ``parent``: to its sender, or, of one's ``own`` message, to those it went to."""
    to = parent.sender if parent.sender != own else ", ".join(line.to for line in parent.lines)
    bare = not parent.subject or parent.subject.lower().startswith("re:")
    subject = parent.subject if bare else f"Re: {parent.subject}"
    return Form(to=to, subject=subject[: rules.LONGEST_SUBJECT], reply=parent.seq)
