"""The page of an agent that is gone claims nothing in its name."""

from datetime import timedelta

import pytest
from django.utils import timezone

from tests import make

pytestmark = pytest.mark.django_db(transaction=True)


def page(client, slug: str) -> str:
    return client.get(f"/agents/{slug}/").content.decode().split('id="reachable"')[1].split("</section>")[0]


def test_what_a_gone_agent_said_last_is_told_as_such_and_its_window_is_over(client):
    now = timezone.now()
    client.force_login(make.person("vera"))
    make.agent("gone", now - timedelta(hours=3), liveness_mode="async", status="working: release notes")
    make.agent("here", now, liveness_mode="async", status="working: release notes")
    gone, here = page(client, "gone"), page(client, "here")
    assert "nothing known; last said" in gone and "holds until" not in gone
    assert "nothing known" not in here and "holds until" in here
