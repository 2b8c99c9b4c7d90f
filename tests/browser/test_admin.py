"""The admin in a browser: what depends on its cookies, its scripts and its width."""

from __future__ import annotations

import re

import pytest

from tests.browser.test_whole_site import PHONE, no_sideways_scroll

pytestmark = pytest.mark.browser


def test_a_new_token_is_shown_once_and_a_reload_makes_no_other_P58(look, hub):
    admin = look("/admin/roster/token/add/", live=False, viewport=PHONE)
    admin.page.locator("#id_kind").select_option("enrolment")
    admin.page.locator("#id_label").fill("shown once")
    admin.page.locator("[name=_save]").click()
    admin.sees("code.secret", re.compile("^agora_e_"))
    assert no_sideways_scroll(admin)
    admin.page.reload()
    admin.sees("#content", "rotate it")
    assert admin.page.locator("code.secret").count() == 0
    admin.go("/admin/roster/token/?kind__exact=enrolment", live=False)
    assert admin.page.locator("td.field-label", has_text="shown once").count() == 1


def test_ticking_all_counts_the_page_and_offers_no_more(look, hub):
    hub.register("admin-ticked", liveness_mode="async")
    admin = look("/admin/roster/token/", live=False)
    admin.page.locator("#action-toggle").check()
    rows = admin.page.locator("#result_list tbody tr").count()
    admin.sees(".action-counter", f"{rows} of {rows} selected")
    assert admin.page.locator("text=Select all").count() == 0


def test_the_journals_filters_are_sent_together(look, hub):
    hub.register("admin-filtered", liveness_mode="async")
    admin = look("/admin/roster/act/?kind=registered", live=False)
    admin.page.locator("#searchbar").fill("admin-filtered")
    admin.page.locator("#searchbar").press("Enter")
    admin.sees("#result_list", "admin-filtered")
    admin.page.locator("[name=by]").fill("nobody")
    admin.page.locator("[name=by]").press("Enter")
    admin.sees("#content", "Nothing matches")
    asked = admin.page.url.partition("?")[2].split("&")
    assert {"kind=registered", "q=admin-filtered", "by=nobody"} <= set(asked)
