"""A small fleet to look at: it calls the real API like any agent, says that it is a demo, and signs off again."""

from __future__ import annotations

import itertools
import json
import random
import signal
import time
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from roster import clock
from roster.models import Agent, Token
from roster.services import tokens

FLEET = ("demo-atlas", "demo-echo", "demo-hermes", "demo-iris", "demo-juno", "demo-vesta")
SAYS = (  # what they say, and how often
    ("idle", "working: reading the change", "working: running the tests", "working: writing release notes", "error"),
    (4, 5, 5, 5, 1),
)
TTL = 60  # seconds: whatever happens to this command, its agents leave the roster by themselves


class HubAway(CommandError):
    """Nobody answers at the hub's address."""


class Command(BaseCommand):
    help = "Drives six ephemeral demo agents over the API of the running hub until Ctrl-C, then signs them off."

    def add_arguments(self, parser):
        parser.add_argument("--seconds", type=float, help="Stop by itself after so many seconds.")

    def handle(self, *args, seconds=None, **options):
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        up = self.running_hub()
        own = {slug: self.register(up, slug) for slug in FLEET}
        self.stdout.write(f"{len(FLEET)} demo agents are on {up['url']}/ now. Ctrl-C signs them off.")
        try:
            self.drive(up, own, seconds)
        except KeyboardInterrupt:
            pass
        finally:
            self.leave(up, own)

    def drive(self, up: dict, own: dict[str, str], seconds: float | None) -> None:
        """One heartbeat a second, each agent in its turn; like every good agent it outlives a hub that is away."""
        until, away = time.monotonic() + seconds if seconds else float("inf"), False
        for slug in itertools.cycle(FLEET):
            if time.monotonic() >= until:
                return
            try:
                self.call(up, "POST", "/api/heartbeat", own[slug], {"status": random.choices(*SAYS)[0]})
                if away:
                    self.stdout.write("The hub answers again.")
                away = False
            except HubAway as error:
                if not away:
                    self.stderr.write(f"{error} The demo goes on trying; Ctrl-C ends it.")
                away = True
            time.sleep(1)

    def leave(self, up: dict, own: dict[str, str]) -> None:
        try:
            for slug, token in own.items():
                self.call(up, "POST", f"/api/agents/{slug}/sign-off", token, {})
            self.stdout.write("The demo agents signed off.")
        except HubAway:
            self.stdout.write(f"The hub is away; the demo agents leave its roster by themselves within {TTL} s.")
        for token in Token.objects.filter(agent__slug__in=FLEET, revoked_at=None):
            tokens.revoke(token, by="demo", now=clock.now(), reason="the demo ended")

    def running_hub(self) -> dict:
        try:
            return json.loads((settings.DATA_DIR / "up.json").read_text())
        except (OSError, ValueError):
            raise CommandError("No hub runs on this data folder. Start one first: python3 manage.py up") from None

    def register(self, up: dict, slug: str) -> str:
        """A token of demo agent ``slug``, which an earlier demo may have registered already."""
        known = Agent.objects.filter(slug=slug).first()
        if known is not None:
            return tokens.issue("agent", by="demo", now=clock.now(), agent=known, label="demo")
        body = {"status": "idle", "liveness_mode": "ephemeral", "ttl": TTL, "meta": {"demo": True}}
        return self.call(up, "PUT", f"/api/agents/{slug}", up["enrolment_token"], body)["token"]

    def call(self, up: dict, method: str, path: str, token: str, body: dict) -> dict:
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        request = Request(up["url"].rstrip("/") + path, json.dumps(body).encode(), headers, method=method)
        try:
            with urlopen(request, timeout=10) as answer:
                return json.load(answer)
        except HTTPError as refusal:
            raise CommandError(f"The hub refused {method} {path}: {refusal.read(500).decode()}") from None
        except (URLError, OSError) as error:
            raise HubAway(f"The hub at {up['url']} does not answer: {error}.") from None
