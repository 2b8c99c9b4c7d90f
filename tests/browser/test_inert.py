"""Whatever an agent says stays text: on the roster and its own page, in a push, in the admin, as a need (P67)."""

from __future__ import annotations

import json

import pytest

from tests.browser.payloads import ACTIVE, PAYLOADS

pytestmark = pytest.mark.browser
CREWS = ("inert-a", "inert-b")  # two halves, since a page of the roster has fewer rows than there are payloads
HALF = len(PAYLOADS) // 2
SLUGS = [f"{CREWS[n // HALF]}{n % HALF:02}" for n in range(len(PAYLOADS))]
NEEDED = 15  # at once; the list of those who need somebody is cut at twenty
FOUND = """active => [window.hits ?? 0, [...document.body.querySelectorAll(active)].map(each => each.outerHTML),
  document.querySelectorAll("#summary, #connection").length]"""
PREPARE = """
import json
from django.utils import timezone
from roster.models import Profile
from roster.services import profiles
for slug, payload in json.loads(%r):
    profiles.save(
        Profile(slug=slug, title=payload, role=payload, contact=payload, capabilities=[payload], body=payload,
                liveness_mode="async"),
        by="test", now=timezone.now())
"""


class Crew:
    """Sixty agents, each with one payload in everything that it or its profile can say."""

    def __init__(self, hub):
        self.client, self.tokens = hub.client(), []
        hub.command("shell", "-c", PREPARE % json.dumps(list(zip(SLUGS, PAYLOADS, strict=True))))
        for slug, payload in zip(SLUGS, PAYLOADS, strict=True):
            said = {"status": "idle", "task": payload, "work_mode": payload[:64], "host": payload[:60]}
            meta = {"x": payload, payload[:60]: "y"}
            made = self.client.put(f"/api/agents/{slug}", json=said | {"meta": meta})
            assert made.status_code == 201, made.text
            self.tokens.append(made.json()["token"])

    def say(self, n: int, **said) -> None:
        """A heartbeat of the agent with payload ``n``."""
        own = {"Authorization": f"Bearer {self.tokens[n]}"}
        answer = self.client.post("/api/heartbeat", json=said, headers=own)
        assert answer.status_code == 200, answer.text


@pytest.fixture(scope="module")
def corpus(hub):
    crew = Crew(hub)
    yield crew
    for n in range(len(PAYLOADS)):
        crew.say(n, status="idle")  # needs nobody any more
    crew.client.close()


def nothing_ran(look, ids: int) -> None:
    """``ids`` is how many of two names of the page's own there are: an element from a payload would bring another."""
    assert look.page.evaluate(FOUND, ACTIVE) == [0, [], ids], look.page.url


def test_there_are_sixty_payloads():
    assert len(set(PAYLOADS)) == 60 and max(map(len, PAYLOADS)) <= 160


@pytest.mark.parametrize("half", [0, 1])
def test_sixty_payloads_stay_text_on_the_roster_and_in_a_push_P67(look, corpus, half):
    crew, here = CREWS[half], range(half * HALF, (half + 1) * HALF)
    roster = look(f"/?q={crew}")
    roster.rows(HALF)
    nothing_ran(roster, 2)
    for n in here:
        corpus.say(n, status=f"working {PAYLOADS[n]}", task=f"pushed {PAYLOADS[n]}", session=PAYLOADS[n][:100])
    for n in here:
        roster.row_says(SLUGS[n], "pushed")
    nothing_ran(roster, 2)


def test_sixty_payloads_stay_text_among_what_needs_somebody_P67(look, corpus):
    """Each agent says that it failed, and at what: the page hears of it, says so in toasts, and forgets it again."""
    roster = look("/?q=inert-nobody")
    for first in range(0, len(PAYLOADS), NEEDED):
        some = range(first, first + NEEDED)
        for n in some:
            corpus.say(n, status="error", task=f"failed {PAYLOADS[n]}")
        roster.sees("#news .toast", "says error: failed")
        for n in some:
            need = roster.page.locator(f"#summary li:has(a[href='/agents/{SLUGS[n]}/'])").first
            need.wait_for(state="attached")
            assert "says error: failed" in need.text_content()
        nothing_ran(roster, 2)
        for n in some:
            corpus.say(n, status="idle")


def test_sixty_payloads_stay_text_on_the_agents_own_pages_P67(look, corpus):
    page = look(f"/agents/{SLUGS[0]}/")
    for n, slug in enumerate(SLUGS):
        page.go(f"/agents/{slug}/", live=n % 20 == 0)
        nothing_ran(page, 1)


def test_sixty_payloads_stay_text_in_mail_P67(look, corpus):
    """As subject and body: in the list, in the thread, in the form of an answer, among the hits of a search, in the
    admin, and in the toast of an arrival."""
    seqs = []
    for n, payload in enumerate(PAYLOADS):
        letter = {"to": "admin", "subject": payload, "body": payload, "in_reply_to": seqs[0] if n % 20 else None}
        own = {"Authorization": f"Bearer {corpus.tokens[0]}"}
        sent = corpus.client.post("/api/messages", json=letter, headers=own)
        assert sent.status_code == 201, sent.text
        seqs = [*(seqs if n % 20 else []), sent.json()["seq"]]
        if n % 20 == 19:
            page = look("/inbox/")
            nothing_ran(page, 1)
            page.go(f"/inbox/m/{seqs[-1]}/")
            assert page.page.locator(".letter").count() == 20
            nothing_ran(page, 1)
            page.go(f"/inbox/write/?reply={seqs[n % 7]}", live=False)
            nothing_ran(page, 0)
            page.go(f"/admin/inbox/message/{seqs[n % 7]}/change/", live=False)
            assert page.page.locator("#content fieldset").locator(ACTIVE).count() == 0
            assert page.page.evaluate("window.hits ?? 0") == 0
    page.go("/inbox/search/?q=hits", live=False)
    assert page.page.locator("mark").count() > 10
    nothing_ran(page, 0)
    for kind in ("message", "delivery"):
        listed(page, f"/admin/inbox/{kind}/", HALF)
    for payload in PAYLOADS[::6]:
        page = look("/?q=inert-nobody")
        corpus.client.post("/api/messages", json={"to": "admin", "subject": payload, "body": "x"}, headers=own)
        page.sees("#news .toast", f"Mail from {SLUGS[0]}")
        nothing_ran(page, 2)


def test_sixty_payloads_stay_text_in_the_admin_P67(look, corpus):
    """In the lists all of them; in the journals, which look for one id at a time, and in the forms every twelfth."""
    admin = look("/admin/", live=False)
    for kind in ("agent", "profile"):
        for crew in CREWS:
            listed(admin, f"/admin/roster/{kind}/?q={crew}", HALF)
    for slug in SLUGS[::12]:
        for kind in ("presenceedge", "act", "token"):
            listed(admin, f"/admin/roster/{kind}/?q={slug}", 1)
        listed(admin, f"/admin/roster/profile/?q={slug}", 1)
        admin.page.locator("#result_list tbody th a").first.click()
        admin.page.locator("#id_body").wait_for()
        assert admin.page.locator("#content fieldset").locator(ACTIVE).count() == 0, slug
        assert admin.page.evaluate("window.hits ?? 0") == 0


def listed(admin, address: str, least: int) -> None:
    """The list at ``address`` has its rows, and they are text."""
    admin.go(address, live=False)
    assert admin.answer.status == 200, address
    assert admin.page.locator("#result_list tbody tr").count() >= least, address
    assert admin.page.locator("#result_list").locator(ACTIVE).count() == 0, address
    assert admin.page.evaluate("window.hits ?? 0") == 0, address
