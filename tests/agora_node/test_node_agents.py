"""`agora agents`: the roster as a table and as JSON."""

import json

import pytest

from agora_node import roster, tables


def listing(*agents, following=None):
    return (200, {"agents": list(agents), "next": following, "version": 1}, {"Date": "Sat, 01 Aug 2026 12:00:00 GMT"})


def test_the_table_says_presence_with_age_doing_node_mail_and_last_seen(agora, hub, kit):
    agora.log_in(hub)
    hub.answers(
        "GET",
        "/api/agents",
        listing(
            kit.an_agent(
                "echo",
                presence_since="2026-08-01T10:00:00Z",
                last_seen="2026-08-01T11:59:58Z",
                waiting=3,
                home_node="harbor",
                task="release notes",
                activity={"value": "working", "verified": False, "as_of": "2026-08-01T11:56:00Z"},
            ),
            kit.an_agent("analyst", presence="dormant", presence_since="2026-08-01T09:00:00Z", synthesized=True),
            kit.an_agent("harbor", kind="node", enabled=False, disabled={"reason": "maintenance", "by": "mira"}),
        ),
    )
    done = agora("agents")
    assert done.returncode == 0, done.stderr
    lines = [" | ".join(part.strip() for part in line.split("  ") if part.strip()) for line in done.stdout.splitlines()]
    assert lines == [
        "agent | presence | doing | node | mail | last seen",
        "echo | live 2 h | says working: release notes, 4 min | harbor | 3 | 2 s ago",
        "analyst | dormant 3 h | - | - | - | never",
        "harbor (node) | live; disabled by mira: maintenance | says idle | - | - | never",
    ]


def test_json_is_the_raw_list_and_harmless_for_a_terminal(agora, hub, kit):
    agora.log_in(hub)
    hostile = kit.an_agent("echo", task="\x1b[2J\u202e", new_field={"kept": True})
    hub.answers("GET", "/api/agents", listing(hostile))
    out = agora("agents", "--json").stdout
    assert json.loads(out) == [hostile]
    assert out.rstrip("\n").isprintable()


def test_every_page_is_followed_to_the_last(agora, hub, kit):
    agora.log_in(hub)
    hub.answers(
        "GET",
        "/api/agents",
        listing(kit.an_agent("a1"), following="c1"),
        listing(kit.an_agent("a2"), following="c2"),
        listing(kit.an_agent("a3")),
    )
    assert [agent["id"] for agent in json.loads(agora("agents", "--json").stdout)] == ["a1", "a2", "a3"]
    assert [call.query.get("after") for call in hub.calls] == [None, "c1", "c2"]
    assert all(call.query["limit"] == "500" for call in hub.calls)


def test_pages_that_go_round_in_circles_end(agora, hub, kit):
    agora.log_in(hub)
    hub.answers("GET", "/api/agents", listing(kit.an_agent("a1"), following="c1"))
    done = agora("agents")
    assert done.returncode == 3
    assert "circles" in done.stderr


def test_the_filters_are_the_hubs_own(agora, hub, kit):
    agora.log_in(hub)
    hub.answers("GET", "/api/agents", listing())
    assert agora("agents", "--presence", "live", "--q", "a b&c").stdout == "No agents match.\n"
    assert hub.calls[0].query == {"presence": "live", "q": "a b&c", "limit": "500"}


def test_a_hub_that_does_not_tell_its_time_still_gets_ages(agora, hub, kit):
    agora.log_in(hub)
    seen = kit.an_agent("echo", last_seen="2020-08-01T12:00:00Z")
    hub.answers("GET", "/api/agents", (200, {"agents": [seen], "next": None}, {"Date": None}))
    assert agora("agents").stdout.rstrip().endswith("d ago")


def test_what_agents_wrote_cannot_steer_the_terminal(agora, hub, kit):
    agora.log_in(hub)
    wild = "\x1b[31mred\r\nfake row\u202e\u200b\x9b"
    hub.answers(
        "GET",
        "/api/agents",
        listing(
            kit.an_agent(
                "echo",
                task=wild,
                home_node=wild,
                activity={"value": wild, "raw": wild, "verified": False},
                enabled=False,
                disabled={"by": wild, "reason": wild},
            )
        ),
    )
    out = agora("agents").stdout
    assert len(out.splitlines()) == 2
    assert all(line.isprintable() for line in out.splitlines())


def test_an_unknown_word_of_a_newer_hub_is_shown_and_missing_fields_are_no_failure(agora, hub):
    agora.log_in(hub)
    hub.answers("GET", "/api/agents", listing({"id": "echo", "presence": "hibernating", "activity": "odd"}, {}))
    done = agora("agents")
    assert done.returncode == 0, done.stderr
    assert "hibernating" in done.stdout


def test_json_and_watch_together_are_wrong_usage(agora):
    assert agora("agents", "--json", "--watch").returncode == 2


def test_a_reader_that_has_enough_is_no_error(agora, hub, kit):
    agora.log_in(hub)
    hub.answers("GET", "/api/agents", listing(*(kit.an_agent(f"a{n}", task="x" * 200) for n in range(2000))))
    process = agora.start("agents", "--json")
    process.stdout.close()
    assert process.stderr.read() == ""
    assert process.wait(10) == 0


@pytest.mark.parametrize("task", ["x" * 300, "\u4e2d" * 300, "e\u0301" * 300])
def test_on_a_terminal_no_line_is_wider_than_the_terminal(kit, task):
    lines = roster.table(roster.Roster([kit.an_agent("echo", task=task), kit.an_agent("delta")], None), width=80)
    assert all(tables.columns(line) <= 80 for line in lines)
    assert lines[1].startswith("echo") and "..." in lines[1] and lines[1].endswith("never")


def test_a_column_stays_straight_beside_wide_characters(kit):
    agents = [kit.an_agent("echo", task="\u4e2d\u6587"), kit.an_agent("delta", task="notes")]
    lines = roster.table(roster.Roster(agents, None))
    assert len({tables.columns(line[: line.index("never")]) for line in lines[1:]}) == 1
