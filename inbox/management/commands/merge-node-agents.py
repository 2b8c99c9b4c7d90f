"""Makes one agent of two rows that one node has."""

from django.core.management.base import CommandError

from inbox.services import merging
from roster import clock
from roster.errors import HubError
from roster.management.terminal import TerminalCommand


class Command(TerminalCommand):
    help = "merge-node-agents NODE OTHER gives the mail, memory and record of OTHER to NODE's own agent; OTHER retires."

    def add_arguments(self, parser):
        parser.add_argument("node")
        parser.add_argument("other")

    def handle(self, *args, node, other, **options):
        try:
            moved = merging.merge(node, other, by="terminal", now=clock.now())
        except HubError as why:
            raise CommandError(why.message) from None
        counted = f"{moved.messages} messages, {moved.memory} entries of memory and {moved.prompts} prompts"
        self.stdout.write(f"{counted} of {other} are {node}'s now; {other} is retired.")
