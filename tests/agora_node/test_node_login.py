"""`agora login`: a token is checked first, then kept where only its owner reads it."""

import tomllib

import pytest


@pytest.fixture
def token_file(tmp_path):
    file = tmp_path / "token"
    file.write_text("tok-123\n")
    return str(file)


def who(kind, name):
    return (200, {"kind": kind, "id": name, "role": None})


def test_login_checks_the_token_by_a_real_call_and_stores_hub_token_and_id(agora, hub, token_file):
    hub.answers("GET", "/api/whoami", who("agent", "echo"))
    done = agora("login", "--hub", hub.url + "/", "--token-file", token_file)
    assert done.returncode == 0, done.stderr
    assert tomllib.loads(agora.config.read_text()) == {
        "hub": hub.url,
        "token": "tok-123",
        "kind": "agent",
        "agent": "echo",
    }
    assert hub.calls[0].headers["Authorization"] == "Bearer tok-123"


def test_the_stored_file_and_its_folder_are_private_and_nothing_else_is_left_behind(agora, hub, token_file):
    hub.answers("GET", "/api/whoami", who("agent", "echo"))
    agora("login", "--hub", hub.url, "--token-file", token_file)
    assert agora.config.stat().st_mode & 0o777 == 0o600
    assert agora.config.parent.stat().st_mode & 0o777 == 0o700
    assert [path.name for path in agora.config.parent.iterdir()] == ["config.toml"]


def test_a_refused_token_is_not_stored_and_the_login_before_stays(agora, hub, token_file, kit):
    agora.log_in(hub)
    before = agora.config.read_text()
    hub.answers("GET", "/api/whoami", (401, kit.refusal("unauthorized", "needs a valid token")))
    done = agora("login", "--hub", hub.url, "--token-file", token_file)
    assert done.returncode == 1
    assert "needs a valid token (request req-7)" in done.stderr
    assert agora.config.read_text() == before


def test_a_token_is_read_from_standard_input(agora, hub):
    hub.answers("GET", "/api/whoami", who("agent", "echo"))
    assert agora("login", "--hub", hub.url, "--token-stdin", stdin="from-stdin\n").returncode == 0
    assert hub.calls[0].headers["Authorization"] == "Bearer from-stdin"


@pytest.mark.parametrize("given", [["--token", "secret-9"], ["--token=secret-9"]])
def test_a_token_on_the_command_line_is_refused_with_the_reason_and_not_repeated(agora, hub, given):
    done = agora("login", "--hub", hub.url, *given)
    assert done.returncode == 2
    assert "process list" in done.stderr
    assert "secret-9" not in done.stderr + done.stdout
    assert hub.calls == []


@pytest.mark.parametrize("text", ["", "two words", "line\nother", "caf\u00e9"])
def test_what_is_not_one_token_is_refused_before_any_call(agora, hub, text):
    done = agora("login", "--hub", hub.url, "--token-stdin", stdin=text)
    assert done.returncode == 2
    assert hub.calls == []


def test_a_node_token_speaks_as_the_agent_that_was_named(agora, hub, token_file, kit):
    hub.answers("GET", "/api/whoami", who("node", "harbor"))
    hub.answers("GET", "/api/agents/echo", (200, kit.an_agent("echo", home_node="harbor")))
    hub.answers("POST", "/api/heartbeat", (200, kit.beat_answer()))
    assert agora("login", "--hub", hub.url, "--token-file", token_file, "--as", "echo").returncode == 0
    assert agora("heartbeat").returncode == 0
    assert agora("heartbeat", "--as", "other").returncode == 0
    assert [call.headers["Agora-Agent"] for call in hub.to("/api/heartbeat")] == ["echo", "other"]


def test_a_node_token_without_an_agent_says_for_whom_it_can_speak_and_how(agora, hub, token_file):
    hub.answers("GET", "/api/whoami", who("node", "harbor"))
    done = agora("login", "--hub", hub.url, "--token-file", token_file)
    assert done.returncode == 0 and "no agent chosen" not in done.stdout
    assert "say --as SLUG, or `agora run-node` for the node's own agent" in done.stdout


def test_a_node_token_is_not_stored_for_an_agent_that_lives_elsewhere_or_is_not_there(agora, hub, token_file, kit):
    hub.answers("GET", "/api/whoami", who("node", "harbor"))
    hub.answers("GET", "/api/agents/echo", (200, kit.an_agent("echo", home_node="pier")))
    elsewhere = agora("login", "--hub", hub.url, "--token-file", token_file, "--as", "echo")
    assert (elsewhere.returncode, "lives on the node pier" in elsewhere.stderr) == (2, True)
    assert agora("login", "--hub", hub.url, "--token-file", token_file, "--as", "ecko").returncode == 1
    assert not agora.config.exists()


def test_an_agent_token_cannot_be_stored_under_another_name(agora, hub, token_file):
    hub.answers("GET", "/api/whoami", who("agent", "echo"))
    done = agora("login", "--hub", hub.url, "--token-file", token_file, "--as", "other")
    assert done.returncode == 2
    assert "belongs to echo" in done.stderr
    assert not agora.config.exists()
    assert agora("login", "--hub", hub.url, "--token-file", token_file, "--as", "echo").returncode == 0


def test_an_enrolment_token_registers_an_agent_and_keeps_only_its_own_token(agora, hub, token_file, kit):
    hub.answers("PUT", "/api/agents/echo", (201, {**kit.an_agent("echo"), "token": "own-token"}))
    done = agora(
        "login",
        "--hub",
        hub.url,
        "--enrol",
        "echo",
        "--token-file",
        token_file,
        "--mode",
        "always-on",
        "--interval",
        "10m",
    )
    assert done.returncode == 0, done.stderr
    assert hub.calls[0].body == {"status": "idle", "liveness_mode": "always-on", "expected_interval": 600}
    assert tomllib.loads(agora.config.read_text())["token"] == "own-token"
    assert "own-token" not in done.stdout + done.stderr


def test_enrolling_without_a_mode_says_async(agora, hub, token_file):
    hub.answers("PUT", "/api/agents/echo", (201, {"id": "echo", "token": "own-token"}))
    assert agora("login", "--hub", hub.url, "--enrol", "echo", "--token-file", token_file).returncode == 0
    assert hub.calls[0].body == {"status": "idle", "liveness_mode": "async"}


def test_an_id_that_is_taken_is_refused_with_the_way_to_a_token(agora, hub, token_file, kit):
    hub.answers("PUT", "/api/agents/echo", (403, kit.refusal("not_yours", "not your entry")))
    done = agora("login", "--hub", hub.url, "--enrol", "echo", "--token-file", token_file)
    assert done.returncode == 1
    assert "manage.py token create agent echo" in done.stderr and "not your entry" in done.stderr


def test_an_enrolment_token_without_enrol_is_refused_with_the_way_out(agora, hub, token_file):
    hub.answers("GET", "/api/whoami", who("enrolment", None))
    done = agora("login", "--hub", hub.url, "--token-file", token_file)
    assert done.returncode == 2
    assert "--enrol SLUG" in done.stderr


def test_an_own_token_that_could_not_be_kept_is_never_asked_for(agora, hub, token_file):
    (agora.home / "config").symlink_to(agora.home / "an unplugged disk")
    done = agora("login", "--hub", hub.url, "--enrol", "echo", "--token-file", token_file)
    assert done.returncode == 2
    assert hub.calls == []


def test_logging_in_over_another_agent_says_whom_it_replaces(agora, hub, token_file):
    agora.log_in(hub, agent="analyst")
    hub.answers("GET", "/api/whoami", who("agent", "echo"))
    assert "replaces the login as analyst" in agora("login", "--token-file", token_file).stdout


def test_an_odd_id_is_refused_with_the_allowed_characters(agora, hub, token_file):
    done = agora("login", "--hub", hub.url, "--enrol", "Echo/1", "--token-file", token_file)
    assert done.returncode == 2
    assert "lower-case letters, digits" in done.stderr


def test_an_address_without_a_scheme_is_refused(agora, token_file):
    done = agora("login", "--hub", "hub.example:8000", "--token-file", token_file)
    assert done.returncode == 2
    assert "http://HOST" in done.stderr
