"""`agora run-node`: each prompt is answered by a command, through outages, to a clean end."""

import os
import signal
import socket

import pytest

# Does what the prompt says, so that one process meets every kind of command.
OBEYS = "import json, os, signal, subprocess, sys; told = json.load(sys.stdin); exec(told['prompt']['body'])"
COMMAND = ("python3", "-c", OBEYS)


@pytest.fixture
def run(agora, hub):
    agora.log_in(hub)
    return lambda *options, **env: agora.start("run-node", *options, "--", *COMMAND, **env)


@pytest.fixture
def gate(tmp_path):
    """Where a command waits: its prompt's text, and how to let it go on."""
    path = tmp_path / "gate"
    os.mkfifo(path)
    return f"open({str(path)!r}).read(); ", lambda: path.open("w").close()


def end(process, number=signal.SIGTERM):
    """Stop it; returns what it said on standard error, without the beginnings that all lines share."""
    process.send_signal(number)
    return said(process)


def said(process, code=0):
    out, err = process.communicate(timeout=20)
    assert (process.returncode, out) == (code, ""), err
    return err.replace("agora: ", "").splitlines()


def handed_in(desk, kit, number=1):
    return kit.until(lambda: len(desk.ends) >= number and desk.ends, f"the end of {number} prompts")


def test_each_prompt_is_answered_by_the_command_in_turn(run, hub, desk, kit):
    desk.ask("print('one', told['engram'], told['tools'], told['history'])", "print('caf\u00e9')")
    process = run("--lease", "90s")
    assert handed_in(desk, kit, 2) == [
        (1, {"lease": "the-key", "body": "one Be brief. ['read'] []"}),
        (2, {"lease": "the-key", "body": "caf\u00e9"}),
    ]
    kit.until(lambda: len(hub.to(desk.path)) == 3, "the next claim")
    first, second, *rest = (line.split(", after")[0] for line in end(process))
    assert first == "exchange 1 from mira: answered, 25 bytes"
    assert second == "exchange 2 from mira: answered, 5 bytes"
    assert rest == ["signed off"]
    claim = hub.to(desk.path)[0]
    assert (claim.query, list(claim.body)) == ({"wait": "20", "lease_seconds": "90"}, ["session"])


def test_its_beats_tell_what_it_works_on_in_one_session_that_is_signed_off(run, hub, desk, kit, gate):
    waits, opens = gate
    desk.ask(f"{waits}print('done')")
    process = run("--interval", "2m")
    kit.until(lambda: len(hub.to("/api/heartbeat")) == 2, "the beat of the work")
    opens()
    kit.until(lambda: len(hub.to(desk.path)) == 2, "the next claim")
    end(process)
    beats = [call.body for call in hub.to("/api/heartbeat")]
    session = beats[0]["session"]
    always = {"session": session, "host": socket.gethostname(), "expected_interval": 120}
    idle, working = {**always, "status": "idle"}, {**always, "status": "working", "task": "exchange 1"}
    assert beats == [idle, working, idle]
    assert {call.body["session"] for call in hub.to(desk.path)} == {session}
    assert [call.body for call in hub.to("/api/agents/echo/sign-off")] == [{"session": session}]


def test_a_command_that_does_not_answer_fails_its_prompt_with_the_reason(run, desk, kit):
    desk.ask(
        "sys.exit('no such file')",
        "sys.exit(3)",
        "print()",
        "sys.stdout.buffer.write(bytes([255]))",
        "print('x' * 262144)",
        "os.kill(os.getpid(), 15)",
        "print('fine', flush=True); print('a\\0b', file=sys.stderr); sys.exit(1)",
    )
    run()
    assert [body.get("error", body) for _, body in handed_in(desk, kit, 7)] == [
        "exit code 1: no such file",
        "exit code 3",
        "it answered nothing",
        "its answer is not UTF-8 text",
        "its answer is longer than 256 kB",
        "it was ended by SIGTERM",
        "exit code 1: a\\x00b",
    ]


def test_the_largest_prompt_and_the_largest_answer_pass_and_an_unread_prompt_does_no_harm(run, hub, agora, desk, kit):
    desk.ask("print('x' * 262143)" + " " * 250_000)
    process = run()
    assert handed_in(desk, kit)[0][1]["body"] == "x" * 262143
    end(process)
    desk.ask("#" * 250_000)
    agora.start("run-node", "--", "echo", "never looked")
    assert handed_in(desk, kit, 2)[1][1]["body"] == "never looked"


def gone(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0] == "Z"
    except FileNotFoundError:
        return True


@pytest.mark.parametrize(
    "limit, rest, told", [("2s", "signal.pause()", "it took longer than 2 s"), ("1m", "sys.exit(1)", "exit code 1")]
)
def test_what_a_command_started_ends_with_it(run, desk, kit, tmp_path, limit, rest, told):
    pid = tmp_path / "pid"
    desk.ask(f"child = subprocess.Popen(['sleep', '60']); open({str(pid)!r}, 'w').write(str(child.pid)); {rest}")
    run("--timeout", limit)
    assert handed_in(desk, kit)[0][1]["error"] == told
    kit.until(lambda: gone(pid.read_text()), "the end of the child's child")


def test_the_token_reaches_neither_the_command_nor_the_log(run, hub, desk, kit):
    hub.answers("GET", "/api/whoami", (200, {"kind": "agent", "id": "echo", "role": None}))
    desk.ask("print([value for value in os.environ.values() if 'from-env' in value], 'lease' in told)")
    process = run(AGORA_TOKEN="from-env", AGORA_HUB=hub.url)
    assert handed_in(desk, kit)[0][1]["body"] == "[] False"
    assert "from-env" not in "".join(end(process))


def test_the_lease_is_extended_for_as_long_as_the_command_works(run, desk, kit, gate):
    waits, opens = gate
    desk.ask(f"{waits}print('at last')")
    run("--lease", "1s")
    kit.until(lambda: len(desk.to(1, "extend")) >= 4, "four extensions of a third of the lease each")
    opens()
    assert handed_in(desk, kit)[0][1]["body"] == "at last"
    assert desk.to(1, "extend")[0].body == {"lease": "the-key", "lease_seconds": 1}


def test_a_lost_lease_ends_the_command_and_the_next_prompt_is_run(run, desk, kit, gate):
    over = (409, kit.refusal("lease_expired", "The lease has ended."))
    desk.ask(f"{gate[0]}", ends={"extend": [over]})
    desk.ask("print('next')")
    process = run("--lease", "1s")
    assert [number for number, _ in handed_in(desk, kit)] == [2]
    assert end(process)[0].startswith(
        "exchange 1 from mira: not handed in: The lease has ended. (request req-7), after"
    )


def test_an_answer_waits_for_a_hub_that_is_away(run, desk, kit):
    desk.ask("print('kept')")
    away = [(503, kit.refusal("unavailable", "the database is away")), (200, desk._end)]
    desk.ask("print('kept')", ends={"answer": away})
    process = run()
    assert handed_in(desk, kit, 2)[1] == (2, {"lease": "the-key", "body": "kept"})
    _, first, second, third, _ = end(process)
    assert first == "the database is away (request req-7); trying again until it succeeds"
    assert second.startswith("the hub answers again, after ")
    assert third.startswith("exchange 2 from mira: answered")


def test_an_answer_is_given_up_with_its_lease(run, desk, kit):
    away = [(503, kit.refusal("unavailable", "the database is away"))]
    desk.ask("print('lost')", ends={"answer": away})
    desk.ask("print('next')")
    process = run("--lease", "1s")
    assert handed_in(desk, kit)[0][0] == 2
    assert "not handed in: its lease ended while the hub was away" in end(process)[1]


def test_an_answer_that_the_hub_does_not_take_fails_the_prompt(run, desk, kit):
    desk.ask("print('odd')", ends={"answer": [(422, kit.refusal("invalid", "body: has a NUL"))]})
    run()
    assert handed_in(desk, kit) == [
        (1, {"lease": "the-key", "error": "the hub did not take its answer: body: has a NUL"})
    ]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_lets_it_finish_what_runs_and_claim_no_more(run, hub, desk, kit, gate, number):
    waits, opens = gate
    desk.ask(f"{waits}print('finished')", "print('not for this run')")
    process = run()
    kit.until(lambda: len(hub.to("/api/heartbeat")) == 2, "the beat of the work")
    process.send_signal(number)
    assert process.stderr.readline() == "agora: stopping after exchange 1; a second signal ends it at once\n"
    opens()
    assert said(process)[-1] == "signed off"
    assert [each["body"] for _, each in desk.ends] == ["finished"]
    assert len(hub.to(desk.path)) == 1 and len(hub.to("/api/agents/echo/sign-off")) == 1


def test_a_second_signal_ends_the_command_and_fails_its_prompt(run, hub, desk, kit, gate):
    desk.ask(gate[0])
    process = run()
    kit.until(lambda: len(hub.to("/api/heartbeat")) == 2, "the beat of the work")
    process.terminate()
    process.stderr.readline()
    process.terminate()
    assert said(process)[-1] == "signed off"
    assert desk.ends == [(1, {"lease": "the-key", "error": "its runner was stopped"})]


def test_a_signal_ends_a_claim_at_once_but_what_it_brought_by_then_is_still_answered(run, hub, desk, kit):
    def late(call):
        kit.until(call.left, "the end of the claim")
        desk.ask("print('in the last moment')")
        return desk._claim(call)

    desk.claims((200, late))
    process = run()
    kit.until(lambda: hub.to(desk.path), "a claim")
    assert end(process)[-1] == "signed off"
    assert desk.ends == [(1, {"lease": "the-key", "body": "in the last moment"})]
    assert len(hub.to(desk.path)) == 1


@pytest.mark.parametrize(
    "status, told", [(410, "the agent is retired, its successor is delta"), (401, "the hub does not accept this token")]
)
def test_a_retired_agent_and_a_revoked_token_end_it_f003_f040(run, hub, desk, kit, status, told):
    desk.ask("print('fine')")
    over = (status, kit.refusal("over", "it is over", successor="delta"))
    desk.claims((200, desk._claim), over)
    first, second, third = said(run(), code=1)
    assert first.startswith("exchange 1 from mira: answered")
    assert second.startswith(f"stopped: {told}") and third == "it is over (request req-7)"
    assert {call.method for call in hub.calls} == {"POST"}, "it never registers by itself"


def test_a_refusal_of_the_first_claim_is_a_mistake_and_a_later_one_is_outlived(run, desk, kit):
    missing = (404, kit.refusal("not_found", "nothing here"))
    desk.claims(missing)
    assert said(run(), code=1) == ["stopped: the hub refused the first call", "nothing here (request req-7)"]
    desk.ask("print('one')", "print('two')")
    desk.claims((200, desk._claim), missing, (200, desk._claim))
    run()
    assert [body["body"] for _, body in handed_in(desk, kit, 2)] == ["one", "two"]


def test_a_disabled_agent_says_so_once_each_time_and_is_not_asked_without_a_pause(run, hub, desk, kit):
    disabled = (204, b"", {"Agora-State": "disabled"})
    desk.claims(disabled, disabled, (200, desk._claim), disabled)
    desk.ask("print('enabled again')")
    process = run()
    kit.until(lambda: len(hub.to(desk.path)) == 4, "the claim after the prompt")
    first, second, third = (call.at for call in hub.to(desk.path)[:3])
    assert second - first >= 2 and third - second >= 2
    lines = [process.stderr.readline().removeprefix("agora: ").strip() for _ in range(3)]
    assert lines[0] == lines[2] == "echo is disabled: the hub answers its prompts, none is run here until it is enabled"
    assert lines[1].startswith("exchange 1 from mira: answered")


def test_mail_that_was_kept_goes_along_with_its_beats(agora, run, desk, post, kit):
    post.away = True
    assert "kept" in agora("send", "analyst", "-m", "later").stdout
    post.away = False
    run()
    kit.until(lambda: post.letters, "the kept letter")


def test_a_nodes_token_answers_for_its_own_agent_or_for_the_one_it_names(agora, hub, kit):
    agora.log_in(hub, kind="node", agent=None)
    hub.answers("GET", "/api/whoami", kit.HANGS_UP, (200, {"kind": "node", "id": "alder", "role": None}))
    for options, name in (([], "alder"), (["--as", "birch"], "birch")):
        desk = kit.Desk(hub, name)
        desk.ask("print('fine')")
        process = agora.start("run-node", *options, "--", *COMMAND)
        handed_in(desk, kit)
        end(process)
        calls = [call for call in hub.calls if call.path != "/api/whoami" and call.headers["Agora-Agent"] == name]
        assert {call.path for call in calls} >= {desk.path, "/api/heartbeat", "/api/exchanges/1/answer"}
    assert len(hub.to("/api/whoami")) == 2


def test_what_cannot_work_is_said_before_anything_is_claimed(agora, hub):
    agora.log_in(hub, kind="agent", agent=None)
    hub.answers("GET", "/api/whoami", (200, {"kind": "person", "id": "mira", "role": "admin"}))
    for words, told in (
        (("--", "no-such-command"), "there is no command no-such-command"),
        (("--lease", "13h", "--", "cat"), "a lease lasts 12 h at most"),
        (("--", "cat"), "a token of kind person answers no prompts"),
        ((), "the following arguments are required: COMMAND"),
    ):
        done = agora("run-node", *words)
        assert done.returncode == 2 and told in done.stderr
    assert [call.path for call in hub.calls] == ["/api/whoami"]
