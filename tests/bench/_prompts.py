"""Enrols the node alder, whose agent is disabled, and the node birch, at the store that the environment names."""

import _lib

_lib.set_up_django()

from django.utils import timezone  # noqa: E402

from roster import access  # noqa: E402
from roster.services import nodes, switch  # noqa: E402

if __name__ == "__main__":
    manager = access.Caller("person", "mira", role="manager")
    for slug in ("alder", "birch"):
        nodes.enrol(manager, slug, "", timezone.now())
    switch.disable(manager, "alder", "a benchmark", timezone.now())
