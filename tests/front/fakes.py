"""Stand-ins with the shape of what the views hand to the templates; a row is live and quiet unless said otherwise."""

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace as Thing

from roster import drawing

NOW = datetime(2026, 11, 30, 14, 20, 0, tzinfo=UTC)


def back(**span):
    """Return the moment `span` (timedelta's words) before NOW."""
    return NOW - timedelta(**span)


def presence(word="live", **over):
    """Return a presence with its evidence."""
    seen = over.pop("as_of", back(seconds=2))
    given = {"since": back(hours=2), "verified": False, "source": "heartbeat", "reason": "", "deadline": None}
    return Thing(word=word, as_of=seen, **{**given, **over})


def activity(value="unknown", **over):
    """Return a self-reported activity."""
    return Thing(
        **{"value": value, "raw": "", "source": "heartbeat", "verified": False, "as_of": None, "since": None, **over}
    )


def row(pk=1, **over):
    """Return a row as the roster, the agent page and the socket share it."""
    given = dict(
        pk=pk, dom_id=f"agent-{pk}", id=f"agent{pk}", url=f"/agents/agent{pk}/", display_name="", kind="employee",
        modality="ai", mode="async", lifecycle="active", enabled=True, disabled=None, home_node=None, waiting=0,
        last_seen=back(seconds=2), last_seen_source="heartbeat", last_worked=None, has_profile=True, expected_interval=1800, ttl=3600,
        trust_posture="hardened", synthesized=False, sessions=(), duplicate_sessions=0, clock_skew=None,
        profile_error="", presence=presence(), activity=activity(), task=None, work_mode=None, attention="none",
    )  # fmt: skip
    given.update(over)
    given.setdefault("sign", given["presence"].word if given["enabled"] else "disabled")
    return Thing(**given)


def person(role="viewer"):
    """Return somebody who is signed in."""
    return Thing(username="mira", role=role)


def site(**over):
    """Return the context every page has."""
    return {"person": person(), "now": NOW, "notices": [], "nav": "roster", **over}


def filters(active=False, **over):
    """Return the roster's filters."""
    options = [("", "any", True), ("live", "live", False)]
    names = ("presence", "attention", "mode", "node", "lifecycle")
    choices = {name: options for name in names}
    given = dict.fromkeys(names, "") | {"q": "", "retired": False, "sort": "", "choices": choices, "active": active}
    return Thing(**{**given, **over})


def summary(**over):
    """Return the counts and who needs somebody."""
    words = ("live", "silent", "dormant", "unknown", "disabled")
    counts = [Thing(word=word, n=n) for n, word in enumerate(words)]
    hours = [hour(NOW.replace(minute=0) - timedelta(hours=back), counts) for back in reversed(range(24))]
    given = {"counts": counts, "needs_you": [], "total": 10, "at": back(seconds=1), "hours": hours, **over}
    return Thing(**given)


def hour(begin, counts=()):
    """Return one hour of the band."""
    return Thing(begin=begin, end=begin + timedelta(hours=1), counts=counts, total=sum(each.n for each in counts))


def band(hours=()):
    """Return the columns of the band."""
    return {"columns": drawing.band(list(hours))}


def sorts():
    """Return the two columns that order the table."""
    return {"agent": {"url": "/", "now": "ascending"}, "seen": {"url": "/?sort=-seen", "now": ""}}


def roster(rows=(), **over):
    """Return the context of the roster page."""
    return site(
        glance=summary(), sorts=sorts(), **band(summary().hours), rows=list(rows), filters=filters(), next_url=None, first_url=None, rev=7,
        live_url="/live/roster/?q=", command="agora heartbeat --status idle",
    ) | over  # fmt: skip


def evidence(**over):
    """Return one piece of evidence for the explain table."""
    given = {"source": "heartbeat", "value": "live", "raw": "", "as_of": back(minutes=3), "verified": False, "why": ""}
    return Thing(**{**given, **over})


def agent(shown=None, **over):
    """Return the context of an agent's page."""
    profile = Thing(
        title="Analyst", role="reads reports", capabilities=["reading"], contact="mira", html="", public=True,
        updated_at=back(days=1), updated_by="mira", parse_error="", path="kb/agents/agent1.md",
    )  # fmt: skip
    answer = Thing(question="reachable?", answer="live", winner=evidence(), losers=[evidence(value="dormant")])
    edge = Thing(id=1, at=back(hours=2), kind="presence", by=None, before="dormant", after="live", reason="a heartbeat")
    return site(
        row=shown or row(), profile=profile, explain=[answer], events=[edge], rev=7,
        live_url="/live/agents/1/",
    ) | over  # fmt: skip
