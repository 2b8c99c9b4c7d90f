"""The client: where a token may travel, and what counts as an answer."""

import pytest

from agora_node.client import Hub, parse_hub_url
from agora_node.errors import HubError, UsageError


def test_a_redirect_to_another_address_is_refused_and_gets_no_token(hub, other_hub):
    hub.answers("GET", "/api/agents", (302, {}, {"Location": f"{other_hub.url}/api/agents"}))
    other_hub.answers("GET", "/api/agents", (200, {"agents": []}))
    with pytest.raises(HubError) as refused:
        Hub(hub.url, "tok").get("/api/agents")
    assert refused.value.code == "redirected_elsewhere"
    assert other_hub.calls == []


def test_a_redirect_on_the_same_hub_is_followed_with_the_token(hub):
    hub.answers("GET", "/api/agents/old", (308, {"redirect": {"to": "new"}}, {"Location": "/api/agents/new"}))
    hub.answers("GET", "/api/agents/new", (200, {"id": "new"}))
    assert Hub(hub.url, "tok").get("/api/agents/old").body == {"id": "new"}
    assert hub.calls[1].headers["Authorization"] == "Bearer tok"


def test_a_circle_of_redirects_ends(hub):
    hub.answers("GET", "/a", (307, {}, {"Location": "/a"}))
    with pytest.raises(HubError, match="circles"):
        Hub(hub.url).get("/a")


def test_a_post_is_not_turned_into_a_read_by_a_redirect(hub):
    hub.answers("POST", "/a", (302, {}, {"Location": "/b"}))
    with pytest.raises(HubError):
        Hub(hub.url).post("/a", {})
    assert [call.path for call in hub.calls] == ["/a"]


def test_an_error_carries_code_message_request_id_detail_and_pause(hub, kit):
    answer = kit.refusal("retired", "echo is retired", successor="delta")
    hub.answers("GET", "/a", (410, answer, {"Retry-After": "7"}))
    with pytest.raises(HubError) as caught:
        Hub(hub.url).get("/a")
    error = caught.value
    assert (error.code, error.message, error.request_id, error.status) == ("retired", "echo is retired", "req-7", 410)
    assert (error.detail, error.retry_after) == ({"successor": "delta"}, 7.0)


def test_a_pause_told_as_a_date_is_read_against_the_hubs_own_clock(hub, kit):
    dates = {"Retry-After": "Sat, 01 Aug 2020 12:00:30 GMT", "Date": "Sat, 01 Aug 2020 12:00:00 GMT"}
    hub.answers("GET", "/a", (503, kit.refusal("busy", "away"), dates))
    with pytest.raises(HubError) as caught:
        Hub(hub.url).get("/a")
    assert caught.value.retry_after == 30.0


@pytest.mark.parametrize("body", [b"<html>welcome to the hotel</html>", b"[1, 2]", b"[" * 100_000])
def test_an_answer_in_other_words_than_a_hubs_is_not_taken_for_one(hub, body):
    hub.answers("GET", "/a", (200, body))
    with pytest.raises(HubError) as caught:
        Hub(hub.url).get("/a")
    assert (caught.value.code, caught.value.exit_code) == ("not_a_hub", 3)


def test_a_connection_cut_in_the_middle_is_not_reachable(hub, kit):
    hub.answers("GET", "/a", kit.HANGS_UP)
    with pytest.raises(HubError) as caught:
        Hub(hub.url).get("/a")
    assert caught.value.code == "unreachable"


def test_an_error_page_of_a_proxy_still_is_one_error(hub):
    hub.answers("GET", "/a", (502, b"<html>Bad Gateway</html>"))
    with pytest.raises(HubError) as caught:
        Hub(hub.url).get("/a")
    assert (caught.value.code, caught.value.exit_code) == ("http_502", 3)


def test_a_hub_below_a_path_is_called_there(hub):
    hub.answers("GET", "/agora/healthz", (200, {}))
    assert Hub(f"{hub.url}/agora/").get("/healthz").status == 200


@pytest.mark.parametrize("text", ["", "hub", "ftp://hub", "http://", "http://u:p@h", "http://hub:x", "http://hub?a=1"])
def test_what_is_no_hubs_address_is_refused(text):
    with pytest.raises(UsageError):
        parse_hub_url(text)


@pytest.mark.parametrize("text", ["http://hub", "https://hub:8443/agora/", "http://[::1]:8000"])
def test_a_hubs_address_is_kept_without_its_last_slash(text):
    assert parse_hub_url(text) == text.rstrip("/")


def test_a_call_that_begins_after_the_hanging_up_is_not_waited_for_either(hub, kit):
    hub.answers("POST", "/a", (200, lambda call: (200, {"left": kit.until(call.left, "the end of the line")})))
    line = Hub(hub.url)
    line.hang_up()
    assert line.post("/a", {}).body == {"left": True}
