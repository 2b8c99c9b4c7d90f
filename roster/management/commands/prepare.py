"""What the supervisor runs before it starts the processes."""

import json

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand

from roster import clock
from roster.models import Token
from roster.services import people, tokens

LABEL = "printed at start"


class Command(BaseCommand):
    help = "Migrates, makes the roles and the first admin, and prints one JSON line with an enrolment token and a link."

    def handle(self, *args, **options):
        settings.STATIC_ROOT.mkdir(parents=True, exist_ok=True)
        call_command("migrate", verbosity=0, stdout=self.stderr)
        now = clock.now()
        people.make_roles()
        admin = people.first_admin(now)
        for old in Token.objects.filter(kind="enrolment", label=LABEL, revoked_at=None):
            tokens.revoke(old, by="hub", now=now, reason="minted anew at start")
        raw = tokens.issue("enrolment", by="hub", now=now, label=LABEL)
        secret = people.sign_in_link(admin.username, by="hub", now=now)
        self.stdout.write(json.dumps({"enrolment_token": raw, "sign_in_path": f"/sign-in/link/{secret}/"}))
