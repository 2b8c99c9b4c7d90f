"""Walk 2 in a real browser: the row of a dormant agent says what waits, and stops saying so, without a reload."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.browser
SOON = 2.0  # seconds within which a change must be on an open page (P10)


def test_the_row_of_a_dormant_agent_counts_its_mail_as_it_comes_and_goes(look, hub):
    with (
        hub.client(hub.register("napper", liveness_mode="async")) as napper,
        hub.client(hub.register("napper-friend")) as friend,
    ):
        napper.post("/api/agents/napper/sign-off", json={}).raise_for_status()
        roster = look("/?q=napper")
        roster.row_says("napper", "dormant")
        roster.same_page()
        mail = roster.row("napper").locator("td.c-mail")
        for n in (1, 2):
            friend.post("/api/messages", json={"to": "napper", "body": "When you wake."}).raise_for_status()
            roster.sees(f"#{roster.row('napper').get_attribute('id')} td.c-mail summary", f"{n} waiting", SOON)
        roster.row_says("napper", "dormant")  # mail that arrives is no sign of life

        taken = napper.post("/api/agents/napper/inbox/drain").raise_for_status().json()
        roster.row_says("napper", "live", SOON)
        mail.get_by_text("–").wait_for(timeout=SOON * 1000)
        seqs = [each["seq"] for each in taken["messages"]]
        napper.post("/api/agents/napper/inbox/ack", json={"lease": taken["lease"], "seqs": seqs}).raise_for_status()
        assert not roster.was_reloaded()
