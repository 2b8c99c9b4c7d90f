"""`agora inbox`, `agora read` and `agora ack`: looking consumes nothing, and only numbers that were given are acked."""

import json

import pytest

BOX = "/api/agents/echo/inbox"


@pytest.fixture(autouse=True)
def ready(agora, hub):
    agora.log_in(hub)


def header(seq, **changes):
    return {
        "seq": seq,
        "thread": seq,
        "in_reply_to": None,
        "kind": "mail",
        "from": "mira",
        "subject": "notes",
        "importance": "normal",
        "sent_at": "2026-08-01T09:00:00Z",
        "state": "waiting",
        "read": False,
        **changes,
    }


def box(*messages, **changes):
    counts = {"waiting": len(messages), "leased": 0, "unread": len(messages), "dead": 0}
    return {"agent": "echo", "peek": True, **counts, "messages": list(messages), "next": None, **changes}


def letter(**changes):
    deliveries = [{"to": "echo", "addressed_as": "echo", "state": "waiting"}]
    return {**header(7), "to": ["echo"], "body": "hello", "deliveries": deliveries, **changes}


def dated(script):
    return (200, script, {"Date": "Sat, 01 Aug 2026 12:00:00 GMT"})


def test_the_inbox_is_named_counted_and_listed(agora, hub):
    rows = [header(7, importance="high"), header(9, **{"from": None, "subject": "", "read": True, "state": "leased"})]
    rows[1]["until"] = "2026-08-01T12:20:00.000Z"
    hub.answers("GET", BOX, dated(box(*rows, leased=1, waiting=1, unread=1)))
    assert agora("inbox").stdout.splitlines() == [
        "inbox of echo: 1 waiting, 1 leased, 1 unread",
        "seq  from     subject  sent     state",
        "7    mira     notes    3 h ago  waiting, high",
        "9    the hub  -        3 h ago  leased for 20 min more, read",
    ]
    assert [(call.method, call.path) for call in hub.calls] == [("GET", BOX)]


def test_an_empty_inbox_says_whose_it_is(agora, hub):
    hub.answers("GET", BOX, (200, box()))
    done = agora("inbox")
    assert (done.returncode, done.stdout) == (0, "inbox of echo: nothing waits\n")


def test_all_pages_are_read_and_json_is_what_the_hub_gave(agora, hub):
    hub.answers("GET", BOX, (200, box(header(7), next=7)), (200, box(header(9))))
    found = json.loads(agora("inbox", "--json", "--all").stdout)
    assert found == box(header(7), header(9), waiting=1, unread=1)
    assert [call.query for call in hub.calls] == [
        {"state": "all", "limit": "500"},
        {"state": "all", "limit": "500", "after": "7"},
    ]


def test_a_subject_cannot_steer_the_terminal_nor_make_lines(agora, hub):
    hub.answers("GET", BOX, (200, box(header(7, subject="a\r\nb\x1b[31m\u202e"))))
    out = agora("inbox").stdout
    assert "a\\x0d\\x0ab\\x1b[31m\\u202e" in out
    assert len(out.splitlines()) == 3


def test_why_a_message_was_given_up_is_said(agora, hub):
    why = "it expired before anybody acked it"
    hub.answers("GET", BOX, (200, box(header(7, state="dead", dead_reason=why), waiting=0, unread=0, dead=1)))
    deliveries = [{"to": "delta", "state": "dead", "reason": why}, {"to": "mira", "state": "waiting", "reason": None}]
    hub.answers("GET", "/api/messages/7", (200, letter(deliveries=deliveries)))
    out = agora("inbox", "--all").stdout
    assert out.startswith("inbox of echo: 1 dead\n")
    assert f"dead, {why}\n" in out
    assert f"delivery   delta: dead, {why}\ndelivery   mira: waiting\n" in agora("read", "7").stdout


def test_another_agents_inbox_is_asked_for_by_a_node_token(agora, hub, kit):
    hub.answers("GET", "/api/agents/delta/inbox", (200, box()))
    assert agora("inbox", "--as", "delta").returncode == 0
    assert hub.calls[0].headers["Agora-Agent"] == "delta"


def test_a_token_that_is_nobodys_own_has_no_inbox(agora, hub):
    hub.answers("GET", "/api/whoami", (200, {"kind": "enrolment", "id": None}))
    done = agora("inbox", AGORA_TOKEN="t", AGORA_HUB=hub.url)
    assert done.returncode == 2
    assert "no agent's own" in done.stderr


def test_reading_prints_the_whole_message_and_then_marks_it(agora, hub):
    body = "first\n\tsecond \x1b[2J\u202e\r\nthird\u2028"
    hub.answers("GET", "/api/messages/7", (200, letter(body=body, thread=3, in_reply_to=5, subject="s\nsent 1999")))
    hub.answers("POST", "/api/messages/7/read", (200, {"seq": 7, "read_at": "2026-08-01T12:00:00Z"}))
    done = agora("read", "7")
    assert done.stdout.split("\n") == [
        "message    7, thread 3, reply to 5",
        "from       mira",
        "to         echo",
        "sent       2026-08-01T09:00:00Z",
        "importance normal",
        "delivery   echo: waiting",
        "subject    s\\x0asent 1999",
        "",
        "first",
        "\tsecond \\x1b[2J\\u202e",
        "third\\u2028",
        "",
    ]
    assert [call.path for call in hub.calls] == ["/api/messages/7", "/api/messages/7/read"]


def test_json_keeps_every_character(agora, hub):
    hub.answers("GET", "/api/messages/7", (200, letter(body="\x1b[2J")))
    hub.answers("POST", "/api/messages/7/read", (200, {}))
    out = agora("read", "7", "--json").stdout
    assert out.isascii()
    assert json.loads(out)["body"] == "\x1b[2J"


def test_who_sent_it_reads_it_without_marking_anything(agora, hub):
    hub.answers("GET", "/api/messages/7", (200, letter(deliveries=[{"to": "mira", "state": "acked"}])))
    assert agora("read", "7").returncode == 0
    assert len(hub.calls) == 1


def test_a_message_that_could_not_be_marked_is_shown_all_the_same(agora, hub, kit):
    hub.answers("GET", "/api/messages/7", (200, letter()))
    hub.answers("POST", "/api/messages/7/read", (503, kit.refusal("unavailable", "away")))
    done = agora("read", "7")
    assert done.returncode == 3
    assert done.stdout.endswith("hello\n")
    assert "shown, but not marked as read" in done.stderr


def test_an_ack_names_its_messages_and_tells_each_result(agora, hub):
    results = [{"seq": 7, "result": "acked"}, {"seq": 9, "result": "already_acked"}]
    hub.answers("POST", f"{BOX}/ack", (200, {"results": results, "waiting": 0}))
    done = agora("ack", "7", "9")
    assert (done.returncode, done.stdout) == (0, "7: acked\n9: already acked\n")
    assert hub.calls[0].body == {"seqs": [7, 9]}


@pytest.mark.parametrize("result", ["unknown", "dead"])
def test_an_ack_of_what_cannot_be_acked_is_code_1(agora, hub, result):
    hub.answers("POST", f"{BOX}/ack", (200, {"results": [{"seq": 7, "result": result}]}))
    done = agora("ack", "7")
    assert (done.returncode, done.stdout) == (1, f"7: {result}\n")


@pytest.mark.parametrize("args", [[], ["all"], ["-1"], ["0"], ["1.5"], ["\u0663"], ["9" * 30]])
def test_only_numbers_can_be_acked(agora, hub, args):
    assert agora("ack", *args).returncode == 2
    assert hub.calls == []


def test_an_ack_is_never_kept_for_later(agora, hub):
    hub.close()
    done = agora("ack", "7")
    assert done.returncode == 3
    assert "cannot be reached" in done.stderr
    assert not agora.outbox.exists()


def test_a_hub_that_is_away_is_asked_once_and_what_is_kept_is_named(agora, hub, kit, post):
    hub.answers("POST", "/api/messages", kit.HANGS_UP)
    agora("send", "analyst", "-m", "one")
    done = agora("inbox")
    assert done.returncode == 3
    assert done.stderr.startswith("agora: kept messages are still in the outbox: ")
    assert hub.to(BOX) == []


def test_kept_messages_that_the_hub_is_not_well_enough_for_do_not_keep_from_reading(agora, hub, post):
    post.away = True
    agora("send", "analyst", "-m", "one")
    hub.answers("GET", BOX, (200, box()))
    done = agora("inbox")
    assert (done.returncode, done.stdout) == (0, "inbox of echo: nothing waits\n")
    assert "still in the outbox" in done.stderr
