"""Children are kept alive, given up with a sentence, and never left behind."""

import os
import signal
import time

import pytest

from agora_web.cli.supervise import Patience

from .conftest import is_alive, until

SLEEPER = "import time; print('up', flush=True); time.sleep(600)"
STUBBORN = "import signal, time; signal.signal(15, signal.SIG_IGN); print('up', flush=True); time.sleep(600)"
TELLS_ITS_END = """
import signal, sys, time
def end(*_):
    print("ended", flush=True)
    sys.exit(0)
signal.signal(15, end)
print("up", flush=True)
time.sleep(600)
"""
PARENT = """
import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
print("grandchild", child.pid, flush=True)
time.sleep(600)
"""


def child(name="web", code=SLEEPER, **more):
    return {"name": name, "code": code, **more}


def test_a_child_killed_with_sigkill_is_started_again_and_its_new_pid_told(supervised):
    running = supervised([child("web"), child("worker")], patience=[0.01])
    before = running.pids()
    os.kill(before["web"], signal.SIGKILL)
    after = until(lambda: running.pids() if running.pids()["web"] != before["web"] else None)
    assert is_alive(after["web"])
    assert after["worker"] == before["worker"]
    assert "web died (killed by SIGKILL)" in running.printed()


def test_what_is_left_of_a_dead_childs_group_is_killed(supervised):
    running = supervised([child("web", PARENT)], patience=[0.01])
    until(lambda: "grandchild" in running.printed())
    grandchild = int(running.printed().split("grandchild ")[1].split()[0])
    assert is_alive(grandchild)
    os.kill(running.pids()["web"], signal.SIGKILL)
    until(lambda: not is_alive(grandchild))


def test_the_pause_before_a_restart_doubles_up_to_its_most():
    assert [Patience().pause(failures) for failures in range(1, 8)] == [0.5, 1, 2, 4, 8, 15, 15]


def test_a_child_that_dies_after_each_of_six_restarts_ends_the_hub_with_a_sentence(supervised):
    running = supervised([child("good"), child("bad", "raise SystemExit(3)")], patience=[0.001])
    pids = running.pids()
    assert running.process.wait(20) == 1
    assert running.printed().count("bad died") == 6
    assert "bad died again right after each of 6 restarts (last: exit code 3)" in running.err.read_text()
    assert not is_alive(pids["good"])


def test_a_child_that_lived_well_before_it_died_is_never_given_up(supervised):
    running = supervised([child("brief", "pass")], patience=[0.001, 0.001, 0.0])
    until(lambda: running.printed().count("brief died") > 10, seconds=20)
    assert running.process.poll() is None


@pytest.mark.parametrize("leash", ["KernelLeash", "WatchdogLeash"])
def test_nothing_survives_the_supervisors_sigkill(supervised, leash):
    running = supervised([child("web", STUBBORN), child("worker")], leash=leash)
    pids = running.pids()
    until(lambda: running.printed().count("up") == 2)
    running.process.kill()
    running.process.wait()
    until(lambda: not any(map(is_alive, pids.values())))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_stop_signal_ends_the_children_newest_first_and_the_foundation_last(supervised, number):
    names = ["valkey", "web", "worker"]
    running = supervised([child(name, TELLS_ITS_END, foundation=name == "valkey") for name in names])
    pids = running.pids()
    until(lambda: running.printed().count("up") == 3)
    running.process.send_signal(number)
    assert running.process.wait(10) == 0
    assert not any(map(is_alive, pids.values()))
    ended = [line.split()[0] for line in running.printed().splitlines() if line.endswith("ended")]
    assert sorted(ended) == sorted(names)
    assert ended[-1] == "valkey"


def test_children_that_will_not_stop_are_killed_within_three_seconds(supervised):
    running = supervised([child("valkey", STUBBORN, foundation=True), child("web", STUBBORN)])
    pids = running.pids()
    until(lambda: running.printed().count("up") == 2)
    started = time.monotonic()
    running.process.terminate()
    assert running.process.wait(10) == 0
    assert time.monotonic() - started <= 3
    assert not any(map(is_alive, pids.values()))


def test_a_second_stop_signal_does_not_wait_for_the_grace(supervised):
    running = supervised([child("web", STUBBORN), child("worker", TELLS_ITS_END)], grace=[600, 600])
    pids = running.pids()
    until(lambda: running.printed().count("up") == 2)
    running.process.send_signal(signal.SIGINT)
    until(lambda: "ended" in running.printed())
    assert is_alive(pids["web"])
    running.process.send_signal(signal.SIGINT)
    assert running.process.wait(10) == 0
    assert not is_alive(pids["web"])


def test_each_line_stands_under_its_childs_name_and_the_last_words_of_a_dying_child_are_not_lost(supervised):
    code = "import sys; print('one'); print('no newline', end=''); sys.stdout.flush(); raise SystemExit(1)"
    running = supervised([child("web", code)], patience=[600, 600])
    until(lambda: "web died" in running.printed())
    assert running.printed().splitlines()[:2] == ["web     | one", "web     | no newline"]
