"""Stand-ins with the shape of what the views hand to the templates; a row is live and quiet unless said otherwise."""

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace as Thing

from roster import access, drawing
from roster.templatetags.told import KINDS, WHAT
from roster.templatetags.wrong import MEANINGS

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
        last_seen=back(seconds=2), last_seen_source="heartbeat", last_heartbeat=back(seconds=2), heartbeats_failing=False, last_worked=None, has_profile=True, expected_interval=1800, ttl=3600,
        trust_posture="hardened", synthesized=False, sessions=(), duplicate_sessions=0, clock_skew=None,
        profile_error="", presence=presence(), activity=activity(), task=None, work_mode=None, attention="none",
    )  # fmt: skip
    given.update(over)
    given.setdefault("sign", given["presence"].word if given["enabled"] else "disabled")
    return Thing(**given)


def person(role="viewer"):
    """Return somebody who is signed in."""
    may = access.permissions(access.Caller("person", "mira", role=role))
    return Thing(username="mira", role=role, may=may, caller=Thing(agent_id=1))


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
    edge = Thing(id=1, at=back(hours=2), kind="presence", by=None, before="dormant", after="live", reason="a heartbeat",
                 agent=None, before_since=None)  # fmt: skip
    return site(
        row=shown or row(), profile=profile, explain=[answer], events=[edge], rev=7, employment=employment(),
        warnings=[warning()], offered=[("drain", "Drain")],
        live_url="/live/agents/1/",
    ) | over  # fmt: skip


def employment(**over):
    """Return how an agent is employed."""
    given = dict(
        lifecycle="draining", since=back(minutes=5), reason="the project ended", successor="agent2", node="harbor",
        max_sessions=3, in_use=3, queued=1, workspace_state="failed", workspace="", workspace_error="no space left",
        template="night", expires_at=back(hours=-3), tools=("read", "search"),
    )  # fmt: skip
    return Thing(**given | over)


def warning(**over):
    """Return a warning that counts."""
    given = dict(id=1, rule="review-first", text="Merge only after a review.", evidence="commit 1a2b", at=back(days=2),
                 until=back(days=-88), counts=True, seq=4, withdrawn_at=None, withdrawn_by="", withdrawn_reason="")  # fmt: skip
    return Thing(**given | over)


def events():
    """Return the context of the page of events, with one of each kind."""
    of = Thing(slug="agent1")
    told = [
        Thing(pk=n, at=back(minutes=n), kind=kind, agent=of if n % 2 else None, by="ada", before=None, after=None,
              before_since=back(hours=5) if n % 3 else None, reason="why")
        for n, kind in enumerate(kind for kind in WHAT if kind not in SHAPED)
    ]  # fmt: skip
    told += [Thing(pk=90 + n, at=NOW, kind=kind, agent=of, by="agent1", before=before, after=after, before_since=None,
                   reason="") for n, (kind, (before, after)) in enumerate(SHAPED.items())]  # fmt: skip
    filters = {"agent": "agent1", "kind": "presence", "by": "", "from": "2026-11-30", "to": "", "active": True}
    return site(
        nav="events", page=Thing(events=told, next=7, newest=99), filters=filters | {"kinds": KINDS}, nobody=None,
        problems=[], first_url="/events/", next_url="/events/?at=7", newer_url="/events/newer/?after=99",
        is_first=False,
    )  # fmt: skip


SHAPED = {
    "presence": ("live", "dormant"),
    "activity": ({"activity": "idle", "task": None}, {"activity": "working", "task": "notes " * 40}),
    "clock_skew": (None, 720.0),
    "hub_started": ({"down_since": back(minutes=9).isoformat()}, {"deadlines_moved": 3}),
}


def anomalies():
    """Return the context of the page of anomalies, with one of each kind, open and closed."""
    evidence = {"last_seen": back(hours=1).isoformat(), "claims": "idle", "sessions": [{"session": "a", "host": "b"}]}
    of = Thing(slug="agent1")

    def row(pk, kind, closed_at=None):
        about = {"agent": of, "subject": "agent1"} if pk % 2 else {"agent": None, "subject": "expire_ephemeral"}
        return Thing(pk=pk, kind=kind, opened_at=back(hours=2), closed_at=closed_at, evidence=evidence, **about)

    groups = {kind: [row(2 * n, kind), row(2 * n + 1, kind)] for n, kind in enumerate(MEANINGS)}
    filters = {"state": "", "kind": "", "subject": "", "kinds": MEANINGS, "states": ("open", "closed"), "active": False}
    return site(
        nav="anomalies", groups=groups, is_cut=True, stands=Thing(newest=9, n_open=300), filters=filters,
        problems=["x"], closed=[row(50 + n, kind, NOW) for n, kind in enumerate(MEANINGS)], first_url="/anomalies/",
        next_url="/anomalies/?at=3", newer_url="/anomalies/newer/?newest=9&open=8", is_first=True,
    )  # fmt: skip
