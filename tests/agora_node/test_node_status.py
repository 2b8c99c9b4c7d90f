"""`agora status`: each thing checked in a line, the worst of them in the exit code."""

import pytest


@pytest.fixture
def well(agora, hub, kit):
    agora.log_in(hub)
    hub.answers("GET", "/healthz", (200, {"ok": True}))
    hub.answers("GET", "/readyz", (200, {"ready": True}))
    hub.answers("GET", "/api/whoami", (200, {"kind": "agent", "id": "echo", "role": None}))
    hub.answers("GET", "/api/agents/echo", (200, kit.an_agent("echo", waiting=2)))


def lines(done):
    return dict(line.split(maxsplit=1) for line in done.stdout.splitlines())


def test_a_hub_that_is_well_gives_0_and_says_who_we_are(agora, hub, well):
    done = agora("status")
    said = lines(done)
    assert done.returncode == 0, done.stderr
    assert said["hub"].startswith(f"{hub.url} answers, ")
    assert said["outbox"] == "empty"
    assert said["ready"] == "yes"
    assert said["clock"] == "agrees with the hub's"
    assert said["token"] == "agent echo, from the config file"
    assert said["agent"] == "echo: live; says idle; 2 waiting; last seen never"


def test_a_hub_that_is_not_ready_gives_its_reasons_and_3(agora, hub, well):
    hub.answers("GET", "/readyz", (503, {"ready": False, "reasons": ["sweep dormancy is 3 ticks late", "broker gone"]}))
    done = agora("status")
    assert done.returncode == 3
    assert lines(done)["ready"] == "no: sweep dormancy is 3 ticks late; broker gone"
    assert "agent" in lines(done)


def test_a_clock_that_differs_is_shown(agora, hub, well):
    hub.answers("GET", "/healthz", (200, {}, {"Date": "Sat, 01 Aug 2020 12:00:00 GMT"}))
    done = agora("status")
    assert done.returncode == 0
    assert lines(done)["clock"].endswith("d ahead of the hub's")


def test_a_refused_token_gives_1_beside_a_hub_that_is_well(agora, hub, kit, well):
    hub.answers("GET", "/api/whoami", (401, kit.refusal("unauthorized", "needs a valid token")))
    done = agora("status")
    assert done.returncode == 1
    assert lines(done)["token"] == "from the config file: needs a valid token (request req-7)"


def test_a_hub_that_cannot_be_reached_gives_3_and_asks_nothing_more(agora, hub, well):
    hub.answers("GET", "/healthz", (502, b"bad gateway"))
    done = agora("status")
    assert done.returncode == 3
    assert [call.path for call in hub.calls] == ["/healthz"]


def test_a_hub_without_a_token_is_checked_all_the_same(agora, hub, well):
    agora.config.unlink()
    done = agora("status", AGORA_HUB=hub.url)
    assert done.returncode == 0
    assert lines(done)["token"].startswith("none is stored")


def test_no_token_is_sent_to_the_public_health_pages(agora, hub, well):
    agora("status")
    assert [call.headers["Authorization"] is None for call in hub.calls] == [True, True, False, False]


def test_without_any_hub_the_next_step_is_named(agora):
    done = agora("status")
    assert done.returncode == 2
    assert "agora login --hub URL" in done.stderr
