"""Which hub and which token count: the file, the environment, and when neither may be mixed."""


def test_the_environment_wins_over_the_file(agora, hub, other_hub, kit):
    agora.log_in(hub)
    other_hub.answers("POST", "/api/heartbeat", (200, kit.beat_answer()))
    assert agora("heartbeat", AGORA_HUB=other_hub.url, AGORA_TOKEN="from-env").returncode == 0
    assert other_hub.calls[0].headers["Authorization"] == "Bearer from-env"
    assert hub.calls == []


def test_a_stored_token_is_not_sent_to_a_hub_named_by_the_environment_alone(agora, hub, other_hub):
    agora.log_in(hub)
    done = agora("heartbeat", AGORA_HUB=other_hub.url)
    assert done.returncode == 2
    assert "belongs to" in done.stderr
    assert other_hub.calls == []


def test_the_environment_may_repeat_the_stored_hub(agora, hub, kit):
    agora.log_in(hub)
    hub.answers("POST", "/api/heartbeat", (200, kit.beat_answer()))
    assert agora("heartbeat", AGORA_HUB=hub.url + "/").returncode == 0


def test_without_a_login_the_next_step_is_named(agora):
    done = agora("heartbeat")
    assert done.returncode == 2
    assert "agora login --hub URL" in done.stderr


def test_a_broken_file_is_named_and_not_overwritten(agora, hub):
    agora.log_in(hub)
    agora.config.write_text("hub = [")
    done = agora("heartbeat")
    assert done.returncode == 2
    assert "config.toml cannot be read" in done.stderr


def test_a_relative_config_home_is_ignored_as_the_xdg_rules_say(agora, hub, kit):
    agora.log_in(hub)
    hub.answers("POST", "/api/heartbeat", (200, kit.beat_answer()))
    assert agora("heartbeat", XDG_CONFIG_HOME="config").returncode == 2
    (agora.home / "config").rename(agora.home / ".config")
    assert agora("heartbeat", XDG_CONFIG_HOME="config").returncode == 0


def test_the_state_folder_is_where_the_environment_says(agora, hub, kit, post, tmp_path):
    agora.log_in(hub)
    post.away = True
    assert agora("send", "analyst", "-m", "x", AGORA_STATE=str(tmp_path / "own")).returncode == 0
    assert (tmp_path / "own" / "agora.db").exists()
    # As with the XDG folders, a path that depends on where one stands is no place to keep anything.
    assert agora("send", "analyst", "-m", "x", AGORA_STATE="relative").returncode == 0
    assert agora.outbox.exists()
