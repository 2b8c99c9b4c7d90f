"""Every page that a signed-in person can open, and a fleet that gives each of them something to show.

A new page is added to ``PAGES`` once: what has to hold for all pages is asked of it from then on.
"""

from __future__ import annotations

PREPARE = """
from django.contrib.auth.models import User
from django.utils import timezone
from roster.models import Profile
from roster.services import people, profiles
now = timezone.now()
people.give_role(User.objects.create_user("access-viewer"), "viewer", by="test", now=now)
profiles.save(
    Profile(slug="access-profiled", title="Release writer", role="writes notes", contact="mira", capabilities=["notes"],
            body="# Notes\\n\\nSee [the rules](https://example.org/).\\n\\n## How\\n\\n- one\\n\\n`code`",
            liveness_mode="async"),
    by="test", now=now)
"""

WARN = """
from django.conf import settings
from django.utils import timezone
from roster import access
from roster.models import Rule
from roster.services import conduct
now, admin = timezone.now(), access.Caller("person", "admin", role="admin")
conduct.save_rule(Rule(slug="review-first", text="Merge to main only after a review."), by="test", now=now)
conduct.report(admin, "access-hired", "review-first", "commit 1a2b", "merge-1", now, settings.WARNING_AGE)
"""

# name: the address, and whether the page is live
PAGES = {
    "the roster": ("/?q=access-", True),
    "the roster filtered to nothing": ("/?q=no-such-agent", True),
    "an agent": ("/agents/access-live/", True),
    "an agent with sessions": ("/agents/access-doubled/", True),
    "an agent that is dormant": ("/agents/access-dormant/", True),
    "an agent that needs somebody": ("/agents/access-error/", True),
    "an agent known by its profile only": ("/agents/access-profiled/", False),
    "an employee": ("/agents/access-hired/", True),
    "an employee's record": ("/agents/access-hired/record/", True),
    "the nodes": ("/nodes/", True),
    "a node": ("/nodes/access-node/", True),
    "a node that is disabled": ("/nodes/access-off/", True),
    "a verb": ("/agents/access-hired/retire/", False),
    "a verb that is not to be had": ("/agents/access-off/disable/", False),
    "a node's end": ("/nodes/access-node/retire/", False),
    "a warning's end": ("/warnings/1/withdraw/", False),
    "hiring": ("/hire/", False),
    "an engram": ("/agents/access-node/engram/", False),
    "the events": ("/events/", False),
    "the events of nobody": ("/events/?agent=access-nobody&from=x", False),
    "the anomalies": ("/anomalies/", False),
    "an inbox": ("/inbox/", True),
    "what was sent": ("/inbox/sent/", True),
    "a message": ("/inbox/m/1/", True),
    "the mail of another": ("/inbox/of/access-live/", True),
    "a letter that is written": ("/inbox/write/?to=access-live,access-dormant,access-nobody", False),
    "a search in mail": ("/inbox/search/?q=hel", False),
    "a search that finds nothing": ("/inbox/search/?q=no-such-words", False),
    "no held edges": ("/guard/", False),
    "the admin": ("/admin/", False),
    "the admin's list": ("/admin/roster/agent/?liveness_mode__exact=async", False),
    "the admin's form": ("/admin/roster/agent/1/change/", False),
    "the admin's empty form": ("/admin/roster/profile/add/", False),
    "the admin's empty template": ("/admin/roster/agenttemplate/add/", False),
    "the admin's people": ("/admin/auth/user/", False),
    "the admin's tokens": ("/admin/roster/token/", False),
    "the admin's journal": ("/admin/roster/act/?by=hub", False),
    "the admin's deliveries": ("/admin/inbox/delivery/", False),
    "the admin's list without a match": ("/admin/roster/presenceedge/?q=nobody", False),
}


def people(hub) -> None:
    """Agents in each presence and activity that a page draws in its own way, and a viewer."""
    hub.register("access-live", status="working: release notes", work_mode="deep", liveness_mode="async")
    hub.register("access-error", status="error", task="cannot reach the build machine " * 9, liveness_mode="always-on")
    gone = hub.client(hub.register("access-dormant", liveness_mode="async"))
    gone.post("/api/agents/access-dormant/sign-off", json={}).raise_for_status()
    doubled = hub.client(hub.register("access-doubled", liveness_mode="async"))
    for session in ("one", "two", "one", "two"):
        doubled.post("/api/heartbeat", json={"session": session, "host": "harbor"}).raise_for_status()
    hub.command("shell", "-c", PREPARE)
    mail(hub)
    staff(hub)


def staff(hub) -> None:
    """Two nodes with something in their records, one of them disabled, and a warned employee without a workspace."""
    boss, caller = hub.client(), hub.client(hub.register("access-asker", liveness_mode="async"))
    for slug in ("access-node", "access-off"):
        boss.post("/api/nodes", json={"slug": slug, "name": "Rack 3"}).raise_for_status()
    boss.post("/api/agents/access-off/disable", json={"reason": "maintenance " * 9}).raise_for_status()
    for text in ("Be kind.", "Be kind.\n\nBe brief."):
        boss.put("/api/agents/access-node/engram", json={"text": text}).raise_for_status()
    hired = {"id": "access-hired", "node": "access-node", "max_sessions": 3, "display_name": "Night shift"}
    boss.post("/api/agents", json=hired).raise_for_status()
    hub.command("shell", "-c", WARN)
    for slug in ("access-node", "access-off", "access-node"):
        caller.post(f"/api/nodes/{slug}/prompt", json={"body": "How full is the disk? " * 60}).raise_for_status()
    caller.post("/api/agents/access-hired/prompt", json={"body": "Are you there yet?"}).raise_for_status()


def mail(hub) -> None:
    """Messages to and from the first admin, and one between others."""
    writer, admin = hub.client(hub.register("access-writer", liveness_mode="async")), hub.client()
    asked = _send(writer, to="admin", subject="A question " * 12, importance="high", body="May I?\n\n\tmake clean")
    _send(admin, to=["access-dormant", "access-live"], subject="To both", body="hello", in_reply_to=asked)
    _send(writer, to="access-live", body="hello", importance="low")


def _send(sender, **letter) -> int:
    return sender.post("/api/messages", json=letter).raise_for_status().json()["seq"]
