"""Who was hired or imported and never heard of: every surface says "never", and none makes a moment of it.

That such agents come last in both orders is proven where the list is read.
"""

from __future__ import annotations

import pytest
from asgiref.sync import sync_to_async

from roster.models import Agent
from tests import make

pytestmark = pytest.mark.core
PATHS = ("/", "/?sort=seen", "/?sort=-seen", "/agents/hired/", "/agents/member/")
NEVER = '<span class="nil">never</span>'


def hired() -> None:
    """One with a row in the registry, one known by a profile only."""
    Agent.objects.create(slug="hired", liveness_mode="async")
    make.profile("member", liveness_mode="async")


@pytest.mark.django_db
@pytest.mark.parametrize("path", PATHS)
def test_on_the_pages_who_was_never_seen_was_never_seen_F070(client, path):
    hired()
    client.force_login(make.person("vera"))
    text = client.get(path).content.decode()
    assert text.count(NEVER) == (1 if path.startswith("/agents/") else 3)  # vera is on the roster too
    assert "1970" not in text and "0001-" not in text and "years" not in text


async def test_in_json_who_was_never_seen_has_null_for_a_time_F070(api, fleet):
    await sync_to_async(hired)()
    listed = (await api.get("/api/agents", headers=make.bearer(fleet.viewer))).json()["agents"]
    told = {each["id"]: (each["last_seen"], each["activity"]["as_of"]) for each in listed}
    assert told["hired"] == told["member"] == (None, None)
    assert told["echo"][0] is not None
