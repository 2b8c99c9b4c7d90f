"""Enrols a node in the store of the environment and prints its token."""

import os

import _lib  # noqa: F401  puts the checkout on the path
import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "agora_web.settings")
django.setup()

from django.utils import timezone  # noqa: E402

from roster import access  # noqa: E402
from roster.services import nodes  # noqa: E402

print(nodes.enrol(access.Caller("person", "benchmark", role="manager"), "bench-node", "", timezone.now())[2])
