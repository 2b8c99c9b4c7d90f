"""Tokens from the terminal, also while the hub runs."""

from django.core.management.base import CommandError

from roster import clock
from roster.errors import HubError
from roster.management.terminal import TerminalCommand
from roster.models import Agent, Node
from roster.services import tokens


class Command(TerminalCommand):
    help = (
        "token create (enrolment | agent ID | node NAME | person USERNAME) prints one new token; token revoke PREFIX."
    )

    def add_arguments(self, parser):
        verbs = parser.add_subparsers(dest="verb", required=True)
        create = verbs.add_parser("create", help="Print a new token, once.")
        create.add_argument("kind", choices=["enrolment", "agent", "node", "person"])
        create.add_argument("name", nargs="?", default="")
        revoke = verbs.add_parser("revoke", help="End a token by its prefix.")
        revoke.add_argument("prefix")

    def handle(self, *args, verb, **options):
        try:
            self.create(options["kind"], options["name"]) if verb == "create" else self.revoke(options["prefix"])
        except HubError as why:
            raise CommandError(why.message) from None

    def create(self, kind: str, name: str) -> None:
        if (kind == "enrolment") == bool(name):
            raise CommandError("An enrolment token has no name, every other kind needs one.")
        owner = {} if kind == "enrolment" else self.owner(kind, name)
        self.stdout.write(tokens.issue(kind, by="terminal", now=clock.now(), label="terminal", **owner))

    def owner(self, kind: str, name: str) -> dict:
        if kind == "node":
            found = {"node": Node.objects.filter(slug=name).first()}
        elif kind == "person":
            found = {"agent": Agent.objects.filter(slug=name, modality="human").first()}
        else:
            found = {"agent": Agent.objects.filter(slug=name, modality="ai").first()}
        if not any(found.values()):
            raise CommandError(f"There is no {kind} '{name}'. This command makes a token and nothing else.")
        return found

    def revoke(self, prefix: str) -> None:
        token = tokens.by_prefix(prefix)
        ended = tokens.revoke(token, by="terminal", now=clock.now())
        self.stdout.write(f"{token.prefix} is revoked." if ended else f"{token.prefix} was revoked before.")
