"""One event is one line, whatever an agent put into it."""

import logging
import re

UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
LONGEST = 3_800  # characters of one line, which `up` relays whole; of a longer one the middle goes
SECRET = re.compile(r"agora_[aenp]_[\w-]{6}[\w-]+|/sign-in/link/[\w-]+")


def harmless(text: str) -> str:
    """``text`` with line breaks, control and direction characters written as escapes (P68)."""
    return UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


class OneLine(logging.Formatter):
    """Formats a record on one line; a traceback's line breaks are kept visible as escapes. Tokens are cut out."""

    def format(self, record):
        line = harmless(SECRET.sub("[secret]", super().format(record)))
        return line if len(line) <= LONGEST else f"{line[: LONGEST // 2]} […] {line[-LONGEST // 2 :]}"
