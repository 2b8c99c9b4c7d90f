"""Mail in a real browser: what arrives is said and shown, opening it reads it, an answer goes out once, and typing is
never disturbed."""

from __future__ import annotations

import re

import pytest

from tests.browser.test_whole_site import PHONE, no_sideways_scroll

pytestmark = pytest.mark.browser
UNREAD = "#mail-count b"
COUNT = "() => Number(document.querySelector('#mail-count b')?.textContent ?? 0)"


class Writer:
    """An agent that writes to the first admin."""

    def __init__(self, hub, slug: str):
        self.slug, self.client = slug, hub.client(hub.register(slug, liveness_mode="async"))

    def send(self, subject: str, to="admin", **more) -> int:
        answer = self.client.post("/api/messages", json={"to": to, "subject": subject, "body": "hello", **more})
        assert answer.status_code == 201, answer.text
        return answer.json()["seq"]

    def drained(self) -> list[dict]:
        """What waits for the writer itself, taken and acked."""
        taken = self.client.post(f"/api/agents/{self.slug}/inbox/drain", json={}).json()
        if seqs := [each["seq"] for each in taken["messages"]]:
            done = {"lease": taken["lease"], "seqs": seqs}
            self.client.post(f"/api/agents/{self.slug}/inbox/ack", json=done).raise_for_status()
        return taken["messages"]


@pytest.fixture(scope="module")
def echo(fleet):
    return Writer(fleet, "inbox-echo")


@pytest.fixture
def expect(look):
    from playwright.sync_api import expect

    return expect


def unread(shown) -> int:
    return shown.page.evaluate(COUNT)


def toasts(shown):
    return shown.page.locator("#news .toast[data-key=mail]")


def subject(shown) -> str:
    return shown.page.locator("#subject").inner_text()


def test_mail_that_arrives_is_said_once_in_a_toast_and_counted_on_every_live_page_r218(look, echo, expect):
    older = echo.send("An older one")
    roster, inbox = look("/?q=inbox-"), look("/inbox/")
    before = unread(roster)
    seq = echo.send("First <b>words</b>")
    expect(toasts(roster)).to_have_text(re.compile("Mail from inbox-echo: First <b>words</b>"))
    expect(roster.page.locator(UNREAD)).to_have_text(str(before + 1))
    roster.page.get_by_role("button", name="Dismiss").click()
    inbox.page.locator(f"#m{older} input").check()
    inbox.page.get_by_role("button", name="Done with 1 ticked").click()
    expect(roster.page.locator(UNREAD)).to_have_text(str(before))  # it asked anew, and the arrival still waits
    expect(toasts(roster)).to_have_count(0)
    roster.go(f"/inbox/m/{seq}/").sees("#subject", "First <b>words</b>")
    expect(toasts(roster)).to_have_count(0)


def test_what_came_while_nobody_looked_is_one_toast_and_acks_of_ones_own_are_none_r218(look, echo, expect):
    roster, second = look("/?q=inbox-"), look("/?q=admin")
    mail = second.row("admin").locator(".c-mail summary")
    waited = int(re.sub(r"\D", "", mail.inner_text()))
    hide(roster, True)
    seqs = []
    for n in range(5):
        seqs.append(echo.send(f"While away {n}"))
        expect(mail).to_contain_text(str(waited + n + 1))
    expect(toasts(roster)).to_have_count(0)
    hide(roster, False)
    expect(toasts(roster)).to_have_text(re.compile("5 new messages: the latest from inbox-echo: While away 4"))
    roster.page.get_by_role("button", name="Dismiss").click()
    before = unread(roster)
    second.go("/inbox/")
    for seq in seqs:
        second.page.locator(f"#m{seq} input").check()
    second.page.get_by_role("button", name="Done with 5 ticked").click()
    expect(second.page.get_by_text("5 messages done.")).to_be_visible()
    said = f"{before - 5} unread" if before > 5 else ""  # nothing is said of none
    expect(roster.page.locator("#mail-count")).to_have_text(said)
    expect(toasts(roster)).to_have_count(0)


def hide(shown, hidden: bool) -> None:
    """As if the tab were hidden, or shown again."""
    shown.page.evaluate(
        """hidden => { Object.defineProperty(document, "hidden", { get: () => hidden, configurable: true });
        document.dispatchEvent(new Event("visibilitychange")) }""",
        hidden,
    )


def test_opening_a_message_beside_its_list_reads_it_and_the_keys_walk_on(look, echo, expect):
    seqs = [echo.send(f"Walk {n}") for n in range(3)]
    inbox = look("/inbox/")
    inbox.same_page()
    before = unread(inbox)
    inbox.page.keyboard.press("j")
    expect(inbox.page.locator(f"#m{seqs[2]} a")).to_be_focused()
    inbox.page.keyboard.press("j")
    inbox.page.keyboard.press("Enter")
    expect(inbox.page.locator("#subject")).to_have_text("Walk 1")
    expect(inbox.page.locator("#subject")).to_be_focused()
    expect(inbox.page.locator(UNREAD)).to_have_text(str(before - 1))
    expect(inbox.page.locator(f"#m{seqs[1]}")).to_have_class("item")
    expect(inbox.page.locator(f"#m{seqs[2]}")).to_have_class("item unread")
    assert not inbox.was_reloaded() and inbox.page.url.endswith(f"/inbox/m/{seqs[1]}/")
    inbox.page.keyboard.press("j")
    inbox.page.keyboard.press("Enter")
    expect(inbox.page.locator("#subject")).to_have_text("Walk 0")
    inbox.page.go_back()
    expect(inbox.page.locator("#subject")).to_have_text("Walk 1")
    expect(inbox.page.locator(f"#m{seqs[1]}")).to_have_attribute("aria-current", "true")
    assert not inbox.was_reloaded()
    inbox.page.reload()
    expect(inbox.page.locator("#subject")).to_have_text("Walk 1")
    inbox.page.locator(f"#thread button[value='{seqs[1]}']").click()
    expect(inbox.page.get_by_text("1 message done.")).to_be_visible()
    inbox.sees("#thread .stands", "done")


def test_the_list_comes_anew_and_neither_moves_what_is_read_nor_what_is_about_to_be_ticked(look, echo, expect):
    read, tick = echo.send("Being read", body="line\n" * 200), echo.send("About to tick")
    inbox = look(f"/inbox/m/{read}/")
    inbox.page.locator("#thread").evaluate("each => each.scrollTop = 300")
    place = inbox.page.locator("#rows").bounding_box()
    inbox.page.locator(f"#m{tick} input").check()
    came = echo.send("Comes meanwhile")
    expect(toasts(inbox)).to_have_count(1)  # it is there, and the pointer is still over the list
    expect(inbox.page.locator(f"#m{came}")).to_have_count(0)
    expect(inbox.page.get_by_role("button", name="1 new: show")).to_be_visible()
    assert inbox.page.locator("#rows").bounding_box() == place
    inbox.page.mouse.move(5, 5)
    expect(inbox.page.locator("#rows > li").first).to_have_attribute("id", f"m{came}")
    expect(inbox.page.locator("#held")).to_be_hidden()
    expect(inbox.page.locator(f"#m{tick} input")).to_be_checked()
    expect(inbox.page.get_by_role("button", name="Done with 1 ticked")).to_be_enabled()
    assert inbox.page.locator("#thread").evaluate("each => each.scrollTop") == 300
    expect(inbox.page.get_by_role("button", name=f"Done with #{read}")).to_be_in_viewport()  # however long the text
    assert subject(inbox) == "Being read"


def test_the_form_says_who_gets_it_and_a_double_click_sends_once(look, echo, expect):
    asked = echo.send("A question")
    shown = look(f"/inbox/m/{asked}/")
    shown.page.get_by_role("link", name="Reply").click()
    expect(shown.page.locator("#to")).to_have_value("inbox-echo")
    shown.sees("#who", "gets it now")
    shown.page.locator("#to").fill("inbox-echo, access-dormant")
    shown.page.locator("#body").focus()
    shown.sees("#who", "once awake")
    shown.page.locator("#body").fill("An answer")
    shown.page.get_by_role("button", name="Send").dblclick()
    shown.sees("#thread .notice", "gets it when it wakes")
    assert [each["body"] for each in echo.drained() if each["in_reply_to"] == asked] == ["An answer"]
    look("/inbox/sent/", live=True).sees("#rows > li", "1 waiting, 1 done")


def test_typing_a_letter_is_never_disturbed_by_mail_that_arrives_p43(look, echo, expect):
    form = look("/inbox/write/?to=inbox-echo", live=False)
    expect(form.page.locator("#body")).to_be_focused()
    text = "sixty letters that are typed one after the other, undisturbed"
    for n, letter in enumerate(text):
        form.page.keyboard.type(letter)
        if n % 12 == 0:
            echo.send(f"Interruption {n}")
            expect(toasts(form)).to_have_count(1)
    assert form.page.locator("#body").input_value() == text
    assert form.page.evaluate("[document.activeElement.id, document.activeElement.selectionStart]") == [
        "body",
        len(text),
    ]


def test_a_text_that_is_too_large_is_said_before_it_is_sent(look, echo):
    form = look("/inbox/write/?to=inbox-echo", live=False)
    form.page.locator("#body").evaluate(
        "(field, text) => { field.value = text; field.dispatchEvent(new Event('input', { bubbles: true })) }",
        "ä" * (128 * 1024 + 1),
    )
    form.page.get_by_role("button", name="Send").click()
    assert "262146 bytes, 262144 at most" in form.page.locator("#body").evaluate("field => field.validationMessage")
    assert form.page.url.endswith("?to=inbox-echo")


def test_a_page_that_does_not_change_by_itself_hears_of_mail_at_once_and_calls_itself_not_live(look, echo, expect):
    events = look("/events/", live=False)
    echo.send("Heard on another page")
    expect(toasts(events)).to_contain_text("Heard on another page")  # within less than the 15 s of a plain question
    assert events.page.locator("#newer").get_attribute("data-state") == "printed"


def test_a_page_whose_own_line_does_not_get_through_asks_for_mail_p45(look, echo, expect):
    form = look("/inbox/write/", live=False)
    form.page.clock.install()
    form.page.route_web_socket(re.compile("/live/"), lambda socket: socket.close(code=1011, reason="a test"))
    form.go("/inbox/write/", live=False)
    echo.send("Asked for in vain till now")
    form.page.clock.fast_forward("00:16")
    expect(toasts(form)).to_contain_text("Asked for in vain till now")


def test_a_letter_whose_hub_does_not_answer_stays_in_its_form_and_goes_out_once(look, echo, expect):
    def lose(route):
        if route.request.method == "POST":
            route.fetch(max_redirects=0)  # it was taken, and nobody hears so
        route.abort()

    form = look("/inbox/write/?to=inbox-echo", live=False)
    form.expected = ("Failed to load resource: net::ERR_FAILED",)
    form.page.locator("#body").fill("Written with care")
    form.page.route("**/inbox/write/", lose)
    form.page.get_by_role("button", name="Send").click()
    form.sees("#not-sent", "the hub does not answer. Your text is kept here")
    expect(form.page.locator("#body")).to_have_value("Written with care")
    form.page.unroute("**/inbox/write/")
    form.page.get_by_role("button", name="Send").click()
    form.sees("#thread .notice", "Sent as")
    assert [each["body"] for each in echo.drained()].count("Written with care") == 1


def test_a_corrected_address_drops_its_error_and_says_who_gets_it_while_it_is_typed(look, echo, expect):
    form = look("/inbox/write/?to=inbox-ecco", live=False)
    form.refused = 422
    form.page.locator("#body").fill("text")
    form.page.get_by_role("button", name="Send").click()
    form.sees("#to-error", "there is no agent 'inbox-ecco' (did you mean 'inbox-echo'?)")
    expect(form.page.locator("#to")).to_be_focused()
    expect(form.page.locator("#body")).to_have_value("text")
    form.page.locator("#to").fill("inbox-echo")
    expect(form.page.locator("#to-error")).to_have_count(0)
    form.sees("#who", "gets it now")
    expect(form.page.locator("#to")).to_be_focused()


def test_a_message_that_cannot_be_opened_leaves_the_list_where_it_is(look, echo, expect):
    seq = echo.send("Out of reach")
    inbox = look("/inbox/")
    inbox.expected = ("Failed to load resource: net::ERR_FAILED",)
    inbox.page.route("**/inbox/m/*/", lambda route: route.abort())
    inbox.page.locator(f"#m{seq} a").click()
    inbox.sees("#away", "the hub does not answer")
    expect(inbox.page.locator(f"#m{seq}")).to_be_visible()


def test_on_a_phone_one_pane_is_shown_at_a_time(look, echo, expect):
    seq = echo.send("On a phone " * 20, body="line\n" * 200)
    phone = look("/inbox/", viewport=PHONE)
    expect(phone.page.locator("#thread")).to_be_hidden()
    assert no_sideways_scroll(phone)
    phone.page.locator(f"#m{seq} a").click()
    phone.sees("#subject", "On a phone")
    expect(phone.page.get_by_role("button", name=f"Done with #{seq}")).to_be_in_viewport()
    expect(phone.page.locator("#rows")).to_be_hidden()
    assert no_sideways_scroll(phone)
    phone.page.get_by_role("link", name="← Waiting").click()
    expect(phone.page.locator("#rows")).to_be_visible()


def test_without_javascript_mail_is_read_answered_and_done_with(look, echo, expect):
    seq = echo.send("Without scripts")
    plain = look("/inbox/", live=False, java_script_enabled=False)
    plain.page.locator(f"#m{seq} a").click()
    plain.sees("#subject", "Without scripts")
    plain.page.get_by_role("button", name="Mark read").last.click()
    plain.sees("#subject", "Without scripts")
    assert plain.page.locator("#read").count() == 0
    plain.page.get_by_role("link", name="Reply").click()
    plain.page.locator("#to").fill("inbox-ecco")
    plain.page.locator("#body").fill("Plain words")
    plain.page.get_by_role("button", name="Check who gets it").click()
    plain.sees("#who", "did you mean 'inbox-echo'")
    plain.page.locator("#to").fill("inbox-echo")
    plain.page.get_by_role("button", name="Send").click()
    plain.sees("#thread .notice", "Sent as")
    plain.go("/inbox/", live=False)
    plain.page.locator(f"#m{seq} input").check()
    plain.page.get_by_role("button", name="Done: ticked").click()
    expect(plain.page.get_by_text("1 message done.")).to_be_visible()
    assert plain.page.locator(f"#m{seq}").count() == 0


def test_where_no_websocket_gets_through_the_inbox_asks_by_itself_p45(look, echo, expect):
    inbox = look("/inbox/", live=False)
    inbox.page.clock.install()
    inbox.page.route_web_socket(re.compile("/live/"), lambda socket: socket.close(code=1011, reason="a test"))
    inbox.go("/inbox/", live=False)
    inbox.sees("#connection", "not live since")
    seq = echo.send("Asked for")
    inbox.page.clock.fast_forward("00:31")
    expect(inbox.page.locator(f"#m{seq}")).to_be_visible()
    inbox.sees("#connection", "not live · asked at")
    expect(toasts(inbox)).to_have_count(1)


def test_a_second_browser_sees_what_the_first_one_did(look, echo, expect):
    seq = echo.send("In two browsers")
    first, second = look(f"/inbox/m/{seq}/"), look("/inbox/")
    first.page.get_by_role("button", name=f"Done with #{seq}").click()
    expect(second.page.locator(f"#m{seq}")).to_have_count(0)
    expect(second.page.locator("#boxes a").first).to_be_visible()
