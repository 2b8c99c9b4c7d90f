"""`agora heartbeat --every`: through outages, over a sleep, to a clean end."""

import signal
import time

import pytest


@pytest.fixture
def beats(hub):
    return lambda: hub.to("/api/heartbeat")


@pytest.fixture
def ready(agora, hub, kit):
    agora.log_in(hub)
    hub.answers("POST", "/api/heartbeat", (200, kit.beat_answer()))
    hub.answers("POST", "/api/agents/echo/sign-off", (200, {}))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_signs_off_this_run_and_ends_with_0(agora, hub, kit, ready, beats, number):
    process = agora.start("heartbeat", "--every", "1h")
    process.stdout.readline()
    process.send_signal(number)
    out, _ = process.communicate(timeout=10)
    assert (process.returncode, out) == (0, "signed off\n")
    session = beats()[0].body["session"]
    assert session
    assert [call.body for call in hub.to("/api/agents/echo/sign-off")] == [{"session": session}]


def test_each_run_has_a_session_of_its_own_unless_one_is_named(agora, hub, kit, ready, beats):
    for more in ([], [], ["--session", "mine"]):
        process = agora.start("heartbeat", "--every", "1h", *more)
        process.stdout.readline()
        process.terminate()
        process.wait(10)
    first, second, third = (call.body["session"] for call in beats())
    assert first != second
    assert third == "mine"


def test_it_goes_on_at_the_period_and_prints_only_what_is_new(agora, hub, kit, ready, beats):
    same = (200, kit.beat_answer())
    hub.answers("POST", "/api/heartbeat", same, same, (200, kit.beat_answer(waiting=1)))
    process = agora.start("heartbeat", "--every", "1s")
    kit.until(lambda: len(beats()) >= 4, "the fourth beat")
    process.terminate()
    out, _ = process.communicate(timeout=10)
    assert out == "live; 0 waiting; next in 1 s\nlive; 1 waiting; next in 1 s\nsigned off\n"


def test_a_return_after_dormancy_is_news_once(agora, hub, kit, ready, beats):
    same = (200, kit.beat_answer())
    gone = {"was": "dormant", "since": "2026-08-01T09:00:00Z"}
    hub.answers("POST", "/api/heartbeat", same, (200, kit.beat_answer(rejoined=gone)), same)
    process = agora.start("heartbeat", "--every", "1s")
    kit.until(lambda: len(beats()) >= 3, "the third beat")
    process.terminate()
    out, _ = process.communicate(timeout=10)
    assert out.splitlines()[1:] == ["live; was dormant 3 h; 0 waiting; next in 1 s", "signed off"]


def test_without_a_period_it_goes_on_as_the_hub_suggests(agora, hub, kit, ready, beats):
    hub.answers("POST", "/api/heartbeat", (200, kit.beat_answer(next_heartbeat_in=1.5)))
    agora.start("heartbeat", "--every")
    kit.until(lambda: len(beats()) >= 2, "the second beat")
    first, second = beats()[:2]
    assert 1.4 <= second.at - first.at < 5


def test_a_hub_outage_is_survived_and_said_once(agora, hub, kit, ready, beats):
    fine, unwell = (200, kit.beat_answer()), (503, kit.refusal("unavailable", "the database is away"))
    hub.answers("POST", "/api/heartbeat", fine, unwell, kit.HANGS_UP, fine)
    process = agora.start("heartbeat", "--every", "1s")
    kit.until(lambda: len(beats()) >= 5, "the beat after the one that ended the outage")
    process.terminate()
    _, err = process.communicate(timeout=10)
    first, second = err.splitlines()
    assert first == "agora: the database is away (request req-7); trying again until it succeeds"
    assert second.startswith("agora: the hub answers again, after ")
    assert process.returncode == 0


def test_a_hub_that_is_not_there_yet_is_waited_for(agora, hub, kit, ready, beats):
    hub.answers("POST", "/api/heartbeat", kit.HANGS_UP, (200, kit.beat_answer()))
    process = agora.start("heartbeat", "--every", "1h")
    assert process.stdout.readline() == "live; 0 waiting; next in 60 min\n"


def test_a_pause_the_hub_asks_for_is_kept(agora, hub, kit, ready, beats):
    busy = (429, kit.refusal("too_many", "slow down"), {"Retry-After": "3"})
    hub.answers("POST", "/api/heartbeat", busy, (200, kit.beat_answer()))
    agora.start("heartbeat", "--every", "1s")
    kit.until(lambda: len(beats()) >= 2, "the second try")
    first, second = beats()[:2]
    assert second.at - first.at >= 3


@pytest.mark.parametrize(
    "status, said",
    [
        (401, "stopped: the hub does not accept this token"),
        (410, "stopped: the agent is retired, its successor is delta"),
    ],
)
def test_a_revoked_token_and_a_retired_agent_stop_it(agora, hub, kit, ready, beats, status, said):
    over = (status, kit.refusal("over", "it is over", successor="delta"))
    hub.answers("POST", "/api/heartbeat", (200, kit.beat_answer()), over)
    process = agora.start("heartbeat", "--every", "1s")
    _, err = process.communicate(timeout=15)
    assert process.returncode == 1
    assert said in err and "it is over (request req-7)" in err
    assert len(beats()) == 2
    assert hub.to("/api/agents/echo/sign-off") == []


def test_a_refusal_of_the_first_beat_is_a_mistake_and_stops_it(agora, hub, kit, ready):
    hub.answers("POST", "/api/heartbeat", (422, kit.refusal("invalid", "status is too long")))
    process = agora.start("heartbeat", "--every", "1s")
    _, err = process.communicate(timeout=15)
    assert process.returncode == 1
    assert err.splitlines() == [
        "agora: stopped: the hub refused the first beat",
        "agora: status is too long (request req-7)",
    ]


def test_a_later_refusal_may_pass_and_is_outlived(agora, hub, kit, ready, beats):
    fine = (200, kit.beat_answer())
    hub.answers("POST", "/api/heartbeat", fine, (403, kit.refusal("forbidden", "not now")), fine)
    process = agora.start("heartbeat", "--every", "1s")
    kit.until(lambda: len(beats()) >= 3, "the beat after the refusal")
    assert process.poll() is None


def test_f121_a_machine_that_slept_sends_one_beat_on_waking(agora, hub, kit, ready, beats):
    process = agora.start("heartbeat", "--every", "1s")
    kit.until(lambda: len(beats()) >= 2, "the second beat")
    process.send_signal(signal.SIGSTOP)
    fallen_asleep, before = time.monotonic(), len(beats())
    kit.until(lambda: time.monotonic() - fallen_asleep > 4, "four periods asleep")
    process.send_signal(signal.SIGCONT)
    kit.until(lambda: len(beats()) >= before + 3, "three beats after waking")
    gaps = [later.at - earlier.at for earlier, later in zip(beats()[before:], beats()[before + 1 :])]
    assert all(gap >= 0.9 for gap in gaps), gaps


def test_a_hub_that_is_away_does_not_hold_up_the_end(agora, hub, kit, ready, beats):
    hub.answers("POST", "/api/agents/echo/sign-off", kit.HANGS_UP)
    process = agora.start("heartbeat", "--every", "1h")
    process.stdout.readline()
    process.terminate()
    _, err = process.communicate(timeout=10)
    assert process.returncode == 0
    assert "not signed off" in err


def test_a_token_from_the_environment_asks_the_hub_whom_to_sign_off(agora, hub, kit, ready):
    hub.answers("GET", "/api/whoami", (200, {"kind": "agent", "id": "delta", "role": None}))
    hub.answers("POST", "/api/agents/delta/sign-off", (200, {}))
    process = agora.start("heartbeat", "--every", "1h", AGORA_TOKEN="from-env", AGORA_HUB=hub.url)
    process.stdout.readline()
    process.terminate()
    out, err = process.communicate(timeout=10)
    assert (process.returncode, out, err) == (0, "signed off\n", "")
