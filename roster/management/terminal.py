"""What the commands of the terminal have in common."""

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError


class TerminalCommand(BaseCommand):
    """A command beside the hub: where the database is not there or gives no answer, it says so in one sentence."""

    def execute(self, *args, **options):
        try:
            return super().execute(*args, **options)
        except DatabaseError as error:
            hint = f"Was a hub ever started on {settings.DATA_DIR}? AGORA_DATA names another folder."
            why = str(error).partition("\n")[0]
            raise CommandError(f"The hub's database cannot be used: {why}. {hint}") from None
