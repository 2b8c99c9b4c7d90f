"""Enrols a node in the store of the environment and prints its token."""

import _lib

_lib.set_up_django()

from django.utils import timezone  # noqa: E402

from roster import access  # noqa: E402
from roster.services import nodes  # noqa: E402

print(nodes.enrol(access.Caller("person", "benchmark", role="manager"), "bench-node", "", timezone.now())[2])
