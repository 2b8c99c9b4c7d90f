"""`agora agents --watch`: in place on a terminal, a line for each change in a pipe."""

import os
import pty
import signal
from datetime import datetime, timezone

import pytest

from agora_node import roster, watching
from agora_node.errors import HubError

NOON = datetime(2026, 8, 1, 12, tzinfo=timezone.utc)
STAMP = "2026-08-01T12:00:00Z"


def listing(*agents):
    return (200, {"agents": list(agents), "next": None, "version": 1}, {"Date": "Sat, 01 Aug 2026 12:00:00 GMT"})


def found(*agents):
    return roster.Roster(list(agents), NOON)


def test_piped_it_prints_a_line_for_each_change_and_ends_with_0(agora, hub, kit):
    agora.log_in(hub)
    hub.answers(
        "GET",
        "/api/agents",
        listing(kit.an_agent("echo"), kit.an_agent("delta")),
        listing(kit.an_agent("echo", presence="dormant"), kit.an_agent("delta")),
    )
    process = agora.start("agents", "--watch")
    assert process.stdout.readline() == (f"{STAMP} echo: live, says idle, 0 waiting -> dormant, -, 0 waiting\n")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=10)
    assert (process.returncode, out, err) == (0, "", "agora: 2 agents: 2 live; changes follow\n")


def test_coming_and_going_are_changes_and_an_age_is_none(capsys, kit):
    changes = watching.Changes()
    changes.show(found(kit.an_agent("echo", last_seen="2026-08-01T12:00:00Z")))
    changes.show(found(kit.an_agent("echo", last_seen="2026-08-01T12:00:05Z")))
    assert capsys.readouterr().out == ""
    changes.show(found(kit.an_agent("delta")))
    assert capsys.readouterr().out.splitlines() == [
        f"{STAMP} delta: not listed -> live, says idle, 0 waiting",
        f"{STAMP} echo: live, says idle, 0 waiting -> not listed",
    ]


def test_a_hub_that_is_away_is_said_once_and_its_return_too(capsys, kit):
    changes = watching.Changes()
    changes.show(found())
    changes.away(HubError("unreachable", "cannot be reached"))
    changes.away(HubError("unreachable", "cannot be reached"))
    changes.show(found())
    assert capsys.readouterr().err.splitlines() == [
        "agora: 0 agents; changes follow",
        "agora: cannot be reached; trying again until it succeeds",
        "agora: the hub answers again",
    ]


def test_a_refusal_ends_it(agora, hub, kit):
    agora.log_in(hub)
    hub.answers("GET", "/api/agents", (401, kit.refusal("unauthorized", "needs a valid token")))
    assert agora("agents", "--watch").returncode == 1


@pytest.fixture
def terminal():
    outer, inner = pty.openpty()
    yield outer, inner
    os.close(outer)
    os.close(inner)


def test_on_a_terminal_the_picture_is_redrawn_in_place(agora, hub, kit, terminal):
    outer, inner = terminal
    agora.log_in(hub)
    hub.answers("GET", "/api/agents", listing(kit.an_agent("echo", task="\x1b[5mblink")))
    process = agora.start("agents", "--watch", stdout=inner)
    seen = b""
    while seen.count(b"\x1b[J") < 2:
        seen += os.read(outer, 4096)
    process.send_signal(signal.SIGINT)
    assert process.wait(10) == 0
    assert seen.count(b"\x1b[H") == 2
    assert b"1 agent: 1 live" in seen
    assert b"\x1b[5m" not in seen and b"\\x1b[5m" in seen


def test_a_screen_keeps_the_last_picture_marked_as_old_while_the_hub_is_away(capsys, kit):
    screen = watching.Screen()
    screen.show(found(kit.an_agent("echo")))
    screen.away(HubError("unreachable", "cannot be reached"))
    last = capsys.readouterr().out.split(watching.HOME)[-1]
    assert last.startswith("not live since ")
    assert "echo" in last
