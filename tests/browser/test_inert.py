"""Whatever an agent says stays text: on the roster, on its page, in a push and in the admin (P67)."""

from __future__ import annotations

import json

import pytest

pytestmark = pytest.mark.browser

HIT = "window.hits=(window.hits||0)+1"
PAYLOADS = [
    f"<script>{HIT}</script>",
    f"<img src=x onerror={HIT}>",
    f"<svg onload={HIT}>",
    f'"><script>{HIT}</script>',
    f"' onmouseover='{HIT}' x='",
    f"</td></tr></tbody></table><script>{HIT}</script>",
    f"<iframe srcdoc='<script>parent.{HIT}</script>'></iframe>",
    '<img src="https://evil.example/beacon.png">',
    '<div hx-get="/evil" hx-trigger="load">x</div>',
    '<div data-hx-get="/evil" data-hx-trigger="load">x</div>',
    f"<div hx-on:click='{HIT}' hx-on--load='{HIT}'>x</div>",
    '<hx-partial hx-target="#summary" hx-swap="innerHTML">gone</hx-partial>',
    '<form action="https://evil.example/"><button id="connection">x</button></form>',
    "[click](javascript:alert(1)) ![x](https://evil.example/beacon.png)",
    "<https://evil.example/> <javascript:alert(1)>",
    f"{{{{7*7}}}}{{% now 'Y' %}}${{{HIT}}}",
    f"<style>@import 'https://evil.example/x.css';</style><link rel=stylesheet href=https://evil.example/x.css>",
    '<base href="https://evil.example/"><meta http-equiv="refresh" content="0;url=https://evil.example/">',
    f"<details open ontoggle={HIT}><summary>x</summary></details>",
    f"&lt;script&gt;{HIT}&lt;/script&gt;\u202e\u2066x\u2028y",
]
PREPARE = """
import json, sys
from django.utils import timezone
from roster.models import Profile
from roster.services import profiles
for n, payload in enumerate(json.loads(%r)):
    profiles.save(
        Profile(slug=f"inert-{n:02}", title=payload[:160], role=payload[:160], contact=payload[:160],
                capabilities=[payload], body=payload, liveness_mode="async"),
        by="test", now=timezone.now())
"""
ACTIVE = (
    "main script, main iframe, main base, main style, main [srcdoc], main img, main [onload], main [onerror], "
    "main [ontoggle], main [onmouseover], main [hx-get], main [data-hx-get], main hx-partial, "
    "main a[href^='javascript'], main [action^='https']"
)


@pytest.fixture(scope="module")
def corpus(hub):
    """Twenty agents, each with one payload in everything that it or its profile can say."""
    hub.command("shell", "-c", PREPARE % json.dumps(PAYLOADS))
    tokens = []
    for n, payload in enumerate(PAYLOADS):
        said = {"task": payload, "work_mode": payload[:64], "host": payload[:60]}
        tokens.append(hub.register(f"inert-{n:02}", meta={"x": payload, payload[:60]: "y"}, **said))
    return tokens


def nothing_ran(look, ids: int) -> None:
    assert look.page.evaluate("window.hits ?? 0") == 0, look.page.url
    assert look.page.locator(ACTIVE).count() == 0, look.page.url
    assert look.page.locator("#summary, #connection").count() == ids, look.page.url


def test_twenty_payloads_stay_text_on_the_roster_and_in_a_push_P67(look, corpus, hub):
    roster = look("/?q=inert-")
    roster.rows(len(PAYLOADS))
    nothing_ran(roster, 2)
    for token, payload in zip(corpus, PAYLOADS, strict=True):
        said = {"status": f"working {payload}"[:200], "task": f"pushed {payload}", "session": payload[:100]}
        answer = hub.client(token).post("/api/heartbeat", json=said)
        assert answer.status_code == 200, answer.text
    for n in range(len(PAYLOADS)):
        roster.row_says(f"inert-{n:02}", "pushed")
    nothing_ran(roster, 2)
    assert "onerror" in roster.row("inert-01").inner_text()


def test_twenty_payloads_stay_text_on_the_agents_own_pages_P67(look, corpus):
    page = look("/agents/inert-00/")
    for n in range(len(PAYLOADS)):
        page.go(f"/agents/inert-{n:02}/", live=n % 7 == 0)
        page.sees("#who", "contact")
        nothing_ran(page, 1)


def test_twenty_payloads_stay_text_in_the_admin_P67(look, corpus):
    admin = look("/admin/", live=False)
    for kind in ("agent", "profile", "token", "presenceedge", "act"):
        admin.go(f"/admin/roster/{kind}/?q=inert-01", live=False)
        assert admin.answer.status == 200, kind
        assert admin.page.evaluate("window.hits ?? 0") == 0, kind
    admin.go("/admin/roster/profile/?q=inert-01", live=False)
    admin.page.locator("#result_list tbody th a").first.click()
    admin.sees("#content", "onerror")
    assert admin.page.evaluate("window.hits ?? 0") == 0
