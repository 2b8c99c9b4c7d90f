"""What a mistyped id may have been meant for."""

from __future__ import annotations

from difflib import get_close_matches

from roster.models import Agent, Profile

AROUND = 50  # ids looked at on either side
ALIKE = 0.6  # from here on two ids read as one mistyped


def near(slug: str, most: int = 5) -> list[str]:
    """Up to ``most`` ids that are nearly ``slug``, best first, among those around it in the order of ids: two short
    walks along an index, however large the fleet. A slip in the first letter is beyond that."""
    asked = slug.lower().replace("\0", "")[:64]
    found: set[str] = set()
    for kind in (Agent, Profile):
        ids = kind.objects.values_list("slug", flat=True)
        found.update(ids.filter(slug__gte=asked).order_by("slug")[:AROUND])
        found.update(ids.filter(slug__lt=asked).order_by("-slug")[:AROUND])
    return get_close_matches(asked, sorted(found), most, ALIKE)
