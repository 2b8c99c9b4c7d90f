"""`agora heartbeat`, once: what is sent, what is printed, how it ends."""

import socket

import pytest


def test_one_beat_prints_one_line(agora, hub, kit):
    agora.log_in(hub)
    hub.answers("POST", "/api/heartbeat", (200, kit.beat_answer(waiting=2)))
    done = agora("heartbeat")
    assert (done.returncode, done.stdout) == (0, "live; 2 waiting; next in 30 min\n")
    assert len(hub.calls) == 1


def test_only_what_was_said_is_sent_besides_the_host(agora, hub, kit):
    agora.log_in(hub)
    hub.answers("POST", "/api/heartbeat", (200, kit.beat_answer()))
    agora("heartbeat")
    agora("heartbeat", "--status", "working", "--task", "notes", "--interval", "1h", "--session", "s1")
    host = socket.gethostname()
    assert [call.body for call in hub.calls] == [
        {"host": host},
        {"status": "working", "task": "notes", "expected_interval": 3600, "session": "s1", "host": host},
    ]


def test_an_agents_own_token_needs_no_header_for_itself(agora, hub, kit):
    agora.log_in(hub)
    hub.answers("POST", "/api/heartbeat", (200, kit.beat_answer()))
    agora("heartbeat", "--as", "echo")
    assert hub.calls[0].headers["Agora-Agent"] is None


def test_a_disabled_agent_is_told_so_with_the_reason(agora, hub, kit):
    agora.log_in(hub)
    switch = {"reason": "maintenance", "by": "mira", "since": "2026-08-01T12:00:00Z"}
    hub.answers("POST", "/api/heartbeat", (200, kit.beat_answer(enabled=False, disabled=switch)))
    assert agora("heartbeat").stdout == "live; disabled by mira: maintenance; 0 waiting; next in 30 min\n"


def test_f080_an_agent_that_had_been_gone_is_told_so(agora, hub, kit):
    agora.log_in(hub)
    gone = {"was": "dormant", "since": "2026-08-01T09:00:00Z", "reason": "window passed"}
    hub.answers("POST", "/api/heartbeat", (200, kit.beat_answer(rejoined=gone)))
    assert agora("heartbeat").stdout == "live; was dormant 3 h; 0 waiting; next in 30 min\n"


def test_what_the_hub_says_cannot_steer_the_terminal(agora, hub, kit):
    agora.log_in(hub)
    switch = {"reason": "\x1b]0;owned\x07\u202egnp", "by": "mira"}
    hub.answers("POST", "/api/heartbeat", (200, kit.beat_answer(enabled=False, disabled=switch)))
    assert "\\x1b]0;owned\\x07\\u202egnp" in agora("heartbeat").stdout


@pytest.mark.parametrize("status, code", [(401, 1), (403, 1), (410, 1), (422, 1), (500, 3), (503, 3)])
def test_a_refusal_and_an_unwell_hub_end_in_different_exit_codes(agora, hub, kit, status, code):
    agora.log_in(hub)
    hub.answers("POST", "/api/heartbeat", (status, kit.refusal("some_code", "said the hub")))
    done = agora("heartbeat")
    assert (done.returncode, done.stderr) == (code, "agora: said the hub (request req-7)\n")


def test_a_hub_that_is_not_there_is_code_3(agora, hub):
    agora.log_in(hub)
    hub.close()
    done = agora("heartbeat")
    assert done.returncode == 3
    assert "cannot be reached: Connection refused" in done.stderr


def test_a_pause_the_hub_asks_for_is_kept_and_the_beat_repeated(agora, hub, kit):
    agora.log_in(hub)
    busy = (503, kit.refusal("busy", "the database is away"), {"Retry-After": "1"})
    hub.answers("POST", "/api/heartbeat", busy, (200, kit.beat_answer()))
    assert agora("heartbeat").returncode == 0
    first, second = hub.calls
    assert second.at - first.at >= 1.0


def test_a_pause_too_long_to_wait_for_is_an_error_at_once(agora, hub, kit):
    agora.log_in(hub)
    hub.answers("POST", "/api/heartbeat", (503, kit.refusal("busy", "away"), {"Retry-After": "3600"}))
    assert agora("heartbeat").returncode == 3
    assert len(hub.calls) == 1


@pytest.mark.parametrize("text", ["0", "-5", "5 fortnights", "soon"])
def test_an_interval_that_is_no_duration_is_wrong_usage(agora, text):
    assert agora("heartbeat", f"--interval={text}").returncode == 2
