"""How the stretches of an agent's timeline are told in words."""

from __future__ import annotations

from django import template

from roster import timeline

from .agora import visible
from .told import WHO

register = template.Library()


@register.simple_tag
def stretch_words(lane: str, segment: timeline.Segment) -> str:
    """Say one segment in a line: from when to when, and what."""
    told = {"expired": "gone", "away": segment.reason}.get(segment.word, segment.word)
    if lane == "doing":
        told = f"says {told}" + (f": {visible(segment.task)}" if segment.task else "")
    if lane == "switch":
        told += f" by {visible(segment.by)}" + (f": {visible(segment.reason)}" if segment.reason else "")
    return f"{segment.begin:%H:%M}–{segment.end:%H:%M} UTC: {told}{', begun earlier' if segment.earlier else ''}"


@register.simple_tag
def cause(segment: timeline.Segment, slug: str) -> str:
    """Who brought a segment about and why, as far as an event tells; ``slug`` is whom the timeline is of."""
    by = "itself" if segment.by == slug else WHO.get(segment.by, visible(segment.by))
    came_back = segment.by == slug and segment.reason.startswith("was ")  # from what, the segment before it says
    return ": ".join(filter(None, (by, "" if came_back else visible(segment.reason))))
