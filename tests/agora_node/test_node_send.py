"""`agora send` while the hub is there: what is sent, what is printed, what is refused on this side."""

import json
import os
import pty
import subprocess

import pytest


@pytest.fixture(autouse=True)
def ready(agora, hub, post):
    agora.log_in(hub)


def test_a_message_is_sent_and_the_hubs_word_for_each_recipient_printed(agora, hub, post):
    done = agora("send", "analyst", "-s", "draft", "-m", "please read")
    said = "sent as 1\nanalyst: queued; analyst is dormant since 2026-08-01T09:00:00Z\n"
    assert (done.returncode, done.stdout, done.stderr) == (0, said, "")
    assert post.letters == [{"to": "analyst", "subject": "draft", "body": "please read"}]
    assert json.loads(agora("outbox", "--json").stdout) == []


def test_each_send_has_a_key_of_its_own(agora, hub):
    agora("send", "analyst", "-m", "same")
    agora("send", "analyst", "-m", "same")
    first, second = (call.headers["Idempotency-Key"] for call in hub.calls)
    assert first != second
    assert len(first) == len(second) == 26


def test_everything_that_can_be_said_is_said(agora, post):
    agora("send", "a,b, a", "-m", "x", "--reply", "7", "--importance", "high", "--expires", "2h")
    letter = post.letters[0]
    assert letter.pop("expires_at").endswith("Z")
    assert letter == {"to": ["a", "b", "a"], "body": "x", "in_reply_to": 7, "importance": "high"}


@pytest.mark.parametrize("to", ["live", "group:ops"])
def test_an_address_of_many_goes_as_it_is(agora, post, to):
    assert agora("send", to, "-m", "x").returncode == 0
    assert post.letters[0]["to"] == to


@pytest.mark.parametrize("more", [[], ["-m", "-"]])
def test_text_is_read_from_standard_input_and_kept_as_it_is(agora, post, more):
    text = "  caf\u00e9 \U0001f600\n\ttab \x1b[31m \u202e\r\nend \n"
    assert agora("send", "analyst", *more, stdin=text.replace("\r", "")).returncode == 0
    assert post.bodies == [text.replace("\r", "")]


def test_a_node_token_names_the_agent_it_writes_for(agora, hub):
    agora.config.unlink()
    agora.config.parent.rmdir()
    agora.log_in(hub, kind="node", agent=None)
    assert agora("send", "analyst", "-m", "x", "--as", "delta").returncode == 0
    assert hub.calls[0].headers["Agora-Agent"] == "delta"


def test_how_many_were_addressed_is_shown_and_cannot_steer_the_terminal(agora, hub):
    deliveries = [
        {"to": "a", "addressed_as": "group:ops", "state": "refused", "recipient_presence": "live", "note": "\x1b[2J"},
        {"to": "b", "addressed_as": "group:ops", "state": "waiting", "recipient_presence": "live"},
    ]
    hub.answers("POST", "/api/messages", (201, {"seq": 3, "thread": 3, "deliveries": deliveries}))
    out = agora("send", "group:ops", "-m", "x").stdout
    assert out == "sent as 3\na (group:ops): refused; \\x1b[2J\nb (group:ops): b is live\n"


def test_json_is_the_answer_as_the_hub_gave_it(agora, kit):
    assert json.loads(agora("send", "analyst", "-m", "x", "--json").stdout) == kit.receipt(1, "analyst")


@pytest.mark.parametrize(
    "args, stdin, said",
    [
        (["analyst"], "", "the message is empty"),
        (["analyst", "-m", " \n"], "", "the message is empty"),
        (["analyst"], "x" * (256 * 1024 + 1), "larger than 256 kB"),
        (["Bob", "-m", "x"], "", "'Bob' is not an id"),
        (["a,,b", "-m", "x"], "", "'' is not an id"),
        (["group:", "-m", "x"], "", "'' is not an id"),
        (["group:ops,kite", "-m", "x"], "", "group:ops stands alone"),
        (["kite, group:ops", "-m", "x"], "", "group:ops stands alone"),
        (["live,kite", "-m", "x"], "", "live stands alone"),
        (["a", "-m", "x", "--reply", "-3"], "", "not a message's number"),
        (["a", "-m", b"\xff"], "", "not UTF-8"),
        (["a", "-m", "x", "--expires", "99999999999d"], "", "too long"),
    ],
)
def test_what_could_never_be_sent_is_wrong_usage_and_not_kept(agora, hub, args, stdin, said):
    done = agora("send", *args, stdin=stdin)
    assert done.returncode == 2
    assert said in done.stderr
    assert hub.calls == []
    assert not agora.outbox.exists()


def test_bytes_that_are_no_text_are_refused(agora):
    done = subprocess.run(
        agora._line(["send", "analyst"]), env=agora.env, input=b"ok \xff", cwd=agora.home, capture_output=True
    )
    assert done.returncode == 2
    assert b"not UTF-8 text (byte 4)" in done.stderr


@pytest.mark.parametrize(
    "status, code", [(404, "unknown_recipient"), (410, "retired"), (429, "inbox_full"), (401, "unauthorized"), (403, "forbidden")]
)  # fmt: skip
def test_what_the_hub_refuses_is_neither_sent_nor_kept(agora, hub, kit, status, code):
    hub.answers("POST", "/api/messages", (status, kit.refusal(code, "said the hub"), {"Retry-After": "3600"}))
    done = agora("send", "analyst", "-m", "x")
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "agora: said the hub (request req-7)\n")
    assert agora("outbox").stdout == "The outbox is empty.\n"


def test_without_a_text_and_somebody_typing_it_is_asked_for(agora):
    ours, theirs = pty.openpty()
    try:
        done = subprocess.run(agora._line(["send", "a"]), env=agora.env, stdin=theirs, capture_output=True, timeout=20)
    finally:
        os.close(ours)
        os.close(theirs)
    assert done.returncode == 2
    assert b"give -m TEXT, or pipe it in" in done.stderr


def test_an_outbox_that_cannot_be_written_sends_nothing(agora, hub):
    agora.outbox.parent.mkdir(parents=True)
    agora.outbox.write_bytes(b"this is no database, and long enough to be read as one" * 50)
    done = agora("send", "analyst", "-m", "x")
    assert done.returncode == 2
    assert "cannot be used" in done.stderr
    assert hub.calls == []
