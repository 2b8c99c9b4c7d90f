"""The outbox: what is kept while the hub is away goes to it later, in order and once."""

import fcntl
import json
import os
import random
import signal
import subprocess

import pytest

from agora_node import carrying, outbox
from agora_node.client import Hub
from agora_node.identity import Sender
from agora_node.ulid import new_ulid


@pytest.fixture(autouse=True)
def ready(agora, hub, post):
    agora.log_in(hub)


@pytest.fixture
def kept(agora):
    return lambda: json.loads(agora("outbox", "--json").stdout)


@pytest.fixture
def others_turn(agora):
    """Somebody else is sending: the lock is held until `close`."""
    agora.outbox.parent.mkdir(parents=True, exist_ok=True)
    with open(f"{agora.outbox}.lock", "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield file


def send(agora, *texts, to="analyst"):
    done = [agora("send", to, "-m", text) for text in texts]
    assert [each.returncode for each in done] == [0] * len(texts), done
    return [each.stdout for each in done]


def test_a_message_for_a_hub_that_is_away_is_kept_and_that_is_success(agora, hub, kept):
    hub.close()
    said = send(agora, "one")[0]
    assert said.startswith("kept: will be sent when the hub is back (")
    assert "Connection refused" in said
    (entry,) = kept()
    assert (entry["letter"], entry["speaker"], entry["refusal"]) == ({"to": "analyst", "body": "one"}, "echo", None)


@pytest.mark.parametrize(
    "script",
    [
        (502, b"<html>bad gateway</html>"),
        (500, {"error": {"code": "internal", "message": "a fault"}}),
        (503, {"error": {"code": "unavailable", "message": "away"}}, {"Retry-After": "3600"}),
        (429, {"error": {"code": "too_many_requests", "message": "slow"}}, {"Retry-After": "3600"}),
        (404, b"<html>a proxy's page</html>"),
        (302, {}, {"Location": "http://elsewhere.example/"}),
        (200, {"hello": "from the hotel's network"}),
        (201, b"cut sho"),
    ],
)
def test_an_answer_that_is_not_the_hubs_yes_or_no_keeps_it(agora, hub, kept, post, script):
    hub.answers("POST", "/api/messages", script)
    assert send(agora, "one")[0].startswith("kept: ")
    assert [entry["refusal"] for entry in kept()] == [None]


def test_nothing_that_is_kept_can_be_read_by_others_or_holds_the_token(agora, post):
    post.away = True
    send(agora, "one")
    assert agora.outbox.stat().st_mode & 0o777 == 0o600
    assert agora.outbox.parent.stat().st_mode & 0o777 == 0o700
    assert b"stored-token" not in agora.outbox.read_bytes()


def test_what_is_kept_goes_first_and_in_order(agora, post, kept):
    post.away = True
    send(agora, "one", "two", "three")
    assert post.bodies == []
    post.away = False
    done = agora("send", "analyst", "-m", "four")
    assert post.bodies == ["one", "two", "three", "four"]
    assert done.stdout.startswith("sent as 4\n")
    assert done.stderr == "agora: 3 kept messages sent\n"
    assert kept() == []


def test_a_message_whose_answer_was_lost_is_repeated_and_arrives_once(agora, hub, post, kept):
    post.loses = 2
    send(agora, "one", "two")
    assert post.bodies == ["one"]
    send(agora, "three")
    assert post.bodies == ["one", "two", "three"]
    assert kept() == []
    assert len(hub.calls) == 5


@pytest.mark.parametrize(
    "command", [["inbox"], ["read", "7"], ["ack", "7"], ["heartbeat"], ["outbox", "--send"]], ids=lambda each: each[0]
)
def test_every_later_command_delivers_what_is_kept(agora, hub, kit, post, kept, command):
    post.away = True
    send(agora, "one", "two")
    post.away = False
    hub.answers("GET", "/api/agents/echo/inbox", (200, {"agent": "echo", "messages": [], "next": None}))
    hub.answers("GET", "/api/messages/7", (200, {"seq": 7, "deliveries": []}))
    hub.answers("POST", "/api/agents/echo/inbox/ack", (200, {"results": []}))
    hub.answers("POST", "/api/heartbeat", (200, kit.beat_answer()))
    done = agora(*command)
    assert done.returncode == 0
    assert "2 kept messages sent" in done.stderr
    assert post.bodies == ["one", "two"]


def test_each_round_of_every_delivers_what_is_kept(agora, hub, kit, post):
    hub.answers("POST", "/api/heartbeat", (200, kit.beat_answer()))
    post.away = True
    send(agora, "one")
    process = agora.start("heartbeat", "--every", "1s")
    kit.until(lambda: len(hub.to("/api/heartbeat")) >= 3, "three beats")
    post.away = False
    kit.until(lambda: post.bodies == ["one"], "the kept message")
    seen = len(hub.to("/api/heartbeat"))
    kit.until(lambda: len(hub.to("/api/heartbeat")) > seen, "the beat after it")
    hub.answers("POST", "/api/agents/echo/sign-off", (200, {}))
    process.terminate()
    _, err = process.communicate(timeout=10)
    assert err.splitlines() == [
        "agora: kept messages are still in the outbox: away (request req-7)",
        "agora: 1 kept message sent",
    ]


def test_a_heartbeat_does_not_fail_by_an_outbox_that_cannot_be_used(agora, hub, kit):
    hub.answers("POST", "/api/heartbeat", (200, kit.beat_answer()))
    agora.outbox.parent.mkdir(parents=True)
    agora.outbox.write_bytes(b"this is no database, and long enough to be read as one" * 50)
    done = agora("heartbeat")
    assert done.returncode == 0
    assert "cannot be used" in done.stderr
    assert "cannot be used" in agora("status").stdout


def test_a_refused_message_is_set_aside_with_the_reason_and_blocks_nobody(agora, hub, kit, post, kept):
    post.away = True
    send(agora, "one")
    send(agora, "two", to="gone")
    send(agora, "three", to="full")
    send(agora, "four")
    post.away = False
    post.refuses = {
        "gone": (410, kit.refusal("retired", "gone is \x1bretired")),
        "full": (429, kit.refusal("inbox_full", "the inbox of full is full"), {"Retry-After": "3600"}),
    }
    done = agora("outbox", "--send")
    assert done.returncode == 1
    assert post.bodies == ["one", "four"]
    assert [entry["letter"]["to"] for entry in kept()] == ["gone", "full"]
    shown = agora("outbox").stdout
    assert "refused: gone is \\x1bretired (request req-7)" in shown
    status = agora("status").stdout
    assert "outbox 0 kept, 2 refused\n" in status
    assert "to gone was refused: gone is \\x1bretired" in status
    # What each is, is told once; that they are there, to whoever sends more.
    assert (
        agora("send", "analyst", "-m", "five").stderr == "agora: 2 refused messages in the outbox: see `agora outbox`\n"
    )


def test_what_expired_while_it_was_kept_is_said_to_have_expired(agora, kit, post):
    post.away = True
    agora("send", "gone", "-m", "one", "--expires", "1s")
    post.away = False
    late = kit.refusal("invalid", "expires_at: has passed already", field="expires_at")
    post.refuses = {"gone": (422, late)}
    done = agora("outbox", "--send")
    assert "refused: it expired at 2" in done.stdout and ", before it was sent" in done.stdout
    assert "has passed already" not in done.stdout + done.stderr


def test_a_refused_message_goes_again_when_it_is_named_and_goes_away_when_it_is_forgotten(agora, kit, post, kept):
    post.away = True
    send(agora, "one", "two", to="gone")
    post.away, post.refuses = False, {"gone": (410, kit.refusal("retired", "retired"))}
    agora("outbox", "--send")
    first, second = (entry["id"] for entry in kept())
    post.refuses = {}
    assert agora("outbox", "--send", first).returncode == 0
    assert post.bodies == ["one"]
    assert agora("outbox", "--forget", second).stdout == "forgotten: 1\n"
    assert kept() == []
    assert agora("outbox", "--forget", second).returncode == 2


def test_forgetting_is_all_or_nothing(agora, post, kept):
    post.away = True
    send(agora, "one")
    assert agora("outbox", "--forget", kept()[0]["id"], "01NOSUCHID").returncode == 2
    assert len(kept()) == 1


def test_a_revoked_token_refuses_no_message_and_the_next_login_sends_them(agora, hub, kit, post, kept):
    post.away = True
    send(agora, "one", "two")
    hub.answers("POST", "/api/messages", (401, kit.refusal("unauthorized", "needs a valid token")))
    assert agora("send", "analyst", "-m", "three").returncode == 1
    assert [entry["refusal"] for entry in kept()] == [None, None]
    post.__init__(hub)
    assert agora("outbox", "--send").returncode == 0
    assert post.bodies == ["one", "two"]


def test_each_senders_messages_wait_for_that_sender(agora, hub, post, kept):
    post.away = True
    send(agora, "as echo")
    post.away = False
    assert agora("send", "analyst", "-m", "as other", AGORA_TOKEN="other", AGORA_HUB=hub.url).returncode == 0
    assert post.bodies == ["as other"]
    assert [entry["speaker"] for entry in kept()] == ["echo"]


def test_a_sender_killed_before_its_message_was_tried_has_lost_nothing(agora, hub, kit, post, kept, others_turn):
    process = agora.start("send", "analyst", "-m", "one")
    kit.until(lambda: agora.outbox.exists() and len(kept()) == 1, "the stored message")
    process.send_signal(signal.SIGKILL)
    process.wait(10)
    others_turn.close()
    assert hub.calls == []
    agora("outbox", "--send")
    assert post.bodies == ["one"]


def test_a_sender_killed_while_it_waits_for_the_answer_sends_once(agora, hub, kit, post, kept):
    answered = kit.threading.Event()

    def slowly(call):
        answer = post._take(call)
        answered.wait(20)
        return answer

    hub.answers("POST", "/api/messages", (200, slowly), (200, post._take))
    process = agora.start("send", "analyst", "-m", "one")
    kit.until(lambda: post.bodies == ["one"], "the hub's commit")
    process.send_signal(signal.SIGKILL)
    process.wait(10)
    answered.set()
    send(agora, "two")
    assert post.bodies == ["one", "two"]
    assert kept() == []


def test_many_processes_at_once_send_each_message_once_and_the_kept_ones_in_order(agora, kit, post, kept):
    post.away = True
    send(agora, *(f"kept {number}" for number in range(5)))
    post.away = False
    running = [agora.start("send", "analyst", "-m", f"new {number}") for number in range(4)]
    running += [agora.start("outbox", "--send") for _ in range(2)]
    said = [process.communicate(timeout=60)[0] for process in running]
    assert [process.returncode for process in running] == [0] * 6
    assert all(out.startswith("sent as ") for out in said[:4])
    assert post.bodies[:5] == [f"kept {number}" for number in range(5)]
    assert sorted(post.bodies[5:]) == [f"new {number}" for number in range(4)]
    assert kept() == []


def test_a_sender_that_another_overtook_still_tells_what_the_hub_said(agora, hub, kit, post, kept, others_turn):
    process = agora.start("send", "analyst", "-m", "one")
    kit.until(lambda: agora.outbox.exists() and len(kept()) == 1, "the stored message")
    # What the holder of the turn does: send it, then take it out.
    (entry,) = kept()
    carrying.post(Hub(hub.url, "stored-token"), entry["id"], entry["letter"])
    with outbox.Outbox(str(agora.outbox)) as box:
        box.done(entry["id"])
    others_turn.close()
    out, _ = process.communicate(timeout=20)
    assert out.startswith("sent as 1\n")
    assert post.bodies == ["one"]


def test_a_full_outbox_refuses_new_messages_until_there_is_room(agora, hub, post, kept):
    post.away = True
    with outbox.Outbox(os.fspath(agora.outbox)) as box:
        for size in (4_000_000, 100_000):
            with pytest.raises(outbox.OutboxFull):
                while True:
                    box.add(new_ulid(), Sender(hub.url, "echo"), {"to": "analyst", "body": "x" * size})
        number = len(box.all())
    assert 63 * 1024**2 < agora.outbox.stat().st_size <= 64 * 1024**2
    done = agora("send", "analyst", stdin="y" * 250_000)
    assert done.returncode == 2
    assert "the outbox is full (64 MiB" in done.stderr
    post.away = False
    assert agora("send", "analyst", stdin="z").returncode == 0
    assert len(post.letters) == number + 1
    assert post.bodies[-1] == "z"
    assert kept() == []


def test_odd_text_arrives_as_it_was_written(agora, post):
    post.away = True
    text = "\x00 \x1b]0;x\x07 \u202e \u2028 \U0001f600 'quoted' \"twice\" \\ ;-- \r\n"
    with open(agora.home / "text", "wb") as file:
        file.write(text.encode())
    send(agora, "ahead")
    with open(agora.home / "text", "rb") as file:
        subprocess.run(agora._line(["send", "analyst"]), env=agora.env, stdin=file, cwd=agora.home, check=True)
    post.away = False
    agora("outbox", "--send")
    assert post.bodies == ["ahead", text]


def test_ids_sort_by_the_time_they_were_made_in():
    made = [new_ulid() for _ in range(50)]
    assert len(set(made)) == 50
    assert [each[:9] for each in made] == sorted(each[:9] for each in made)
    assert all(len(each) == 26 and each[0] in "01234567" for each in made)


@pytest.mark.soak
def test_a_sender_killed_at_any_moment_loses_and_doubles_nothing(agora, post, kept):
    """200 sends, each killed within its first 300 ms: what was said to be sent or kept arrives, nothing arrives twice."""
    draw, promised = random.Random(23), []
    for number in range(200):
        post.away, post.loses = draw.random() < 0.3, draw.choice((0, 0, 1))
        process = agora.start("send", "analyst", "-m", str(number))
        try:
            process.wait(draw.uniform(0.05, 0.3))
        except subprocess.TimeoutExpired:
            process.kill()
        if process.communicate()[0].startswith(("sent", "kept")):
            promised.append(str(number))
    post.away, post.loses = False, 0
    assert agora("outbox", "--send").returncode == 0
    assert set(promised) <= set(post.bodies)
    assert post.bodies == sorted(set(post.bodies), key=int)
    assert 20 < len(promised) < 190, "the moments of the kills hit nothing"
    assert kept() == []
