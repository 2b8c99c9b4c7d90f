"""A way in for a person who has no password, from the terminal."""

import json

from django.conf import settings
from django.core.management.base import CommandError

from roster import clock
from roster.errors import NotFound
from roster.management.terminal import TerminalCommand
from roster.services import people


class Command(TerminalCommand):
    help = "Prints a one-time sign-in link for USERNAME, good for a day."

    def add_arguments(self, parser):
        parser.add_argument("username")

    def handle(self, *args, username, **options):
        try:
            secret = people.sign_in_link(username, by="terminal", now=clock.now())
        except NotFound as why:
            raise CommandError(why.message) from None
        self.stdout.write(f"{base_url()}/sign-in/link/{secret}/")


def base_url() -> str:
    """Where the hub is reached: its public address, else what the running hub wrote of itself, else the default."""
    if settings.PUBLIC_URL:
        return settings.PUBLIC_URL
    try:
        return json.loads((settings.DATA_DIR / "up.json").read_text())["url"].rstrip("/")
    except (OSError, ValueError, KeyError):
        return "http://127.0.0.1:8000"
