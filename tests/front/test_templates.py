import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from django.template.loader import render_to_string

from . import fakes

ROOT = Path(__file__).parents[2]
TEMPLATES = sorted((ROOT / "templates").rglob("*.html"))
VOID = {"meta", "link", "input", "img", "br", "hr", "circle", "path", "rect", "use"}


class Shape(HTMLParser):
    """Reads a page: every start tag, the ids, and whether every element is closed in turn."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.ids, self.stack, self.roots = [], [], [], []
        self.feed(text)
        assert not self.stack, f"left open: {self.stack}"

    def handle_starttag(self, tag, attrs):
        if not self.stack:
            self.roots.append(tag)
        self.tags.append((tag, dict(attrs)))
        self.ids += [value for name, value in attrs if name == "id"]
        if tag not in VOID:
            self.stack.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.stack and self.stack.pop() == tag, f"</{tag}> closes nothing"


def message(**over):
    return {"parts": [], "glance": None, "notices": None, "rev": 8, "now": fakes.NOW} | over


def without_person(context):
    return {name: value for name, value in context.items() if name != "person"}


PAGES = {
    "roster/roster.html": fakes.roster([fakes.row(1), fakes.row(2)]),
    "roster/agent.html": fakes.agent(),
    "roster/events.html": fakes.events(),
    "roster/anomalies.html": fakes.anomalies(),
    "registration/sign_in.html": {"form": None, "next": "/", "why": "You are signed out."},
    "403.html": {"why": "This needs the role manager.", "admins": ["ada"]},
    "404.html": {"request_path": "/no/such/page/"},
    "roster/no_agent.html": {"slug": "ecco", "rule": "", "near": ["echo"], "search": "/?q=ecco"},
    "500.html": {},
    "503.html": {"marked": fakes.NOW, "now": fakes.NOW, "request_id": "f00d"},
    "403_csrf.html": {},
    "401.html": {"typed": [("to", "echo"), ("body", "x")], "why": "Your sign-in has ended.", "sign_in": "/sign-in/"},
}
PARTS = {
    "roster/_row.html": ({"row": fakes.row(4), "now": fakes.NOW}, "tr", "agent-4"),
    "roster/_notices.html": ({"notices": [], "now": fakes.NOW}, "div", "notices"),
    "roster/_summary.html": ({"glance": fakes.summary(), "now": fakes.NOW}, "section", "summary"),
    "roster/_band.html": (
        fakes.band(fakes.summary().hours) | {"glance": fakes.summary(), "now": fakes.NOW},
        "figure",
        "band",
    ),
    "roster/_cursor.html": ({"rev": 3, "now": fakes.NOW}, "span", "cursor"),
    "roster/_who.html": (without_person(fakes.agent()), "section", "who"),
    "roster/_reachable.html": (without_person(fakes.agent()), "section", "reachable"),
    "roster/_employment.html": (without_person(fakes.agent()), "section", "employment"),
    "roster/_explain.html": (without_person(fakes.agent()), "section", "explain"),
    "roster/_agent_events.html": (without_person(fakes.agent()), "section", "agent-events"),
}


@pytest.mark.parametrize("name", PAGES)
def test_every_page_renders_well_formed_with_unique_ids_none_blank_and_landmarks_F099(name):
    page = Shape(render_to_string(name, PAGES[name]))
    assert len(page.ids) == len(set(page.ids)) and all(each and each == each.strip() for each in page.ids)
    names = [tag for tag, _ in page.tags]
    assert names.count("main") == 1 and names.count("h1") == 1
    assert names.count("title") == 1 + names.count("g")  # a drawn column has one of its own
    assert all(
        attrs.get("aria-hidden") == "true" or attrs.get("aria-label") for tag, attrs in page.tags if tag == "svg"
    )


@pytest.mark.parametrize("name", PARTS)
def test_every_pushed_part_has_one_root_one_id_and_nothing_personal(name):
    context, root, identity = PARTS[name]
    text = render_to_string(name, context)
    assert Shape(text).roots == [root]
    assert f'<{root} id="{identity}"' in text
    assert "mira</bdi> viewer" not in text and "csrf" not in text


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.name)
def test_no_template_carries_what_the_content_policy_forbids(path):
    text = path.read_text()
    assert not re.search(r"\sstyle\s*=|\son[a-z]+\s*=|hx-on|javascript:|js:|<style", text)
    assert all("src=" in tag for tag in re.findall(r"<script\b[^>]*>", text))
    assert "|safe" not in text and "autoescape off" not in text


def test_the_stylesheet_stays_small():
    assert (ROOT / "static/css/agora.css").stat().st_size < 30_000


def test_the_live_scripts_listen_before_htmx_connects():
    text = render_to_string("roster/roster.html", fakes.roster())
    assert text.index("js/live.js") < text.index("vendor/htmx")


EVIL = "\"'><script>alert(1)</script><i hx-get=/x>\u202e"


def test_whatever_an_agent_says_is_inert_on_every_page():
    said = dict(display_name=EVIL, task=EVIL, home_node=EVIL, work_mode=EVIL, last_seen_source=EVIL)
    doing = fakes.activity("unknown", raw=EVIL, source=EVIL)
    evil = fakes.row(5, id=EVIL, activity=doing, presence=fakes.presence("unknown", reason=EVIL), **said)
    said_of = dict(agent=None, before=EVIL, before_since=None, after=EVIL)
    told = fakes.Thing(id=1, at=fakes.NOW, kind=EVIL, by=EVIL, reason=EVIL, **said_of)
    lost = fakes.evidence(value=EVIL, raw=EVIL + "x", why=EVIL)
    why = fakes.Thing(question="who?", answer=EVIL, winner=lost, losers=[lost])
    for text in (
        render_to_string("roster/roster.html", fakes.roster([evil], notices=[notice(EVIL)])),
        render_to_string("roster/agent.html", fakes.agent(evil, profile=None, events=[told], explain=[why])),
        evil_history(),
    ):
        assert "alert(1)" in text and "<script>alert" not in text and "<i hx-get" not in text
        assert text.count("\u202e") <= 1  # the document's title is text and shows nothing else


def evil_history():
    """Both lists of the history with the hostile text wherever somebody else has a say."""
    of, evil = fakes.Thing(slug=EVIL), {"at": fakes.NOW, "before_since": fakes.NOW, "by": EVIL, "reason": EVIL}
    said = fakes.Thing(pk=1, kind="activity", agent=of, before=EVIL, after={"activity": EVIL, "task": EVIL}, **evil)
    odd = fakes.Thing(pk=2, kind=EVIL, agent=of, before={EVIL: EVIL}, after={EVIL: EVIL + "x"}, **evil)
    page = fakes.Thing(events=[said, odd], next=None, newest=2)
    told = {EVIL: EVIL, "claims": EVIL, "last_seen": EVIL, "sessions": [{"session": EVIL, "host": EVIL}]}
    wrong = fakes.Thing(
        pk=1, kind=EVIL, subject=EVIL, agent=None, opened_at=fakes.NOW, closed_at=fakes.NOW, evidence=told
    )
    lists = {"groups": {EVIL: [wrong]}, "closed": [wrong], "problems": [EVIL]}
    return render_to_string(
        "roster/events.html", fakes.events() | {"page": page, "problems": [EVIL]}
    ) + render_to_string("roster/anomalies.html", fakes.anomalies() | lists)


def notice(text):
    return fakes.Thing(level="alarm", text=text, since=fakes.back(minutes=4), key="k")


def test_a_notice_leads_to_the_held_changes_only_where_it_offers_that():
    held = fakes.Thing(level="alarm", text="held", since=None, key="held", release=True)
    link = 'href="/guard/"'
    assert link in render_to_string("roster/_notices.html", {"notices": [held], "now": fakes.NOW})
    assert link not in render_to_string("roster/_notices.html", {"notices": [notice("late")], "now": fakes.NOW})


def test_a_page_without_a_live_address_does_not_connect():
    assert "hx-ws:connect" not in render_to_string("roster/agent.html", fakes.agent(live_url=""))
    assert 'hx-ws:connect="/live/agents/1/"' in render_to_string("roster/agent.html", fakes.agent())


SHOWN = [
    (fakes.presence("live", verified=True, source="process"), r"live · seen\s"),
    (fakes.presence("live"), r"live · said\s"),
    (fakes.presence("silent", since=fakes.back(minutes=18)), r"silent since 14:02 UTC"),
    (fakes.presence("dormant"), r"dormant, last seen 3 h ago"),
    (fakes.presence("expired"), r"gone, last seen 3 h ago"),
    (fakes.presence("unknown", reason="node harbor unreachable"), r"unknown: node harbor unreachable since"),
]


@pytest.mark.parametrize(("presence", "words"), SHOWN, ids=[words for _, words in SHOWN])
def test_each_presence_is_said_in_words(presence, words):
    row = fakes.row(presence=presence, last_seen=fakes.back(hours=3))
    text = re.sub(r"<[^>]+>", "", render_to_string("roster/_presence.html", {"row": row, "now": fakes.NOW}))
    assert re.search(words, text)


@pytest.mark.parametrize(("skew", "warned"), [(None, ""), (300, ""), (-300, ""), (301, "5 min 1 s"), (-10800, "3 h")])
def test_a_clock_that_is_more_than_300_s_off_is_a_warning_on_the_agents_page_F004(skew, warned):
    text = render_to_string("roster/agent.html", fakes.agent(fakes.row(clock_skew=skew)))
    assert re.findall(r'<p class="warn">Its clock is (.*?) off', text) == ([warned] if warned else [])


@pytest.mark.parametrize(
    ("last", "words"), [(fakes.back(hours=3), "the last heartbeat came"), (None, "none ever came")]
)
def test_an_agent_whose_heartbeats_fail_carries_a_tag_and_a_warning_f123(last, words):
    row = fakes.row(last_seen_source="own_call", last_heartbeat=last, heartbeats_failing=True)
    told = render_to_string("roster/_reachable.html", {"row": row, "now": fakes.NOW})
    assert "Heartbeats failing, other calls ok: " + words in told
    tag = ">heartbeats failing</span>"
    assert tag in render_to_string("roster/_row.html", {"row": row, "now": fakes.NOW})
    assert tag not in render_to_string("roster/_row.html", {"row": fakes.row(), "now": fakes.NOW})


def test_each_value_of_a_row_opens_its_evidence():
    doing = fakes.activity("working", as_of=fakes.NOW)
    row = fakes.row(4, home_node="harbor", waiting=3, activity=doing)
    text = render_to_string("roster/_row.html", {"row": row, "now": fakes.NOW})
    values = re.findall(r'<td class="[\w -]+" data-v="(\w+)">(<details class="ev" name="ev"><summary>)?', text)
    assert [name for name, _ in values] == ["presence", "doing", "mode", "node", "mail", "seen"]
    assert all(opens for _, opens in values), values


@pytest.mark.parametrize(("word", "holds"), [("live", True), ("silent", False), ("dormant", False), ("expired", False)])
@pytest.mark.parametrize("page", ["roster/_row.html", "roster/_reachable.html"])
def test_only_of_who_is_live_it_is_said_until_when_that_holds(page, word, holds):
    """An agent that signed off has a deadline left over, and whoever is silent one that has passed."""
    row = fakes.row(presence=fakes.presence(word, deadline=fakes.NOW))
    text = render_to_string(page, {"row": row, "now": fakes.NOW})
    assert ("holds until" in text) == holds
    assert ("said by its heartbeat, " in text) == holds and ("its heartbeat: last heard" in text) != holds


def test_a_disabled_agent_says_who_why_and_still_its_presence():
    disabled = fakes.Thing(by="mira", reason="maintenance", since=fakes.NOW)
    row = fakes.row(enabled=False, disabled=disabled)
    text = re.sub(r"<[^>]+>", "", render_to_string("roster/_presence.html", {"row": row, "now": fakes.NOW}))
    assert text.strip() == "disabled by mira: maintenance · live"


def test_a_message_ends_with_the_cursor_and_leaves_out_what_did_not_change():
    text = render_to_string("live/roster_message.html", message())
    assert text.count("<hx-partial") == 1 and 'data-rev="8"' in text
    full = message(parts=[fakes.Thing(target="#agent-1", swap="delete", html="")], glance=fakes.summary(), notices=[])
    targets = re.findall(r'hx-target="(#[\w-]+)"', render_to_string("live/roster_message.html", full))
    assert targets == ["#agent-1", "#summary", "#notices", "#cursor"]


def test_an_agents_message_carries_each_live_part_of_its_page():
    text = render_to_string("live/agent_message.html", without_person(fakes.agent()))
    targets = re.findall(r'hx-target="(#[\w-]+)"', text)
    assert targets == ["#who", "#reachable", "#employment", "#explain", "#agent-events", "#notices", "#cursor"]
    page = render_to_string("roster/agent.html", fakes.agent())
    assert all(f'id="{target[1:]}"' in page for target in targets)


def test_without_scripts_the_page_says_of_when_it_is():
    text = re.sub(r"<[^>]+>", "", render_to_string("roster/_connection.html", {"now": fakes.NOW}))
    assert text.strip() == "page as of 14:20 UTC · reload"


def test_only_admins_are_shown_the_way_to_the_admin():
    assert 'href="/admin/"' in render_to_string("roster/roster.html", fakes.roster(person=fakes.person("admin")))
    assert 'href="/admin/"' not in render_to_string("roster/roster.html", fakes.roster())


def test_the_empty_roster_teaches_the_one_command_that_fills_it():
    text = render_to_string("roster/roster.html", fakes.roster())
    assert '<code id="command">agora heartbeat --status idle</code>' in text
    searched = render_to_string("roster/roster.html", fakes.roster(filters=fakes.filters(active=True)))
    assert "No agent matches" in searched and 'id="command"' not in searched
