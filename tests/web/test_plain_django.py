"""The API through Django's own handler, without the short way of the ASGI application."""

import pytest

from tests import make

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_heartbeat_gets_its_receive_time_there_too(client):
    _, token = make.agent("echo")
    headers = {"authorization": f"Bearer {token}"}
    answer = client.post("/api/heartbeat", {"status": "idle"}, content_type="application/json", headers=headers)
    assert (answer.status_code, answer.json()["presence"]) == (200, "live")


@pytest.mark.parametrize("address", ["/?q=%00", "/?after=%00&node=%00", "/agents/%00/", "/agents/UPPER/"])
def test_an_address_that_no_database_could_take_is_answered_all_the_same(client, address):
    client.force_login(make.person("vera"))
    assert client.get(address).status_code in (200, 404)
