"""Who can be written to, for a form that helps with names."""

from __future__ import annotations

from inbox.letters import EVERYBODY, GROUP
from inbox.models import MailGroup
from roster import queries

OFFERED = 300  # ids; of a larger fleet the first ones, the others are typed


def names() -> list[str]:
    """Addresses to offer: everybody live, the groups, and ids of who is not retired."""
    groups = MailGroup.objects.order_by("name").values_list("name", flat=True)[:OFFERED]
    return [EVERYBODY, *(f"{GROUP}{name}" for name in groups), *queries.ids(OFFERED)]
