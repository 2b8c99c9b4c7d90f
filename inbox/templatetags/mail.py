"""How the pages say mail: states, recipients and bodies, in words."""

from __future__ import annotations

import re
from collections import Counter

from django import template
from django.template.defaultfilters import pluralize

from inbox import rules
from roster.templatetags.agora import visible

register = template.Library()
BLANKS = re.compile(r"[ \t\r\n]+")
STATES = {
    rules.WAITING: "waiting",
    rules.LEASED: "taken",
    rules.ACKED: "done",
    rules.DEAD: "not delivered",
    rules.ARCHIVED: "archived",  # after its ack, or put away without one: the reason beside it says so
}
RESULTS = {
    "acked": "done",
    "already_acked": "done before",
    "dead": "not delivered in time, so there is nothing to be done with",
    "unknown": "not in your inbox",
}
CODES = {
    "live": "gets it now",
    "draining": "gets it now, finishes its work and leaves the fleet then",
    "dormant": "gets it when it wakes",
    "silent": "gets it when it is heard again",
    "unknown": "gets it once it is heard",
    "disabled": "gets it once somebody enables it",
}


@register.filter
def state_word(state: str) -> str:
    return STATES.get(state, state)


@register.filter
def tally_words(tally: dict[str, int]) -> str:
    """How a sent message stands with all it went to: one word for one recipient, else how many of each."""
    if sum(tally.values()) == 1:
        return state_word(next(iter(tally)))
    return ", ".join(f"{n} {state_word(state)}" for state, n in tally.items())


@register.filter
def tally(lines) -> dict[str, int]:
    """How many of the lines of a message are in which state."""
    return dict(Counter(line.state for line in lines))


@register.filter
def code_words(code: str) -> str:
    """What a recipient's code in a receipt means for the letter."""
    return CODES.get(code, "gets it when it returns")


@register.filter
def bare(subject: str) -> str:
    """What a subject is about, whether or not it is that of an answer."""
    return re.sub(r"(?i)^(re:\s*)+", "", subject)


@register.filter
def seen(text: str) -> str:
    """Foreign text on one line, where no element can be: a run of blanks is one, every unseen character made visible."""
    return visible(BLANKS.sub(" ", text))


def acked(results: list[str]) -> str:
    """What an ack did, in a sentence."""
    told = [f"{n} message{pluralize(n)} {RESULTS[result]}" for result, n in Counter(results).items()]
    return f"{', '.join(told)}."
