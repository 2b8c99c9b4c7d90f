"""What would make the hub fail later is said before it starts."""

import pytest

from agora_web import checks


@pytest.mark.parametrize("address", ["nonsense", "http://hub.example", "redis://:secret@127.0.0.1:port/0", ""])
def test_a_broker_address_that_nobody_can_read_is_refused_at_the_start_without_its_password(settings, address):
    settings.REDIS_URL = address
    (refusal,) = checks.the_broker_has_an_address(None)
    assert refusal.id == "agora.E004" and "secret" not in str(refusal)


@pytest.mark.parametrize(
    "address", ["redis://:secret@127.0.0.1:6379/0", "rediss://hub.example", "unix:///a%20b/v.sock"]
)
def test_one_that_can_be_read_is_not(settings, address):
    settings.REDIS_URL = address
    assert checks.the_broker_has_an_address(None) == []
