"""Walk 3 in a real browser with a real runner: Disable on the node's page answers who waits, without a reload."""

from __future__ import annotations

import pytest

from tests.flows.running import enrolled

pytestmark = pytest.mark.browser
SOON = 2.0  # seconds within which a change must be on an open page (P10)


def test_disable_on_a_nodes_page_answers_who_waits_and_spares_what_runs_s7(look, hub, tmp_path):
    from playwright.sync_api import expect

    with (
        enrolled(hub, "page-alder", tmp_path) as runner,
        hub.client(hub.register("page-echo")) as echo,
        hub.client(hub.register("page-delta")) as delta,
    ):
        runner.start()
        page = look("/nodes/page-alder/")
        page.same_page()
        for asker, body in ((echo, "wait for the gate"), (delta, "second"), (echo, "third")):
            asker.post("/api/nodes/page-alder/prompt", json={"body": body}).raise_for_status()
        page.sees("#queue [data-v^=running]", "Answers page-echo")
        page.sees("#queue tbody tr:nth-child(2)", "page-echo")

        page.page.fill("#reason", "new disks")
        page.page.click("#switch-button")
        page.sees("#switch-block", "disabled by admin", SOON)
        page.sees("#queue", "Nobody waits", SOON)
        page.sees("#queue [data-v^=running]", "Answers page-echo")
        disabled = page.page.locator("#record article", has_text="no model was called")
        expect(disabled).to_have_count(2)

        runner.open_gate()
        page.sees("#queue", "Nothing runs")
        page.page.click("#switch-button")
        page.sees("#switch-button", "Disable", SOON)
        delta.post("/api/nodes/page-alder/prompt", json={"body": "and now?"}).raise_for_status()
        page.sees("#record article:has-text('and now?') .answer", "page-alder answered")
        assert not page.was_reloaded()
